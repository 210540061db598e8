import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { CompiledModuleDetailSchema } from '../../generated/datasets_pb';
import { boxOf, bufferAt, pointAt } from './geometry';

const SIZE = { width: 100, height: 40 };
const DETAIL = create(CompiledModuleDetailSchema, {
  programPoints: 10,
  allocation: { sizeBytes: 400n },
  buffers: [
    { instruction: 'low', offsetBytes: 0n, sizeBytes: 100n, firstPoint: 2, lastPoint: 4 },
    { instruction: 'high', offsetBytes: 300n, sizeBytes: 100n, firstPoint: 0, lastPoint: 9 },
  ],
});

test('a buffer spans its points across and its bytes upwards', () => {
  const [low, high] = DETAIL.buffers;
  if (!low || !high) throw new Error('the buffers are there');
  expect(boxOf(low, DETAIL, SIZE)).toEqual({ x: 20, y: 30, width: 30, height: 10 });
  expect(boxOf(high, DETAIL, SIZE)).toEqual({ x: 0, y: 0, width: 100, height: 10 });
});

test('the buffer under the pointer is found, and nothing where none is', () => {
  expect(bufferAt(DETAIL, 25, 35, SIZE)?.instruction).toBe('low');
  expect(bufferAt(DETAIL, 25, 5, SIZE)?.instruction).toBe('high');
  expect(bufferAt(DETAIL, 25, 20, SIZE)).toBeUndefined();
});

test('every place across is a point of the program', () => {
  expect(pointAt(DETAIL, 0)).toBe(0);
  expect(pointAt(DETAIL, 0.55)).toBe(5);
  expect(pointAt(DETAIL, 1)).toBe(9);
});
