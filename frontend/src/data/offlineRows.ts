/** The stored rows of a page without a server: filtered, sorted and paged as the converter does it. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { baseName } from '../format/source';
import {
  type Allocation,
  type Allocations,
  AllocationsSchema,
  QualitySchema,
  Role,
  Severity,
  SortKey,
} from '../generated/datasets_pb';

/** The fields of a query that choose among rows. */
export interface AskedRows {
  readonly filter?: {
    readonly search?: string;
    readonly minBytes?: string;
    readonly scope?: string;
    readonly dtype?: string;
    /** "ROLE_GRADIENT" */
    readonly role?: string;
    readonly sourceFile?: string;
    readonly sourceLine?: number;
    readonly sourceFunction?: string;
  };
  readonly sort?: keyof typeof SortKey;
  readonly ascending?: boolean;
  readonly offset?: number;
  readonly limit?: number;
}

/** The rows that were asked for, of all that are stored. */
export function rowsOf(stored: Uint8Array, asked: AskedRows): Uint8Array {
  const answer = fromBinary(AllocationsSchema, stored);
  if (isFiltered(asked)) filterRows(answer, asked);
  const compare = comparison(asked.sort ?? 'SORT_BYTES');
  const direction = asked.ascending ? 1 : -1;
  const sorted = answer.allocations.toSorted((a, b) => direction * compare(a, b));
  const offset = asked.offset ?? 0;
  answer.allocations = sorted.slice(offset, offset + (asked.limit ?? 100));
  return toBinary(AllocationsSchema, answer);
}

/** Whether a query is about a part of what was live. */
export function isFiltered({ filter = {} }: AskedRows): boolean {
  const { search, minBytes, scope, dtype, role, sourceFile, sourceLine, sourceFunction } = filter;
  return Boolean(
    search || minBytes || scope || dtype || role || sourceFile || sourceLine || sourceFunction,
  );
}

function filterRows(answer: Allocations, asked: AskedRows): void {
  const stored = BigInt(answer.allocations.length);
  if (stored < answer.totalCount) {
    answer.quality.push(
      create(QualitySchema, {
        name: 'stored_rows',
        severity: Severity.WARNING,
        count: answer.totalCount - stored,
        sentence: `This page holds the ${stored} largest of ${answer.totalCount} allocations: only they are searched.`,
      }),
    );
  }
  answer.allocations = answer.allocations.filter((row) => fits(row, asked));
  const sum = (bytes: (row: Allocation) => bigint) =>
    answer.allocations.reduce((total, row) => total + bytes(row), 0n);
  answer.totalCount = BigInt(answer.allocations.length);
  answer.totalAllocatedBytes = sum(({ allocatedBytes }) => allocatedBytes);
  answer.totalRequestedBytes = sum(({ requestedBytes }) => requestedBytes);
}

function fits(row: Allocation, { filter = {} }: AskedRows): boolean {
  const { search = '', minBytes = '0', scope = '', dtype = '', role } = filter;
  return (
    row.allocatedBytes >= BigInt(minBytes) &&
    (scope === '' || row.scope === scope || row.scope.startsWith(`${scope}/`)) &&
    (dtype === '' || row.dtype === dtype) &&
    (role === undefined || row.role === Role[role.replace('ROLE_', '') as keyof typeof Role]) &&
    isToldBy(row, filter) &&
    (search === '' || isFound(row, search.toLowerCase()))
  );
}

function isToldBy(row: Allocation, filter: NonNullable<AskedRows['filter']>): boolean {
  const { sourceFile = '', sourceLine = 0, sourceFunction = '' } = filter;
  if (sourceFile === '' && sourceLine === 0 && sourceFunction === '') return true;
  const line = row.source?.line;
  return (
    line !== undefined &&
    // A name without folders is any file of that name.
    (sourceFile === '' ||
      line.file === sourceFile ||
      (!sourceFile.includes('/') && baseName(line.file) === sourceFile)) &&
    (sourceLine === 0 || line.line === sourceLine) &&
    (sourceFunction === '' || line.function === sourceFunction)
  );
}

function isFound(row: Allocation, search: string): boolean {
  if (/^0x[0-9a-f]+$/.test(search)) {
    const within = BigInt(search) - row.address;
    return within >= 0n && within < row.allocatedBytes;
  }
  const shape = row.hasShape ? `[${row.shape.join(',')}]` : '';
  return [row.opName, shape, row.dtype].some((text) => text.toLowerCase().includes(search));
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
