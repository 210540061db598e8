import { useRef, useState } from 'preact/hooks';
import type { Question } from '../data/source';
import { client } from '../store/session';
import { copyText } from './CopyButton';
import { picturesOf, save, toCsv, toTabs } from './export';

type Cells = readonly (readonly string[])[];

export interface Exports {
  /** Of the files, without ending. */
  readonly name: string;
  /** The table of the view, titles first. */
  readonly table?: () => Cells | Promise<Cells>;
  /** What the view asked: the converter's own answer can be saved. */
  readonly question?: Question | undefined;
}

/** Copy and save what a card shows. */
export function ExportMenu({ name, table, question }: Exports) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [said, setSaid] = useState('');
  const [hasPicture, setHasPicture] = useState(false);
  const run = async (action: () => Promise<string> | string) => {
    setSaid(await action());
    if (menu.current) menu.current.open = false;
    window.setTimeout(() => setSaid(''), 2000);
  };
  const savePicture = async () => {
    const card = menu.current?.closest('.card');
    const picture = card && (await picturesOf(card));
    if (!picture) return 'No picture here';
    save(picture, `${name}.png`);
    return 'Saved';
  };
  const json = question && client().downloadUrl(question, 'json');
  return (
    <details
      ref={menu}
      class="menu"
      onToggle={() =>
        setHasPicture(menu.current?.closest('.card')?.querySelector('canvas') !== null)
      }
      onKeyDown={(event) => {
        if (event.key === 'Escape' && menu.current) menu.current.open = false;
      }}
    >
      <summary class="button">{said || 'Export'}</summary>
      <div class="menu-items">
        {table && (
          <button
            type="button"
            onClick={() =>
              run(async () => {
                await copyText(toTabs(await table()));
                return 'Copied';
              })
            }
          >
            Copy as text
          </button>
        )}
        {table && (
          <button
            type="button"
            onClick={() =>
              run(async () => {
                save(new Blob([toCsv(await table())], { type: 'text/csv' }), `${name}.csv`);
                return 'Saved';
              })
            }
          >
            Save as CSV
          </button>
        )}
        {hasPicture && (
          <button type="button" onClick={() => run(savePicture)}>
            Save picture as PNG
          </button>
        )}
        {json && (
          <a href={json} download={`${name}.json`}>
            Save the dataset as JSON
          </a>
        )}
      </div>
    </details>
  );
}
