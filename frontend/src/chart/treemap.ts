/**
 * Squarified treemap (Bruls, Huizing, van Wijk 2000): areas in proportion to
 * their values, each as near to a square as its neighbours allow.
 */

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** One rectangle for each value, in the same order; values have to come largest first. */
export function squarify(values: readonly number[], within: Rectangle): Rectangle[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const result: Rectangle[] = [];
  if (!(total > 0)) return values.map(() => ({ ...within, width: 0, height: 0 }));
  const scale = (within.width * within.height) / total;
  let free = within;
  let row: number[] = [];
  for (const value of values) {
    const area = value * scale;
    const side = Math.min(free.width, free.height);
    if (row.length > 0 && worstRatio([...row, area], side) > worstRatio(row, side)) {
      free = placeRow(row, free, result);
      row = [];
    }
    row.push(area);
  }
  placeRow(row, free, result);
  return result;
}

/** How far the thinnest rectangle of a row would be from a square. */
function worstRatio(row: readonly number[], side: number): number {
  const sum = row.reduce((total, area) => total + area, 0);
  const largest = Math.max(...row);
  const smallest = Math.min(...row);
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * smallest));
}

/** Lays a row along the shorter side and returns what is left. */
function placeRow(row: readonly number[], free: Rectangle, result: Rectangle[]): Rectangle {
  const sum = row.reduce((total, area) => total + area, 0);
  const horizontal = free.width < free.height;
  const side = horizontal ? free.width : free.height;
  const thickness = side > 0 ? sum / side : 0;
  let along = horizontal ? free.x : free.y;
  for (const area of row) {
    const length = thickness > 0 ? area / thickness : 0;
    result.push(
      horizontal
        ? { x: along, y: free.y, width: length, height: thickness }
        : { x: free.x, y: along, width: thickness, height: length },
    );
    along += length;
  }
  return horizontal
    ? { ...free, y: free.y + thickness, height: Math.max(0, free.height - thickness) }
    : { ...free, x: free.x + thickness, width: Math.max(0, free.width - thickness) };
}
