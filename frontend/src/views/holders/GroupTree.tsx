import { useState } from 'preact/hooks';
import { formatShare, groupDigits } from '../../format/bytes';
import { groupName } from '../../format/source';
import type { AllocationGroup } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';
import { treeRows } from './tree';

const MOST_ROWS = 400;

interface GroupTreeProps {
  readonly groups: readonly AllocationGroup[];
  readonly total: bigint;
  readonly onChoose: (path: string, group: AllocationGroup) => void;
}

/** The groups as a table whose rows can be opened. */
export function GroupTree({ groups, total, onChoose }: GroupTreeProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = treeRows(groups, open);
  const toggle = (path: string) => {
    const next = new Set(open);
    if (!next.delete(path)) next.add(path);
    setOpen(next);
  };
  return (
    <div class="data-table" tabIndex={0} role="region" aria-label="Groups">
      <table>
        <caption class="visually-hidden">Groups of the live allocations</caption>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col" class="numeric">
              Size
            </th>
            <th scope="col" class="numeric">
              Share
            </th>
            <th scope="col" class="numeric">
              Allocations
            </th>
            <th scope="col" class="numeric">
              Largest
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(({ group, path, depth, open: isOpen }) => (
            <tr key={path}>
              <td style={{ paddingLeft: `${10 + depth * 20}px` }}>
                {group.children.length > 0 ? (
                  <button
                    type="button"
                    class="tree-toggle"
                    aria-expanded={isOpen}
                    aria-label={`${isOpen ? 'Close' : 'Open'} ${path}`}
                    onClick={() => toggle(path)}
                  >
                    {isOpen ? '▾' : '▸'}
                  </button>
                ) : (
                  <span class="tree-toggle" />
                )}
                <button type="button" class="link" onClick={() => onChoose(path, group)}>
                  {groupName(group)}
                </button>
                {group.line?.text && <code class="source-text"> {group.line.text}</code>}
              </td>
              <td class="numeric">
                <Bytes value={group.allocatedBytes} />
              </td>
              <td class="numeric">
                {total > 0n ? formatShare(Number(group.allocatedBytes) / Number(total)) : '–'}
              </td>
              <td class="numeric">{groupDigits(group.count)}</td>
              <td class="numeric">
                <Bytes value={group.largestBytes} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && <p class="hint">The largest {MOST_ROWS} are shown.</p>}
    </div>
  );
}
