/** The story of an OOM to take along: as text for a ticket, as a table of its numbers. */
import { questionOf } from '../../data/client';
import { OOM_WINDOW } from '../../data/query';
import { formatBytes } from '../../format/bytes';
import { tensorName } from '../../format/names';
import type { Oom, Remedy } from '../../generated/datasets_pb';
import { filterOf, type Target } from '../../store/target';
import type { Exports } from '../../ui/ExportMenu';

export function oomExports(oom: Oom, target: Target): Exports {
  return {
    name: `out-of-memory-${oom.index}`,
    text: () => oomText(oom),
    table: () => oomFacts(oom),
    question: questionOf(OOM_WINDOW, target.run, { filter: filterOf(target), oom: oom.index }),
  };
}

/** What the card says, in lines. */
export function oomText(oom: Oom): string {
  const { verdict, remedies } = oom;
  return [
    oom.opening?.whatHappened ?? '',
    verdict?.sentence ?? '',
    [
      `In use ${formatBytes(oom.inUseBytes)}`,
      ...(oom.hasLayout
        ? [
            `free in the pool ${formatBytes(oom.freeBytes)}`,
            `largest hole ${formatBytes(oom.largestFreeBytes)}`,
            `the pool may still grow by ${formatBytes(oom.growableBytes)}`,
          ]
        : []),
      ...(oom.limitBytes > 0n ? [`limit ${formatBytes(oom.limitBytes)}`] : []),
    ].join(', '),
    verdict?.doubt ?? '',
    ...remedies.flatMap(remedyLines),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function remedyLines(
  { title, detail, bytes, code, howSure }: Remedy,
  index: number,
): readonly string[] {
  const gain = bytes > 0n ? ` (gives back ${formatBytes(bytes)})` : '';
  return [
    ...(index === 0 ? ['What to change:'] : []),
    `${index + 1}. ${title}${gain} [${howSure}]`,
    detail === '' ? '' : `   ${detail}`,
    ...code.split('\n').map((line) => (line === '' ? '' : `   ${line}`)),
  ];
}

function oomFacts(oom: Oom): readonly (readonly string[])[] {
  const { request, verdict } = oom;
  return [
    ['Fact', 'Value'],
    ['Host', oom.host],
    ['Allocator', oom.allocator],
    ['Time (ns since the epoch)', String(oom.timeNs)],
    ['Verdict', verdict?.kind ?? ''],
    ['In words', verdict?.sentence ?? ''],
    ['Operation', request?.opName ?? ''],
    ['Step', request && request.step >= 0n ? String(request.step) : ''],
    ['Tensor', request ? tensorName(request) : ''],
    ['Requested (bytes)', String(request?.requestedBytes ?? '')],
    ['In use (bytes)', String(oom.inUseBytes)],
    ['Free in the pool (bytes)', oom.hasLayout ? String(oom.freeBytes) : ''],
    ['Largest hole (bytes)', oom.hasLayout ? String(oom.largestFreeBytes) : ''],
    ['Pool may still grow by (bytes)', oom.hasLayout ? String(oom.growableBytes) : ''],
    ['Limit (bytes)', oom.limitBytes > 0n ? String(oom.limitBytes) : ''],
  ];
}
