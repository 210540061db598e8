/** Queries in their canonical form, and the message that answers each kind. */
import { create, type DescMessage, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import {
  AddressHistorySchema,
  AllocationLifeSchema,
  AllocationsSchema,
  CompareSchema,
  CompiledModulesSchema,
  DatasetKind,
  DriverMemorySchema,
  ForecastsSchema,
  FragmentationSchema,
  HostMemorySchema,
  InfoSchema,
  LeaksSchema,
  MemoryTimelineSchema,
  OomWindowSchema,
  QuerySchema,
  StepsSchema,
  WhatIfAnswerSchema,
} from '../generated/datasets_pb';

/** What is asked beside the kind of dataset. */
export type QueryFields = Omit<MessageInitShape<typeof QuerySchema>, 'dataset' | '$typeName'>;

/** A dataset: its kind in the query and the message that answers. */
export interface Dataset<Schema extends DescMessage> {
  readonly kind: DatasetKind;
  readonly schema: Schema;
}

export const INFO = { kind: DatasetKind.INFO, schema: InfoSchema } as const;
export const MEMORY_TIMELINE = {
  kind: DatasetKind.MEMORY_TIMELINE,
  schema: MemoryTimelineSchema,
} as const;
export const ALLOCATIONS = { kind: DatasetKind.ALLOCATIONS, schema: AllocationsSchema } as const;
export const FRAGMENTATION = {
  kind: DatasetKind.FRAGMENTATION,
  schema: FragmentationSchema,
} as const;
export const FORECAST = { kind: DatasetKind.FORECAST, schema: ForecastsSchema } as const;
export const OOM_WINDOW = { kind: DatasetKind.OOM_WINDOW, schema: OomWindowSchema } as const;
export const LEAKS = { kind: DatasetKind.LEAKS, schema: LeaksSchema } as const;
export const DRIVER_MEMORY = {
  kind: DatasetKind.DRIVER_MEMORY,
  schema: DriverMemorySchema,
} as const;
export const HOST_MEMORY = { kind: DatasetKind.HOST_MEMORY, schema: HostMemorySchema } as const;
export const COMPARE = { kind: DatasetKind.COMPARE, schema: CompareSchema } as const;
export const COMPILED_MODULES = {
  kind: DatasetKind.COMPILED_MODULES,
  schema: CompiledModulesSchema,
} as const;
export const STEPS = { kind: DatasetKind.STEPS, schema: StepsSchema } as const;
export const ADDRESS_HISTORY = {
  kind: DatasetKind.ADDRESS_HISTORY,
  schema: AddressHistorySchema,
} as const;
export const ALLOCATION_LIFE = {
  kind: DatasetKind.ALLOCATION_LIFE,
  schema: AllocationLifeSchema,
} as const;

export const WHAT_IF = { kind: DatasetKind.WHAT_IF, schema: WhatIfAnswerSchema } as const;

/** The one JSON of a query: equal questions give equal strings, so it is also the cache's key. */
export function canonicalQuery(kind: DatasetKind, fields: QueryFields): string {
  return JSON.stringify(toJson(QuerySchema, create(QuerySchema, { ...fields, dataset: kind })));
}
