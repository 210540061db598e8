import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { DriverSeriesSchema } from '../../generated/datasets_pb';
import { driverArrays, driverTop } from './model';

describe('driverArrays', () => {
  it('shows what is taken on the device, whoever took it', () => {
    const arrays = driverArrays(
      create(DriverSeriesSchema, {
        columns: [
          {
            timeNs: 1010n,
            deviceTotalBytes: 4000n,
            deviceFreeMinBytes: 1000n,
            poolBytes: 2000n,
            driverBytes: 2500n,
          },
        ],
      }),
      1000n,
    );
    expect(arrays.map((values) => values[0])).toEqual([10, 4000, 3000, 2500, 2000]);
    expect(driverTop(arrays)).toBeGreaterThan(4000);
  });
});
