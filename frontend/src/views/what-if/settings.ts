/** What the sliders say, and the question that it makes. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { WhatIfLimit, WhatIfSettingsSchema } from '../../generated/datasets_pb';

const MIB = 1n << 20n;

/** As recorded, yes, or no. */
export type Choice = 'recorded' | 'yes' | 'no';

export interface Settings {
  /** Undefined: as recorded. */
  readonly limitBytes: bigint | undefined;
  readonly growth: Choice;
  readonly garbageCollection: Choice;
  readonly allocator: 'bfc' | 'async';
  /** Hundredths of the recorded batch. */
  readonly batchPercent: number;
  /** Name scopes whose ops ask for nothing, as typed: "encoder/block_1, head". */
  readonly without: string;
  /** What tensors of floating point numbers at or below `dtypeScope` are; '': as recorded. */
  readonly dtype: string;
  /** '': all. */
  readonly dtypeScope: string;
}

/** What a tensor of floating point numbers may be in the place of another. */
export const FLOAT_TYPES = ['float16', 'bfloat16', 'float32', 'float64'] as const;

export const AS_RECORDED: Settings = {
  limitBytes: undefined,
  growth: 'recorded',
  garbageCollection: 'recorded',
  allocator: 'bfc',
  batchPercent: 100,
  without: '',
  dtype: '',
  dtypeScope: '',
};

const scopesIn = (text: string) =>
  text
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');

const asked = (choice: Choice) => (choice === 'recorded' ? undefined : choice === 'yes');

/** The settings as the converter takes them. */
export function toQuery(settings: Settings): MessageInitShape<typeof WhatIfSettingsSchema> {
  const growth = asked(settings.growth);
  const garbageCollection = asked(settings.garbageCollection);
  const withoutScope = scopesIn(settings.without);
  return {
    allocatorKind: settings.allocator,
    ...(settings.limitBytes !== undefined && { limitBytes: settings.limitBytes }),
    ...(growth !== undefined && { growth }),
    ...(garbageCollection !== undefined && { garbageCollection }),
    ...(settings.batchPercent !== 100 && { batchScale: settings.batchPercent / 100 }),
    ...(withoutScope.length > 0 && { withoutScope }),
    ...(settings.dtype !== '' && {
      dtype: [{ scope: settings.dtypeScope.trim(), dtype: settings.dtype }],
    }),
  };
}

/** The slider goes from an eighth of the limit to four times it, in powers of two of 32 steps each. */
export const LIMIT_STEPS = 160;

/** The limit at a place of the slider, in whole MiB as TensorFlow's settings name it. */
export function limitAt(step: number, recordedBytes: bigint): bigint {
  const bytes = Number(recordedBytes) * 2 ** ((step - 96) / 32);
  const mib = BigInt(Math.max(1, Math.round(bytes / Number(MIB))));
  return step === 96 ? recordedBytes : mib * MIB;
}

/** The place of the slider that is nearest to a limit. */
export function stepOf(limitBytes: bigint, recordedBytes: bigint): number {
  if (recordedBytes === 0n) return 96;
  const step = 96 + 32 * Math.log2(Number(limitBytes) / Number(recordedBytes));
  return Math.min(LIMIT_STEPS, Math.max(0, Math.round(step)));
}

/** The range of limits that a picture of them shows, with a little room at both ends. */
export function limitRange(
  limits: readonly WhatIfLimit[],
  ...more: readonly bigint[]
): { readonly from: number; readonly to: number } {
  const all = [...limits.map(({ limitBytes }) => limitBytes), ...more].filter((one) => one > 0n);
  const numbers = all.map(Number);
  const lowest = Math.min(...numbers);
  const highest = Math.max(...numbers);
  const room = Math.max((highest - lowest) * 0.08, highest * 0.01);
  return numbers.length === 0
    ? { from: 0, to: 1 }
    : { from: Math.max(0, lowest - room), to: highest + room };
}
