/**
 * The selection as part of TensorBoard's address.
 *
 * TensorBoard keeps its tab in the fragment ("#oom_forensics") and leaves the
 * parameters after it alone; the ones of a plugin begin with "p.<plugin>.", so
 * that two plugins never read each other's.
 */
import { GroupBy, Role } from '../generated/datasets_pb';
import {
  type FilterChoice,
  type Moment,
  NO_FILTER,
  NOTHING_CHOSEN,
  type Selection,
  type TimeWindow,
  VIEWS,
} from './selection';

const PLUGIN = 'oom_forensics';
const PREFIX = `p.${PLUGIN}.`;

/** The fragment for a selection; parameters of others in `current` are kept. */
export function encodeLink(selection: Selection, current: string): string {
  const others = current
    .replace(/^#/, '')
    .split('&')
    .filter((part) => part.includes('=') && !part.startsWith(PREFIX));
  const own = Object.entries(parametersOf(selection)).map(
    ([name, value]) => `${PREFIX}${name}=${encodeURIComponent(value)}`,
  );
  return `#${[PLUGIN, ...others, ...own].join('&')}`;
}

/** Reads a fragment. What is missing or not understood is as if nothing had been chosen. */
export function decodeLink(fragment: string): Selection {
  const values = new Map<string, string>();
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const split = part.indexOf('=');
    if (split < 0 || !part.startsWith(PREFIX)) continue;
    values.set(part.slice(PREFIX.length, split), decodeValue(part.slice(split + 1)));
  }
  const text = (name: string) => values.get(name) ?? '';
  return {
    run: text('run'),
    host: text('host'),
    allocator: text('allocator'),
    view: VIEWS.find((view) => view === text('view')) ?? NOTHING_CHOSEN.view,
    at: decodeMoment(text('at')),
    window: decodeWindow(text('window')),
    filter: decodeFilter(text),
    groupBy: enumValue(GroupBy, `GROUP_${text('group')}`) ?? NOTHING_CHOSEN.groupBy,
    stackBy: enumValue(GroupBy, `GROUP_${text('stack')}`) ?? NOTHING_CHOSEN.stackBy,
    otherRun: text('other_run'),
    otherAt: decodeMoment(text('other_at')),
    otherHost: text('other_host'),
    otherAllocator: text('other_allocator'),
    steps: decodeSteps(text('steps')),
    allocation: integer(text('allocation')),
  };
}

/** "oom:0", "peak", "end", "time:<ns>", "event:<n>", "step:<n>"; empty for the default. */
export function encodeMoment(at: Moment): string {
  switch (at.kind) {
    case 'oom':
      return `oom:${at.index}`;
    case 'time':
      return `time:${at.timeNs}`;
    case 'event':
      return `event:${at.event}`;
    case 'step':
      return `step:${at.step}`;
    case 'default':
      return '';
    default:
      return at.kind;
  }
}

export function decodeMoment(text: string): Moment {
  const [kind, rest = ''] = text.split(':');
  const number = integer(rest);
  if (kind === 'peak' || kind === 'end') return { kind };
  if (number === undefined) return NOTHING_CHOSEN.at;
  if (kind === 'oom' && number >= 0n) return { kind, index: Number(number) };
  if (kind === 'time') return { kind, timeNs: number };
  if (kind === 'event') return { kind, event: number };
  if (kind === 'step' && number >= 0n) return { kind, step: number };
  return NOTHING_CHOSEN.at;
}

function parametersOf(selection: Selection): Record<string, string> {
  const { filter, window, allocation } = selection;
  const all = {
    run: selection.run,
    host: selection.host,
    allocator: selection.allocator,
    view: selection.view === NOTHING_CHOSEN.view ? '' : selection.view,
    at: encodeMoment(selection.at),
    window: window ? `${window.fromNs}-${window.toNs}` : '',
    search: filter.search,
    min: filter.minBytes > 0n ? String(filter.minBytes) : '',
    scope: filter.scope,
    dtype: filter.dtype,
    role: filter.role === Role.UNKNOWN ? '' : Role[filter.role],
    file: filter.file,
    line: filter.line > 0 ? String(filter.line) : '',
    function: filter.codeFunction,
    blocks: filter.wholeBlocks ? 'whole' : '',
    group: groupName(selection.groupBy, NOTHING_CHOSEN.groupBy),
    stack: groupName(selection.stackBy, NOTHING_CHOSEN.stackBy),
    other_run: selection.otherRun,
    other_at: encodeMoment(selection.otherAt),
    other_host: selection.otherHost,
    other_allocator: selection.otherAllocator,
    steps: selection.steps.join('-'),
    allocation: allocation === undefined ? '' : String(allocation),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

function groupName(groupBy: GroupBy, byDefault: GroupBy): string {
  return groupBy === byDefault ? '' : GroupBy[groupBy].replace('GROUP_', '');
}

function decodeFilter(text: (name: string) => string): FilterChoice {
  const min = integer(text('min'));
  return {
    search: text('search'),
    minBytes: min !== undefined && min > 0n ? min : NO_FILTER.minBytes,
    scope: text('scope'),
    dtype: text('dtype'),
    role: enumValue(Role, text('role')) ?? NO_FILTER.role,
    file: text('file'),
    line: /^\d{1,9}$/.test(text('line')) ? Number(text('line')) : NO_FILTER.line,
    codeFunction: text('function'),
    wholeBlocks: text('blocks') === 'whole',
  };
}

function decodeWindow(text: string): TimeWindow | undefined {
  const [from = '', to = ''] = text.split('-');
  const fromNs = integer(from);
  const toNs = integer(to);
  if (fromNs === undefined || toNs === undefined || toNs <= fromNs) return undefined;
  return { fromNs, toNs };
}

function decodeSteps(text: string): readonly bigint[] {
  return text.split('-').flatMap((step) => integer(step) ?? []);
}

/** The number of an enum's name; undefined for anything else. */
function enumValue<Value extends number>(
  all: Readonly<Record<string, string | Value>>,
  name: string,
): Value | undefined {
  const value = Object.hasOwn(all, name) ? all[name] : undefined;
  return typeof value === 'number' ? value : undefined;
}

/** A signed 64-bit integer, or undefined: addresses are typed and shared by people. */
function integer(text: string): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
