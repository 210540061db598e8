import { CopyButton } from '../ui/CopyButton';
import { Empty } from '../ui/Notices';
import { OpenFiles } from '../ui/OpenFiles';

const PROFILE = `with tf.profiler.experimental.Profile('logdir'):
    model.fit(dataset)`;

/** The first thing that somebody sees who has just installed it: how to get data. */
export function NoRuns() {
  return (
    <Empty title="No recorded run in this log directory yet">
      <p>OOM Forensics shows who held the memory when training ran out of it. To record a run:</p>
      <ol>
        <li>
          Install <code>oom-forensics</code> where you train. Nothing in your program changes: it is
          loaded with TensorFlow.
        </li>
        <li>
          Train under TensorFlow's profiler, into the log directory that TensorBoard reads:
          <div class="code-block">
            <pre>{PROFILE}</pre>
            <CopyButton text={PROFILE} label="Copy the example" />
          </div>
        </li>
        <li>Press reload at the top right. The run appears here, the out-of-memory error first.</li>
      </ol>
      <p>Or look at a trace of this machine, without recording one:</p>
      <OpenFiles />
      <p>
        Is the run missing? <code>oom-forensics doctor</code> says why there is no data.
      </p>
    </Empty>
  );
}
