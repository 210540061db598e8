import type { Run } from '../data/source';
import { formatBytes, formatShare } from '../format/bytes';
import type { AllocatorInfo } from '../generated/datasets_pb';
import { select, target } from '../store/session';
import { OpenFiles } from '../ui/OpenFiles';
import { RunSelect } from '../ui/RunSelect';
import { Select } from '../ui/Select';

/** Run, host and allocator: whose memory all views show. */
export function Toolbar({ runs, run }: { readonly runs: readonly Run[]; readonly run: string }) {
  const shown = target.value;
  const hosts = shown?.info.hosts.filter(({ allocators }) => allocators.length > 0) ?? [];
  return (
    <div class="toolbar" role="toolbar" aria-label="What is shown">
      <RunSelect
        label="Run"
        value={run}
        runs={runs.map((each) => each.run)}
        onChange={(value) => select({ run: value, host: '', allocator: '' })}
      />
      {shown && hosts.length > 1 && (
        <Select
          label="Host"
          value={shown.host.host}
          options={hosts.map(({ host }) => ({ value: host, label: host }))}
          onChange={(value) => select({ host: value, allocator: '' })}
        />
      )}
      {shown && (
        <Select
          label="Allocator"
          value={shown.allocator.allocator}
          options={shown.host.allocators.map((allocator) => ({
            value: allocator.allocator,
            label: allocatorLabel(allocator),
          }))}
          onChange={(value) => select({ host: shown.host.host, allocator: value })}
        />
      )}
      {shown && (
        <p class="toolbar-note">
          {[
            hosts.length === 1 ? shown.host.host : '',
            shown.host.tensorflowVersion && `TensorFlow ${shown.host.tensorflowVersion}`,
          ]
            .filter((part) => part)
            .join(' · ')}
        </p>
      )}
      <OpenFiles />
    </div>
  );
}

/** "GPU_0_bfc – peak 15.1 GiB, 98.7 % of the limit, 1 OOM" */
function allocatorLabel(allocator: AllocatorInfo): string {
  const facts = [`peak ${formatBytes(allocator.peakInUseBytes)}`];
  if (allocator.limitBytes > 0n) {
    facts.push(`${formatShare(allocator.closeness)} of the limit`);
  }
  if (allocator.oomCount > 0n) {
    facts.push(`${allocator.oomCount} ${allocator.oomCount === 1n ? 'OOM' : 'OOMs'}`);
  }
  return `${allocator.allocator} – ${facts.join(', ')}`;
}
