import { Bytes } from '../../ui/Bytes';

interface FactProps {
  readonly label: string;
  readonly value: bigint;
  readonly onClick: () => void;
}

/** A number, and as a link the view that proves it. */
export function Fact({ label, value, onClick }: FactProps) {
  return (
    <button type="button" class="fact" onClick={onClick}>
      <span class="fact-value">
        <Bytes value={value} />
      </span>
      <span class="fact-label">{label}</span>
    </button>
  );
}
