/** The worker's script: one converter, which does what the page says, one thing after the other. */
import type { FromWorker, ToWorker } from './messages';
import { ConverterEnded, ConverterModule } from './module';
import { unpacked, unpackedBytes } from './unpack';

const tell = (message: FromWorker, transfer: Transferable[] = []) =>
  self.postMessage(message, { transfer });

/** Why the run could not be opened, in the converter's words. */
let refusal = '';
let converter: ConverterModule | undefined;

async function start(wasm: Blob): Promise<void> {
  const module = await WebAssembly.compile(await unpackedBytes(wasm));
  converter = new ConverterModule(module, (header, body) => {
    if (header.partial) tell({ kind: 'progress', progress: header.progress ?? 0 });
    else if ((header.id ?? '0') === '0') refusal = header.error ?? '';
    else tell({ kind: 'reply', header, body }, [body.buffer]);
  });
}

async function perform(message: ToWorker): Promise<void> {
  if (message.kind === 'start') return start(message.wasm);
  if (!converter) throw new ConverterEnded('The converter was not started.');
  if (message.kind === 'put') {
    for (const { name, data } of message.files) {
      const { sizeBytes, pieces } = await unpacked(data).catch((error: unknown) => {
        const because = error instanceof Error ? error.message : String(error);
        throw new ConverterEnded(`${name} cannot be read whole; copy it again (${because})`);
      });
      await converter.putFile(`${message.folder}/${name}`, sizeBytes, pieces);
    }
  } else if (message.kind === 'open') {
    if (!converter.open(message.folder, message.allowTruncated)) {
      // The folder is ours, and says nothing to a reader.
      throw new ConverterEnded(refusal.replaceAll(`${message.folder}/`, ''));
    }
    tell({ kind: 'opened' });
  } else {
    converter.answer(message.request);
  }
}

let work = Promise.resolve();
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  work = work
    .then(() => perform(data))
    .catch((error: unknown) => {
      tell({ kind: 'failed', sentence: error instanceof Error ? error.message : String(error) });
    });
};
