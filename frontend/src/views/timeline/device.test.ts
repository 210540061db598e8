import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { DriverMemorySchema, DriverSeriesSchema } from '../../generated/datasets_pb';
import { deviceArrays, deviceUnder } from './device';

const DEVICE = create(DriverSeriesSchema, {
  host: 'h',
  device: 'cupti:1',
  allocators: ['GPU_1_bfc#0'],
  columns: [
    { timeNs: 1000n },
    { timeNs: 1010n, deviceTotalBytes: 100n, deviceFreeMinBytes: 30n },
    { timeNs: 1020n, deviceTotalBytes: 100n, deviceFreeMinBytes: 95n },
  ],
});

describe('deviceUnder', () => {
  const memory = create(DriverMemorySchema, { series: [{ host: 'h', device: 'cupti:0' }, DEVICE] });

  it('finds the device whose pools have the allocator among them', () => {
    expect(deviceUnder(memory, 'h', 'GPU_1_bfc#0')).toBe(memory.series[1]);
    expect(deviceUnder(memory, 'h', 'cpu#0')).toBeUndefined();
    expect(deviceUnder(memory, 'other', 'GPU_1_bfc#0')).toBeUndefined();
  });
});

describe('deviceArrays', () => {
  it('says what is taken by anyone, and never less than the pool itself', () => {
    const time = Float64Array.of(0, 12, 25);
    const { taken, totalBytes } = deviceArrays(DEVICE, 1000n, time, Float64Array.of(40, 50, 60));
    expect([...taken]).toEqual([40, 70, 60]);
    expect(totalBytes).toBe(100);
  });
});
