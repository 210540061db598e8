import { selection } from '../store/session';
import { Empty } from '../ui/Notices';
import { OpenFiles } from '../ui/OpenFiles';

/** The first thing on a page to open traces with. */
export function DropPage() {
  const { run } = selection.value;
  return (
    <Empty title="Drop a trace here">
      <p>
        One or two <code>.xplane.pb</code> files (packed by gzip or not), or the folder of a run
        with all its hosts: recorded by OOM Forensics, or by TensorFlow's profiler alone.
      </p>
      {run !== '' && (
        <p>
          <code>{run}</code> was open here: a page that is loaded again knows no files, open it once
          more.
        </p>
      )}
      <OpenFiles />
      <p>
        Nothing leaves this browser: the page reads the files itself, and its policy lets it reach
        no network.
      </p>
    </Empty>
  );
}
