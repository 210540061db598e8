/** Round numbers on axes. */

/** Sizes at powers of two times 1, 2 or 4, at most `count` + 1 of them within [min, max]. */
export function byteTicks(min: number, max: number, count: number): number[] {
  const span = max - min;
  if (!(span > 0) || count < 1) return [min];
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, span / count)));
  return multiples(min, max, step);
}

const SECOND_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200];

/** Times in ns: 1, 2 or 5 times a power of ten below a second, clock steps above. */
export function timeTicks(min: number, max: number, count: number): number[] {
  const span = max - min;
  if (!(span > 0) || count < 1) return [min];
  return multiples(min, max, timeStep(span / count));
}

/** The smallest round step of at least `least` ns. */
export function timeStep(least: number): number {
  if (least > 1e9) {
    const seconds = least / 1e9;
    return (
      1e9 * (SECOND_STEPS.find((step) => step >= seconds) ?? Math.ceil(seconds / 86400) * 86400)
    );
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * ([1, 2, 5].find((digit) => digit * power >= least * (1 - 1e-12)) ?? 10);
}

function multiples(min: number, max: number, step: number): number[] {
  const ticks: number[] = [];
  for (let index = Math.ceil(min / step); index * step <= max; index += 1) ticks.push(index * step);
  return ticks;
}

/** Shares at every quarter, or only the ends where there is little room. */
export function shareTicks(_min: number, _max: number, count: number): number[] {
  return count < 4 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
}
