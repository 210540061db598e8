import { useEffect } from 'preact/hooks';
import { isPageOfItsOwn } from '../data/pageParts';
import type { Info } from '../generated/datasets_pb';
import { findMissingViews } from '../store/missingViews';
import { openFiles } from '../store/openedFiles';
import {
  currentRun,
  endedJob,
  info,
  loadInfo,
  loadOoms,
  reload,
  reloads,
  retries,
  runs,
  selection,
  target,
  targetName,
} from '../store/session';
import { loadStepPeak } from '../store/stepPeak';
import type { Target } from '../store/target';
import { droppedFiles } from '../ui/droppedFiles';
import { Empty, Failed, Waiting } from '../ui/Notices';
import { Story } from '../views/story/Story';
import { useOverview } from '../views/timeline/Minimap';
import { Timeline } from '../views/timeline/Timeline';
import { Details } from './Details';
import { DropPage } from './DropPage';
import { NoRuns } from './NoRuns';
import { Toolbar } from './Toolbar';

/** How often a job that runs is looked at again while its page is seen. */
const LIVE_MS = 5000;

/** The whole tab. */
export function App() {
  const run = currentRun.value?.run;
  const again = reloads.value + retries.value;
  // A reload and a second try ask again
  useEffect(() => {
    if (run === undefined) return;
    const controller = new AbortController();
    void loadInfo(run, controller.signal);
    return () => controller.abort();
  }, [run, again]);
  const isLive = currentRun.value?.live === true;
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, LIVE_MS);
    return () => clearInterval(timer);
  }, [isLive]);

  return (
    <main class="app" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <h1 class="visually-hidden">OOM Forensics</h1>
      <Content />
    </main>
  );
}

function drop(event: DragEvent): void {
  event.preventDefault();
  const { dataTransfer } = event;
  // A text may be dropped, too.
  if (dataTransfer?.types.includes('Files')) void openFiles(droppedFiles(dataTransfer));
}

function Content() {
  const list = runs.value;
  if (list.state === 'loading')
    return (
      <div class="notice" role="status">
        Looking for runs…
      </div>
    );
  if (list.state === 'failed') return <Failed error={list.error} />;
  const run = currentRun.value;
  if (!run)
    return isPageOfItsOwn() ? (
      <DropPage />
    ) : (
      <>
        <EndedJob />
        <NoRuns />
      </>
    );
  return (
    <>
      <Toolbar runs={list.value} run={run.run} />
      <EndedJob />
      <RunContent run={run.run} />
    </>
  );
}

function EndedJob() {
  const name = endedJob.value;
  if (name === undefined) return null;
  return (
    <div class="notice" role="status">
      The job of “{name}” has ended. If it ran out of memory, the list has its run.
    </div>
  );
}

function RunContent({ run }: { readonly run: string }) {
  const known = info.value;
  const shown = target.value;
  if (known.state === 'failed') {
    return <Failed error={known.error} />;
  }
  if (known.state === 'loading' || known.run !== run) {
    return <Waiting run={run} what="Opening the trace…" />;
  }
  return (
    <>
      <CutOff info={known.value} />
      {shown ? <Views target={shown} /> : <NoAllocators />}
    </>
  );
}

/** Says, above all numbers, that a trace lacks its end, and what to do. */
function CutOff({ info }: { readonly info: Info }) {
  const hosts = info.quality
    .filter(({ name }) => name === 'truncated_file')
    .map(({ host }) => host);
  if (hosts.length === 0) return null;
  return (
    <div class="notice" role="status">
      The trace of {hosts.join(', ')} is cut off: its file ends in the middle of a message. Only
      what precedes the cut was read; later events are missing. Copy the file again, or record the
      run again.
    </div>
  );
}

function Views({ target }: { readonly target: Target }) {
  const name = targetName(target);
  const again = reloads.value + retries.value;
  // A timeline takes milliseconds, a verdict on ten million events seconds: the picture comes first.
  const drawn = !useOverview(target).loading;
  // The name stands for the target
  useEffect(() => {
    if (!drawn) return;
    const controller = new AbortController();
    void loadOoms(target, controller.signal).then(() =>
      findMissingViews(target, controller.signal),
    );
    return () => controller.abort();
  }, [name, again, drawn]);
  const { at } = selection.value;
  const step = at.kind === 'step' ? at.step : undefined;
  useEffect(() => {
    if (step === undefined) return;
    const controller = new AbortController();
    void loadStepPeak(target, step, controller.signal);
    return () => controller.abort();
  }, [name, again, step]);

  return (
    <>
      <Story target={target} />
      <Timeline target={target} />
      <Details target={target} />
    </>
  );
}

function NoAllocators() {
  return (
    <Empty title="This run has no memory events">
      <p>
        Its trace holds neither the events of the OOM Forensics collector nor TensorFlow's own{' '}
        <code>MemoryAllocation</code> events. Run <code>oom-forensics doctor</code> in the
        environment that trains: it says whether the collector is loaded, whether this TensorFlow is
        recognized, and what to change.
      </p>
      <p>
        On a CPU, TensorFlow uses its pool allocator only with{' '}
        <code>TF_CPU_ALLOCATOR_USE_BFC=1</code>.
      </p>
    </Empty>
  );
}
