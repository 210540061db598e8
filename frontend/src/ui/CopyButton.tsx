import { useState } from 'preact/hooks';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who do not see the button. */
  readonly label: string;
  /** What stands on the button. */
  readonly shown?: string;
}

/** Copies `text` and says so for a moment. */
export function CopyButton({ text, label, shown = 'Copy' }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    window.setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="button quiet" onClick={copy} aria-label={label}>
      {copied ? 'Copied' : shown}
    </button>
  );
}

/** TensorBoard over plain http from another machine has no clipboard object: the old way is kept. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
