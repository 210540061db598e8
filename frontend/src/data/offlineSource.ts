import { type AskedRows, isFiltered, rowsOf } from './offlineRows';
import { DatasetError, type Question, type Run, type Source, type StoredMoment } from './source';

/** The element of a page that holds its data. */
export const OFFLINE_DATA_ID = 'oom-forensics-data';

/** What a page that opens without a server holds; docs/offline-page.md. */
export interface OfflineData {
  readonly version: number;
  readonly run: string;
  readonly moments: readonly {
    readonly host: string;
    readonly allocator: string;
    readonly at: StoredMoment['at'];
    readonly timeNs: string;
  }[];
  readonly answers: readonly { readonly question: unknown; readonly body: string }[];
}

const VERSION = 2;

/** The fields of a query by which answers are stored. */
interface StoredQuestion {
  dataset?: string;
  filter?: { host?: string; allocator?: string };
  at?: unknown;
  groupBy?: string;
}

type AskedQuestion = StoredQuestion & AskedRows & { columns?: number };

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
      throw new DatasetError(
        'This saved page does not hold this. Open the trace itself in TensorBoard to see it.',
        501,
      );
    }
    const isRows = asked.dataset === 'ALLOCATIONS' && asked.groupBy === undefined;
    if (asked.dataset === 'ALLOCATIONS' && !isRows && isFiltered(asked)) {
      throw new DatasetError(
        'This saved page has no sums of what fits a filter. Clear the filter, look at the live allocations, or open the trace itself in TensorBoard.',
        404,
      );
    }
    const body = this.answers.get(storedKey(overTime(asked)));
    if (body === undefined) {
      throw new DatasetError(
        'This moment is not in the saved page. Choose another one, or open the trace itself in TensorBoard to see any.',
        404,
      );
    }
    const bytes = await unzipped(body);
    return isRows ? rowsOf(bytes, asked) : bytes;
  }

  storedMoments(host: string, allocator: string): readonly StoredMoment[] {
    return this.data.moments
      .filter((each) => each.host === host && each.allocator === allocator)
      .map(({ at, timeNs }) => ({ at, timeNs: BigInt(timeNs) }));
  }

  downloadUrl(): undefined {
    return undefined;
  }

  async progress(): Promise<undefined> {
    return undefined;
  }

  versionOf(): string {
    return '';
  }
}

/** Fragmentation over time is the same at any moment, and stored once. */
function overTime(asked: AskedQuestion): StoredQuestion {
  if (asked.dataset !== 'FRAGMENTATION' || asked.columns === 1) return asked;
  return { ...asked, at: undefined };
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

/** What gzip and base64 have packed. */
async function unzipped(body: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
