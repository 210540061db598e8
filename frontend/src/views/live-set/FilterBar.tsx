import { formatBytes, parseBytes } from '../../format/bytes';
import { roleName } from '../../format/names';
import { Role } from '../../generated/datasets_pb';
import { isUnfiltered, NO_FILTER } from '../../store/selection';
import { select, selection } from '../../store/session';
import { BlockSwitch } from '../../ui/BlockSwitch';
import { Select } from '../../ui/Select';
import { TextField } from '../../ui/TextField';

const ROLES = Object.values(Role).filter((role): role is Role => typeof role === 'number');

/** Which allocations count; kept in the address, shared by all views that can filter. */
export function FilterBar() {
  const { filter } = selection.value;
  const change = (patch: Partial<typeof filter>) =>
    select({ filter: { ...filter, ...patch } }, 'replace');
  return (
    <div class="filter-bar" role="search">
      <TextField
        label="Search"
        placeholder="op, shape or 0x address"
        value={filter.search}
        onChange={(search) => change({ search })}
      />
      <TextField
        label="Name scope"
        placeholder="sequential/dense"
        value={filter.scope}
        onChange={(scope) => change({ scope })}
      />
      <TextField
        label="File"
        placeholder="train.py"
        value={filter.line > 0 ? `${filter.file}:${filter.line}` : filter.file}
        onChange={(text) => change(parseLine(text))}
      />
      <TextField
        label="At least"
        placeholder="1 MiB"
        narrow
        value={filter.minBytes > 0n ? formatBytes(filter.minBytes) : ''}
        onChange={(text) => {
          const minBytes = text.trim() === '' ? 0n : parseBytes(text);
          if (minBytes !== undefined) change({ minBytes });
        }}
      />
      <TextField
        label="Type"
        placeholder="float32"
        narrow
        value={filter.dtype}
        onChange={(dtype) => change({ dtype })}
      />
      <Select
        label="Role"
        value={filter.role}
        options={ROLES.map((role) => ({
          value: role,
          label: role === Role.UNKNOWN ? 'any' : roleName(role),
        }))}
        onChange={(role) => change({ role })}
      />
      <BlockSwitch />
      {!isUnfiltered(filter) && (
        <button
          type="button"
          class="button"
          onClick={() => select({ filter: NO_FILTER }, 'replace')}
        >
          Clear
        </button>
      )}
    </div>
  );
}

/** "train.py" or "train.py:41"; any function. */
function parseLine(text: string) {
  const [, file = text, line = '0'] = /^(.*):(\d{1,9})$/.exec(text) ?? [];
  return { file: file.trim(), line: Number(line), codeFunction: '' };
}
