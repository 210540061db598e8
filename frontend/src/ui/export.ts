/** Views as text, as a file and as a picture. */
import { domToBlob } from 'modern-screenshot';

/** Rows of cells. */
export type Cells = readonly (readonly string[])[];

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

/** A number below zero, with a unit or without, is none. */
const FORMULA = /^[=+@\t\r]|^-(?!\d*\.?\d+(e[-+]?\d+)?( [%\p{L}]+)?$)/iu;

function csvCell(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
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

/** A card as it is on screen, as PNG: its tables from their first row, without its menu. */
export function pictureOf(card: Element): Promise<Blob> {
  for (const table of card.querySelectorAll('.data-table')) table.scrollTop = 0;
  return domToBlob(card, {
    type: 'image/png',
    scale: window.devicePixelRatio,
    backgroundColor: getComputedStyle(card).backgroundColor,
    // The text is in the reader's own fonts: there is nothing to fetch.
    font: false,
    // The rows of a long list lie where they were scrolled to.
    features: { restoreScrollPosition: true },
    filter: (node) => !(node instanceof Element && (node.matches('.menu') || isBelow(node))),
    onCloneEachNode: mend,
  });
}

/** What a copy that is only looked at does not get by itself. */
function mend(copy: Node): void {
  // Rows and columns would make up for the rows that were left out.
  if (copy instanceof HTMLTableElement || copy instanceof HTMLTableSectionElement) {
    copy.style.height = 'auto';
    copy.style.width = '100%';
  }
  if (copy instanceof HTMLTableCellElement) copy.style.width = 'auto';
  // A list shows its first option until one of them is marked.
  if (copy instanceof HTMLSelectElement) {
    const chosen = copy.getAttribute('value');
    for (const option of copy.options) option.toggleAttribute('selected', option.value === chosen);
  }
}

/** A row below the end of its table's frame: not on screen, and there may be hundreds. */
function isBelow(row: Element): boolean {
  const frame = row instanceof HTMLTableRowElement && row.closest('.data-table');
  return frame !== false && frame !== null && (row as HTMLElement).offsetTop > frame.clientHeight;
}
