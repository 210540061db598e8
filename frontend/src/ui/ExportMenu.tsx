import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Question } from '../data/source';
import { client } from '../store/session';
import { copyText } from './CopyButton';
import { type Cells, pictureOf, save, toCsv, toTabs } from './export';

export interface Exports {
  /** Of the files, without ending. */
  readonly name: string;
  /** What it says, where that reads better than its table. */
  readonly text?: () => string;
  /** The table of the view, titles first. */
  readonly table?: () => Cells | Promise<Cells>;
  /** What the view asked: the converter's own answer can be saved. */
  readonly question?: Question | undefined;
}

/** Copy and save what a card shows. */
export function ExportMenu({ name, text, table, question }: Exports) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [said, setSaid] = useState('');
  const run = async (action: () => Promise<string>) => {
    if (menu.current) menu.current.open = false;
    setSaid('…');
    try {
      setSaid(await action());
    } catch {
      setSaid('Failed');
    }
    window.setTimeout(() => setSaid(''), 2000);
  };
  const copy = async () => {
    await copyText(text ? text() : toTabs((await table?.()) ?? []));
    return 'Copied';
  };
  const saveTable = async () => {
    save(new Blob([toCsv((await table?.()) ?? [])], { type: 'text/csv' }), `${name}.csv`);
    return 'Saved';
  };
  const savePicture = async () => {
    const card = menu.current?.closest('.card');
    if (!card) return 'Failed';
    save(await pictureOf(card), `${name}.png`);
    return 'Saved';
  };
  const saveDataset = async (asked: Question) => {
    save(await client().fileOf(asked, 'json'), `${name}.json`);
    return 'Saved';
  };
  return (
    <details
      ref={menu}
      class="menu"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && menu.current) menu.current.open = false;
      }}
    >
      <summary class="button" aria-live="polite">
        {said || 'Export'}
      </summary>
      <div class="menu-items">
        {(text ?? table) && <Item onClick={() => run(copy)}>Copy as text</Item>}
        {table && <Item onClick={() => run(saveTable)}>Save as CSV</Item>}
        <Item onClick={() => run(savePicture)}>Save picture as PNG</Item>
        {question && (
          <Item onClick={() => run(() => saveDataset(question))}>Save the dataset as JSON</Item>
        )}
      </div>
    </details>
  );
}

interface ItemProps {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

function Item({ onClick, children }: ItemProps) {
  return (
    <button type="button" onClick={onClick}>
      {children}
    </button>
  );
}
