import { useState } from 'preact/hooks';
import { COLOURINGS, type ColourBy } from '../../chart/colouring';
import { COMPILED_MODULES } from '../../data/query';
import { formatBytes, groupDigits } from '../../format/bytes';
import type { CompiledModuleDetail } from '../../generated/datasets_pb';
import type { Target } from '../../store/target';
import { useDataset } from '../../store/useDataset';
import { AnswerCard } from '../../ui/AnswerCard';
import { Bytes } from '../../ui/Bytes';
import { Card } from '../../ui/Card';
import { Coded } from '../../ui/Coded';
import { DataTable, tableText } from '../../ui/DataTable';
import { Empty } from '../../ui/Notices';
import { Select } from '../../ui/Select';
import { Program } from './Program';
import { BUFFER_COLUMNS, moduleColumns, SHARE_COLUMNS } from './tables';

const COLUMNS = 2000;

/** What XLA compiled, and of one module its memory over the program. */
export function Compiled({ target }: { readonly target: Target }) {
  const [module, setModule] = useState('');
  const [allocation, setAllocation] = useState<bigint>();
  const [point, setPoint] = useState<number>();
  const [colourBy, setColourBy] = useState<ColourBy>('scope');
  const asked = useDataset(COMPILED_MODULES, {
    run: target.run,
    fields: {
      filter: { host: target.host.host },
      columns: COLUMNS,
      module,
      ...(allocation !== undefined && { moduleAllocation: allocation }),
      ...(point !== undefined && { programPoint: point }),
    },
  });
  const answer = asked.data;
  const choose = (name: string) => {
    setModule(name);
    setAllocation(undefined);
    setPoint(undefined);
  };
  const columns = moduleColumns(choose);
  const detail = answer?.detail;
  return (
    <>
      <AnswerCard
        title="Compiled modules"
        note="What XLA compiled: each is one block of temporary memory, its outputs and its constants"
        name="compiled-modules"
        asked={asked}
        table={() => tableText(columns, answer?.modules ?? [])}
        waiting="Reading the modules…"
      >
        {({ modules }) =>
          modules.length === 0 ? (
            <NoModules />
          ) : (
            <DataTable
              caption="Compiled modules"
              columns={columns}
              rows={modules}
              rowKey={({ host, name, programId }) => `${host}/${name}/${programId}`}
              selected={({ name }) => name === detail?.module?.name}
            />
          )
        }
      </AnswerCard>
      {detail?.allocation && (
        <Card
          title={`Memory of ${detail.module?.function} over its program`}
          note="Each rectangle is a buffer: where it lies in the block, and from which instruction to which it is needed"
          busy={asked.loading}
          actions={
            <>
              <Select
                label="Color by"
                value={colourBy}
                options={COLOURINGS.filter(({ value }) => value !== 'step' && value !== 'age')}
                onChange={setColourBy}
              />
              <Select
                label="Block"
                value={String(detail.allocation.index)}
                options={detail.allocations
                  .filter(({ kind, bufferCount }) => kind !== 'thread_local' && bufferCount > 0n)
                  .slice(0, 200)
                  .map(({ index, kind, sizeBytes }) => ({
                    value: String(index),
                    label: `${kind} ${index}, ${formatBytes(sizeBytes)}`,
                  }))}
                onChange={(value) => {
                  setAllocation(BigInt(value));
                  setPoint(undefined);
                }}
              />
            </>
          }
          exports={{
            name: 'compiled-buffers',
            table: () => tableText(BUFFER_COLUMNS, detail.buffers),
            question: asked.question,
          }}
        >
          <Program
            key={`${detail.module?.name}/${detail.allocation.index}`}
            detail={detail}
            colourBy={colourBy}
            onPoint={setPoint}
          />
          <Content detail={detail} />
          <DataTable
            caption="Buffers, largest first"
            columns={BUFFER_COLUMNS}
            rows={detail.buffers.filter(({ live }) => live).slice(0, 200)}
            rowKey={({ instruction, offsetBytes, firstPoint }) =>
              `${instruction}/${offsetBytes}/${firstPoint}`
            }
          />
        </Card>
      )}
    </>
  );
}

/** What lies in the block at the chosen point. */
function Content({ detail }: { readonly detail: CompiledModuleDetail }) {
  const { content, point, peakPoint } = detail;
  if (!content) return null;
  return (
    <>
      <h3>
        {point === peakPoint ? 'At its peak' : 'At this point'}, instruction{' '}
        {groupDigits(point + 1)} of {groupDigits(detail.programPoints)}:{' '}
        <code>{detail.pointOpName || detail.pointInstruction}</code>
      </h3>
      <p>
        <Bytes value={content.liveBytes} /> of <Bytes value={content.blockBytes} /> are live in{' '}
        {groupDigits(content.bufferCount)} buffers, <Bytes value={content.unusedBytes} /> lie
        unused. <Coded text={content.sentence} />
      </p>
      <DataTable
        caption="Name scopes"
        columns={SHARE_COLUMNS}
        rows={content.byScope.slice(0, 30)}
        rowKey={({ key }) => key}
      />
    </>
  );
}

function NoModules() {
  return (
    <Empty title="Nothing that XLA compiled">
      <p>
        This run has no compiled modules: it did not compile with XLA (<code>jit_compile</code>), or
        was recorded by a version that does not keep them.
      </p>
    </Empty>
  );
}
