/** The table behind the film. */
import { formatAddress } from '../../format/bytes';
import { formatMoment } from '../../format/time';
import type { AddressHistory, HistoryRectangle } from '../../generated/datasets_pb';
import { relativeNs, type Target } from '../../store/target';
import { AllocationLink } from '../../ui/AllocationLink';
import { bytesColumn } from '../../ui/columns';
import type { DataColumn } from '../../ui/DataTable';

export function rectangleColumns(
  history: AddressHistory | undefined,
  target: Target,
): readonly DataColumn<HistoryRectangle>[] {
  const nameOf = ({ site }: HistoryRectangle) => history?.sites[site]?.opName ?? '';
  const moment = (ns: bigint) => formatMoment(relativeNs(target, ns), 1e3);
  return [
    {
      title: 'Operation',
      text: nameOf,
      cell: (rectangle) => <AllocationLink id={rectangle.allocationId} name={nameOf(rectangle)} />,
    },
    bytesColumn('Size', ({ sizeBytes }) => sizeBytes),
    {
      title: 'Address',
      text: ({ address }) => formatAddress(address),
      order: ({ address }) => address,
    },
    {
      title: 'Born',
      numeric: true,
      text: ({ bornNs }) => String(bornNs),
      cell: ({ bornNs }) => moment(bornNs),
      order: ({ bornNs }) => bornNs,
    },
    {
      title: 'Freed',
      numeric: true,
      text: ({ diedNs }) => (diedNs === 0n ? '' : String(diedNs)),
      cell: ({ diedNs }) => (diedNs === 0n ? 'never' : moment(diedNs)),
      order: ({ diedNs }) => diedNs,
    },
  ];
}
