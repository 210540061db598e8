import { describe, expect, it } from 'vitest';
import { type ReplyHeader, ReplyReader } from './frames';

function frameOf(bytes: Uint8Array): Uint8Array {
  const frame = new Uint8Array(4 + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length, true);
  frame.set(bytes, 4);
  return frame;
}

function replyOf(header: ReplyHeader, body: readonly number[]): readonly number[] {
  return [
    ...frameOf(new TextEncoder().encode(JSON.stringify(header))),
    ...frameOf(Uint8Array.from(body)),
  ];
}

describe('ReplyReader', () => {
  const stream = [
    ...replyOf({ partial: true, progress: 0.5 }, []),
    ...replyOf({ id: '7' }, [1, 2, 3]),
    ...replyOf({ id: '8', error: 'No.', code: 5 }, []),
  ];

  it.each([1, 2, 3, 7, 10_000])('reads replies from pieces of %i bytes', (size) => {
    const replies: unknown[] = [];
    const reader = new ReplyReader((header, body) => replies.push([header, [...body]]));
    for (let at = 0; at < stream.length; at += size) {
      reader.push(Uint8Array.from(stream.slice(at, at + size)));
    }
    expect(replies).toEqual([
      [{ partial: true, progress: 0.5 }, []],
      [{ id: '7' }, [1, 2, 3]],
      [{ id: '8', error: 'No.', code: 5 }, []],
    ]);
  });
});
