/** Views as text, as a file and as a picture. */

type Cells = readonly (readonly string[])[];

/** Columns parted by tabs, as spreadsheets paste them. */
export function toTabs(cells: Cells): string {
  return cells
    .map((row) => row.map((cell) => cell.replace(/[\t\n\r]+/g, ' ')).join('\t'))
    .join('\n');
}

/** RFC 4180. A cell that a spreadsheet would run as a formula is made text. */
export function toCsv(cells: Cells): string {
  return cells
    .map((row) => row.map(csvCell).join(','))
    .join('\r\n')
    .concat('\r\n');
}

function csvCell(cell: string): string {
  const text = /^[=+@\t\r]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Hands a file to the reader. */
export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun when the click returns; the data are then no longer needed.
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The pictures of a card below one another, on its background, as PNG; undefined without any. */
export async function picturesOf(card: Element): Promise<Blob | undefined> {
  const canvases = [...card.querySelectorAll('canvas')].filter(
    ({ width, height }) => width * height > 0,
  );
  if (canvases.length === 0) return undefined;
  const picture = document.createElement('canvas');
  picture.width = Math.max(...canvases.map(({ width }) => width));
  picture.height = canvases.reduce((sum, { height }) => sum + height, 0);
  const context = picture.getContext('2d');
  if (!context) return undefined;
  context.fillStyle = getComputedStyle(card).backgroundColor;
  context.fillRect(0, 0, picture.width, picture.height);
  let top = 0;
  for (const canvas of canvases) {
    context.drawImage(canvas, 0, top);
    top += canvas.height;
  }
  return new Promise((resolve) =>
    picture.toBlob((blob) => resolve(blob ?? undefined), 'image/png'),
  );
}
