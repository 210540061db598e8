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

const dataset = <Schema extends DescMessage>(kind: DatasetKind, schema: Schema) => ({
  kind,
  schema,
});

export const INFO = dataset(DatasetKind.INFO, InfoSchema);
export const MEMORY_TIMELINE = dataset(DatasetKind.MEMORY_TIMELINE, MemoryTimelineSchema);
export const ALLOCATIONS = dataset(DatasetKind.ALLOCATIONS, AllocationsSchema);
export const FRAGMENTATION = dataset(DatasetKind.FRAGMENTATION, FragmentationSchema);
export const FORECAST = dataset(DatasetKind.FORECAST, ForecastsSchema);
export const OOM_WINDOW = dataset(DatasetKind.OOM_WINDOW, OomWindowSchema);
export const LEAKS = dataset(DatasetKind.LEAKS, LeaksSchema);
export const DRIVER_MEMORY = dataset(DatasetKind.DRIVER_MEMORY, DriverMemorySchema);
export const HOST_MEMORY = dataset(DatasetKind.HOST_MEMORY, HostMemorySchema);
export const COMPARE = dataset(DatasetKind.COMPARE, CompareSchema);
export const COMPILED_MODULES = dataset(DatasetKind.COMPILED_MODULES, CompiledModulesSchema);
export const STEPS = dataset(DatasetKind.STEPS, StepsSchema);
export const ADDRESS_HISTORY = dataset(DatasetKind.ADDRESS_HISTORY, AddressHistorySchema);
export const ALLOCATION_LIFE = dataset(DatasetKind.ALLOCATION_LIFE, AllocationLifeSchema);
export const WHAT_IF = dataset(DatasetKind.WHAT_IF, WhatIfAnswerSchema);

/** The one JSON of a query: equal questions give equal strings, so it is also the cache's key. */
export function canonicalQuery(kind: DatasetKind, fields: QueryFields): string {
  return JSON.stringify(toJson(QuerySchema, create(QuerySchema, { ...fields, dataset: kind })));
}
