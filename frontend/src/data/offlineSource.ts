import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Allocation, AllocationsSchema, SortKey } from '../generated/datasets_pb';
import { DatasetError, type Question, type Run, type Source } from './source';

/** What a page that opens without a server holds; docs/offline-page.md. */
export interface OfflineData {
  readonly version: number;
  readonly run: string;
  readonly answers: readonly { readonly question: unknown; readonly body: string }[];
}

const VERSION = 1;

/** The fields of a query by which answers are stored. */
interface StoredQuestion {
  dataset?: string;
  filter?: { host?: string; allocator?: string };
  at?: unknown;
  groupBy?: string;
}

interface AskedQuestion extends StoredQuestion {
  sort?: keyof typeof SortKey;
  ascending?: boolean;
  offset?: number;
  limit?: number;
  columns?: number;
}

/** Answers from the page itself. */
export class OfflineSource implements Source {
  readonly offline = true;
  private readonly answers: ReadonlyMap<string, string>;
  private readonly datasets: ReadonlySet<string | undefined>;

  constructor(private readonly data: OfflineData) {
    if (data.version !== VERSION) {
      throw new Error(`This page holds data of version ${data.version}, not ${VERSION}.`);
    }
    this.answers = new Map(
      data.answers.map(({ question, body }) => [storedKey(question as StoredQuestion), body]),
    );
    this.datasets = new Set(
      data.answers.map(({ question }) => (question as StoredQuestion).dataset),
    );
  }

  async runs(): Promise<readonly Run[]> {
    return [{ run: this.data.run, hosts: [] }];
  }

  async ask({ query }: Question): Promise<Uint8Array> {
    const asked = JSON.parse(query) as AskedQuestion;
    if (!this.datasets.has(asked.dataset)) {
      throw new DatasetError('This page does not hold this view.', 501);
    }
    const body = this.answers.get(storedKey(asked)) ?? this.seriesOf(asked);
    if (body === undefined) {
      throw new DatasetError(
        'This is not in the page, which holds the moments of the OOMs, of the peak and of the end. Open the trace itself in TensorBoard to see any other.',
        404,
      );
    }
    const bytes = fromBase64(body);
    return asked.dataset === 'ALLOCATIONS' ? pageOf(bytes, asked) : bytes;
  }

  /** Fragmentation over time is the same in the answer of any moment. */
  private seriesOf(asked: AskedQuestion): string | undefined {
    if (asked.dataset !== 'FRAGMENTATION' || asked.columns === 1) return undefined;
    return this.answers.get(storedKey({ ...asked, at: { peak: true } }));
  }

  downloadUrl(): undefined {
    return undefined;
  }

  async progress(): Promise<undefined> {
    return undefined;
  }

  async cancel(): Promise<void> {
    // Nothing is ever under way.
  }
}

/** The key of a question by the fields that tell stored answers apart. */
function storedKey({ dataset, filter, at, groupBy }: StoredQuestion): string {
  return JSON.stringify([
    dataset,
    filter?.host ?? '',
    filter?.allocator ?? '',
    at ?? '',
    groupBy ?? '',
  ]);
}

/** The rows that were asked for, of all that are stored. */
function pageOf(bytes: Uint8Array, asked: AskedQuestion): Uint8Array {
  const answer = fromBinary(AllocationsSchema, bytes);
  const compare = comparison(asked.sort ?? 'SORT_BYTES');
  const direction = asked.ascending ? 1 : -1;
  const sorted = answer.allocations.toSorted((a, b) => direction * compare(a, b));
  const offset = asked.offset ?? 0;
  answer.allocations = sorted.slice(offset, offset + (asked.limit ?? 100));
  return toBinary(AllocationsSchema, answer);
}

function comparison(sort: keyof typeof SortKey): (a: Allocation, b: Allocation) => number {
  const by =
    (value: (allocation: Allocation) => bigint | string) => (a: Allocation, b: Allocation) => {
      const left = value(a);
      const right = value(b);
      return left < right ? -1 : left > right ? 1 : 0;
    };
  switch (SortKey[sort]) {
    case SortKey.SORT_OP:
      return by(({ opName }) => opName);
    case SortKey.SORT_ADDRESS:
      return by(({ address }) => address);
    case SortKey.SORT_BORN:
      return by(({ bornNs }) => bornNs);
    case SortKey.SORT_LIFETIME:
      return by(({ lifetimeNs }) => lifetimeNs);
    case SortKey.SORT_STEP:
      return by(({ step }) => step);
    case SortKey.SORT_SHAPE:
      return by(({ shape }) => shape.join());
    case SortKey.SORT_DTYPE:
      return by(({ dtype }) => dtype);
    case SortKey.SORT_WASTE:
      return by(({ allocatedBytes, requestedBytes }) => allocatedBytes - requestedBytes);
    default:
      return by(({ allocatedBytes }) => allocatedBytes);
  }
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
