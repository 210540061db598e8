import type { Oom } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';

interface HoldsMostProps {
  readonly oom: Oom;
  readonly onMore: () => void;
}

/** The largest holders with their lines, in the words of the report. */
export function HoldsMost({ oom, onMore }: HoldsMostProps) {
  const holders = oom.opening?.holders ?? [];
  if (holders.length === 0) return null;
  return (
    <div class="holds-most">
      <h3>
        Who holds most of the <Bytes value={oom.inUseBytes} /> in use
      </h3>
      <ol>
        {holders.map((holder) => (
          <li key={holder}>{holder}</li>
        ))}
      </ol>
      <button type="button" class="link" onClick={onMore}>
        All of them
      </button>
    </div>
  );
}
