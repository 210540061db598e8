import { formatAddress, formatBytes, groupDigits } from '../../format/bytes';
import { opName } from '../../format/names';
import { formatMoment } from '../../format/time';
import type { TimelineSeries } from '../../generated/datasets_pb';
import type { DeviceArrays } from './device';
import { eventName, type TimelineArrays } from './model';

interface ReadoutProps {
  readonly arrays: TimelineArrays;
  readonly index: number | undefined;
  readonly series: TimelineSeries;
  readonly device: DeviceArrays | undefined;
}

/** The numbers under the pointer, or of the whole picture. */
export function Readout({ arrays, index, series, device }: ReadoutProps) {
  return (
    <p class="readout" aria-live="off">
      {index === undefined || index >= arrays.time.length
        ? summary(arrays, series)
        : pointText(arrays, index, device)}
    </p>
  );
}

function summary(arrays: TimelineArrays, series: TimelineSeries): string {
  const { peak } = series;
  const events = `${groupDigits(series.eventCount)} events on screen and beside it`;
  const shown = arrays.events ? `${events}, each shown` : events;
  return peak ? `Peak ${formatBytes(peak.inUseBytes)} in use · ${shown}` : shown;
}

function pointText(
  arrays: TimelineArrays,
  index: number,
  device: DeviceArrays | undefined,
): string {
  const at = formatMoment(arrays.time[index] ?? 0, 1e3);
  const reserved = formatBytes(arrays.reserved[index] ?? 0);
  const onDevice = device ? [`taken on the device ${formatBytes(device.taken[index] ?? 0)}`] : [];
  const event = arrays.events?.[index];
  if (event) {
    return [
      formatMoment(arrays.time[index] ?? 0, 1),
      `${eventName(event.kind)} ${formatBytes(event.bytes)}`,
      opName(event.opName),
      formatAddress(event.address),
      `then ${formatBytes(event.inUseBytes)} in use`,
      ...onDevice,
    ].join(' · ');
  }
  const low = formatBytes(arrays.inUseMin[index] ?? 0);
  const high = formatBytes(arrays.inUseMax[index] ?? 0);
  return [
    at,
    `in use ${low === high ? high : `${low} to ${high}`}`,
    `requested ${formatBytes(arrays.requested[index] ?? 0)}`,
    `reserved ${reserved}`,
    ...onDevice,
    `${groupDigits(arrays.liveCount[index] ?? 0)} live allocations`,
  ].join(' · ');
}
