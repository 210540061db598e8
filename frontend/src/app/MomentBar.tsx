import { formatMoment } from '../format/time';
import type { Moment } from '../store/selection';
import { select, selection } from '../store/session';
import { relativeNs, type Target } from '../store/target';

/** Says which moment the detail views show, and offers the ones that people ask for. */
export function MomentBar({ target }: { readonly target: Target }) {
  const { at } = selection.value;
  const oomCount = Number(target.allocator.oomCount);
  const shortcuts: { readonly label: string; readonly moment: Moment }[] = [
    ...Array.from({ length: Math.min(oomCount, 4) }, (_, index) => ({
      label: oomCount === 1 ? 'At the OOM' : `At OOM ${index + 1}`,
      moment: { kind: 'oom', index } as const,
    })),
    { label: 'At the peak', moment: { kind: 'peak' } },
    { label: 'At the end', moment: { kind: 'end' } },
  ];
  return (
    <div class="moment-bar">
      <span>
        Shown: <strong>{momentName(at, target)}</strong>
      </span>
      <span class="moment-choices" role="group" aria-label="Moment">
        {shortcuts.map(({ label, moment }) => (
          <button
            key={label}
            type="button"
            class="chip"
            aria-pressed={sameMoment(moment, at, target)}
            onClick={() => select({ at: moment })}
          >
            {label}
          </button>
        ))}
      </span>
      <span class="hint">or click into the timeline</span>
    </div>
  );
}

/** "the OOM", "the peak", "3.214 s after the start". */
export function momentName(at: Moment, target: Target): string {
  const resolved = resolveDefault(at, target);
  switch (resolved.kind) {
    case 'oom':
      return target.allocator.oomCount === 1n
        ? 'just before the OOM'
        : `just before OOM ${resolved.index + 1}`;
    case 'peak':
      return 'the moment of highest use';
    case 'end':
      return 'the end of the recording';
    case 'event':
      return resolved.event < 0n ? 'the start of the recording' : `after event ${resolved.event}`;
    default:
      return `${formatMoment(relativeNs(target, resolved.timeNs), 1e3)} after the start`;
  }
}

type ChosenMoment = Exclude<Moment, { readonly kind: 'default' }>;

export function resolveDefault(at: Moment, target: Target): ChosenMoment {
  if (at.kind !== 'default') return at;
  return target.allocator.oomCount > 0n ? { kind: 'oom', index: 0 } : { kind: 'peak' };
}

function sameMoment(a: Moment, b: Moment, target: Target): boolean {
  const left = resolveDefault(a, target);
  const right = resolveDefault(b, target);
  return JSON.stringify(left, stringifyBigint) === JSON.stringify(right, stringifyBigint);
}

function stringifyBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
