import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { useWidth } from '../chart/Canvas';
import type { Dataset, QueryFields } from '../data/query';
import { columnsFor } from '../data/window';
import { filterOf, type Target } from '../store/target';
import { recordingLength, visibleRange } from '../store/timeWindow';
import { type Asked, useDataset } from '../store/useDataset';

/** A dataset of the time range on screen, in as many columns as `body` has pixels for. */
export function useWindowed<Schema extends DescMessage>(
  dataset: Dataset<Schema>,
  target: Target,
  fields: QueryFields = {},
  mostColumns = Number.POSITIVE_INFINITY,
): {
  readonly body: RefObject<HTMLDivElement | null>;
  readonly asked: Asked<MessageShape<Schema>>;
} {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const { from, to, columns } = columnsFor(visibleRange(target), recordingLength(target), width);
  const filter = {
    ...filterOf(target),
    ...fields.filter,
    fromNs: target.originNs + BigInt(from),
    toNs: target.originNs + BigInt(to),
  };
  const ask = {
    run: target.run,
    fields: { ...fields, filter, columns: Math.min(columns, mostColumns) },
  };
  return { body, asked: useDataset(dataset, width > 0 ? ask : undefined) };
}
