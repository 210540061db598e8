import { questionOf } from '../../data/client';
import { INFO } from '../../data/query';
import type { Question } from '../../data/source';
import { formatBytes } from '../../format/bytes';
import { formatDuration, formatWallClock } from '../../format/time';
import { type HostInfo, type Quality, Severity } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { Card } from '../../ui/Card';
import { countColumn } from '../../ui/columns';
import { type DataColumn, DataTable, tableText } from '../../ui/DataTable';
import { Facts } from '../../ui/Facts';
import { Empty } from '../../ui/Notices';

/** What was lost, sampled or missing, and how the trace was made. */
export function DataQuality({ target }: { readonly target: Target }) {
  const { quality } = target.info;
  const question = questionOf(INFO, target.run, {});
  return (
    <>
      <Card
        title="Data quality"
        note="What was dropped, sampled or missing; each is also said beside the numbers that it touches"
        exports={{ name: 'quality', table: () => tableText(COLUMNS, quality), question }}
      >
        {quality.length === 0 ? (
          <Empty title="Nothing was lost">
            <p>All events of this recording are here, and all numbers are exact.</p>
          </Empty>
        ) : (
          <DataTable
            caption="Data quality"
            columns={COLUMNS}
            rows={quality}
            rowKey={({ name, host, allocator }) => `${name}/${host}/${allocator}`}
          />
        )}
      </Card>
      {target.info.hosts.map((host) => (
        <HostCard key={host.host} host={host} question={question} />
      ))}
    </>
  );
}

interface HostCardProps {
  readonly host: HostInfo;
  readonly question: Question;
}

function HostCard({ host, question }: HostCardProps) {
  const facts = factsOf(host);
  return (
    <Card
      title={`Host ${host.host}`}
      exports={{ name: 'host', table: () => [['Fact', 'Value'], ...facts], question }}
    >
      <Facts facts={facts} />
    </Card>
  );
}

/** How the recording was made, as far as it is known. */
function factsOf(host: HostInfo): readonly (readonly [name: string, value: string])[] {
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['File', `${host.file} (${formatBytes(host.fileBytes)})`],
    ['Recorded', host.startNs > 0n ? formatWallClock(host.startNs) : ''],
    ['For', host.stopNs > host.startNs ? formatDuration(host.stopNs - host.startNs) : ''],
    ['Written by', ORIGINS[host.origin] ?? host.origin],
    ['TensorFlow', host.tensorflowVersion],
    ['Collector', host.collectorVersion],
    ['Hooks', host.hooks],
    ['Attribution', host.attribution],
    ['CUPTI', [host.cuptiMode, host.cuptiReason].filter((part) => part !== '').join(': ')],
    ['Sampling', host.samplingRate > 0 && host.samplingRate !== 1 ? String(host.samplingRate) : ''],
    ['Steps', host.hasSteps ? `${host.firstStep} to ${host.lastStep}` : 'none'],
    ['Addresses', host.anonymized ? 'shifted' : ''],
    ['Environment', host.environment.join(', ')],
  ];
  return facts.filter(([, value]) => value !== '');
}

const ORIGINS: Readonly<Record<string, string>> = {
  profile: 'a profiler session',
  oom: 'the flight recorder, at an out-of-memory error',
  snapshot: 'the flight recorder, on request',
  death: 'the black box of a process that could not say how it ended',
  '': "TensorFlow's own profiler",
};

const SEVERITIES: Record<Severity, string> = {
  [Severity.INFO_ONLY]: 'all numbers are exact',
  [Severity.WARNING]: 'some numbers are incomplete',
  [Severity.ERROR]: 'numbers can be wrong',
};

const COLUMNS: readonly DataColumn<Quality>[] = [
  { title: 'What', text: ({ name }) => name.replaceAll('_', ' ') },
  { title: 'So', text: ({ severity }) => SEVERITIES[severity] ?? '' },
  countColumn('Times', ({ count }) => count),
  { title: 'In words', text: ({ sentence }) => sentence },
  { title: 'Host', text: ({ host }) => host },
  { title: 'Allocator', text: ({ allocator }) => allocator || 'all' },
];
