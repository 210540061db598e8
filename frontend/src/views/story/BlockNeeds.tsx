import type { BlockContent } from '../../generated/datasets_pb';
import { Bytes } from '../../ui/Bytes';
import { showDetails } from '../../ui/showDetails';

const SHOWN_SCOPES = 6;

interface BlockNeedsProps {
  readonly block: BlockContent;
  readonly module: string;
}

/** Who needs the compiled block that did not fit: its layers, and what they keep in it. */
export function BlockNeeds({ block, module }: BlockNeedsProps) {
  const shown = block.byScope.slice(0, SHOWN_SCOPES);
  return (
    <div class="block-needs">
      <ul>
        {shown.map(({ key, bytes }) => (
          <li key={key}>
            <Bytes value={bytes} /> <code>{key}</code>
          </li>
        ))}
        {block.unusedBytes > 0n && (
          <li>
            <Bytes value={block.unusedBytes} /> unused between its buffers
          </li>
        )}
      </ul>
      {module !== '' && (
        <button type="button" class="link" onClick={() => showDetails({ view: 'compiled' })}>
          See it over the program
        </button>
      )}
    </div>
  );
}
