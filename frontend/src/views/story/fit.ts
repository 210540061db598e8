import type { Oom } from '../../generated/datasets_pb';

export interface FitBar {
  readonly label: string;
  readonly bytes: number;
  readonly parts: readonly {
    readonly kind: 'request' | 'hole' | 'free' | 'growable';
    readonly bytes: number;
  }[];
}

/** The bars of the picture and the bytes that its full width stands for. */
export function fitBars(oom: Oom): { readonly bars: readonly FitBar[]; readonly full: number } {
  const request = Number(oom.request?.roundedBytes || oom.request?.requestedBytes || 0n);
  const largest = Number(oom.largestFreeBytes);
  const otherFree = Math.max(0, Number(oom.freeBytes) - largest);
  const growable = Number(oom.growableBytes);
  const bars: FitBar[] = [
    { label: 'Asked for', bytes: request, parts: [{ kind: 'request', bytes: request }] },
    { label: 'Largest hole', bytes: largest, parts: [{ kind: 'hole', bytes: largest }] },
    {
      label: growable > 0 ? 'All free, and growth' : 'All free',
      bytes: largest + otherFree + growable,
      parts: [
        { kind: 'hole', bytes: largest },
        { kind: 'free', bytes: otherFree },
        { kind: 'growable', bytes: growable },
      ],
    },
  ];
  return { bars, full: Math.max(1, ...bars.map(({ bytes }) => bytes)) };
}
