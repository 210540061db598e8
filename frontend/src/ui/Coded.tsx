/** A sentence of the converter: what stands between backticks is the name of something. */
export function Coded({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('`').map((part, index) =>
        // Backticks come in pairs: every second part is a name.
        index % 2 === 1 ? <code key={`${index}${part}`}>{part}</code> : part,
      )}
    </>
  );
}
