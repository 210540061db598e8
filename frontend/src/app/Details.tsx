import type { ComponentType } from 'preact';
import { missingViews } from '../store/missingViews';
import type { ViewName } from '../store/selection';
import { select, selection } from '../store/session';
import type { Target } from '../store/target';
import { arrowStep } from '../ui/keys';
import { AddressMap } from '../views/address-map/AddressMap';
import { Allocators } from '../views/allocators/Allocators';
import { Compare } from '../views/compare/Compare';
import { Compiled } from '../views/compiled/Compiled';
import { DriverMemory } from '../views/driver/DriverMemory';
import { Forecast } from '../views/forecast/Forecast';
import { Fragmentation } from '../views/fragmentation/Fragmentation';
import { History } from '../views/history/History';
import { Holders } from '../views/holders/Holders';
import { HostMemory } from '../views/host/HostMemory';
import { Leaks } from '../views/leaks/Leaks';
import { AllocationLife } from '../views/life/AllocationLife';
import { LiveSet } from '../views/live-set/LiveSet';
import { OomWindow } from '../views/oom-window/OomWindow';
import { DataQuality } from '../views/quality/DataQuality';
import { Steps } from '../views/steps/Steps';
import { WhatIf } from '../views/what-if/WhatIf';
import { MomentBar } from './MomentBar';

/** What a view is about; the tabs stand in this order. */
const GROUPS = ['Now', 'Over time', 'Step', 'Compare', 'Quality'] as const;
type Group = (typeof GROUPS)[number];

interface DetailView {
  readonly name: ViewName;
  readonly title: string;
  readonly group: Group;
  readonly View: ComponentType<{ readonly target: Target }>;
  /** What it shows depends on the chosen moment. */
  readonly ofMoment: boolean;
  /** Whether there is anything to show for this allocator. */
  readonly applies?: (target: Target) => boolean;
}

/** There is nothing of holes and places to show where the device's driver places each block. */
const hasLayout = ({ allocator }: Target) => allocator.hasLayout;

const DETAIL_VIEWS: readonly DetailView[] = [
  {
    name: 'map',
    title: 'Address map',
    group: 'Now',
    View: AddressMap,
    ofMoment: true,
    applies: hasLayout,
  },
  { name: 'holders', title: 'Who holds it', group: 'Now', View: Holders, ofMoment: true },
  { name: 'live', title: 'Live allocations', group: 'Now', View: LiveSet, ofMoment: true },
  {
    name: 'fragmentation',
    title: 'Fragmentation',
    group: 'Now',
    View: Fragmentation,
    ofMoment: true,
    applies: hasLayout,
  },
  {
    name: 'window',
    title: 'Before the OOM',
    group: 'Now',
    View: OomWindow,
    ofMoment: true,
    applies: ({ allocator }) => allocator.oomCount > 0n,
  },
  {
    name: 'history',
    title: 'Map over time',
    group: 'Over time',
    View: History,
    ofMoment: true,
    applies: hasLayout,
  },
  { name: 'leaks', title: 'Leaks', group: 'Over time', View: Leaks, ofMoment: false },
  {
    name: 'driver',
    title: 'Driver memory',
    group: 'Over time',
    View: DriverMemory,
    ofMoment: false,
    applies: ({ host }) => host.cuptiMode !== '',
  },
  { name: 'host', title: 'Host memory', group: 'Over time', View: HostMemory, ofMoment: false },
  { name: 'forecast', title: 'The whole step', group: 'Step', View: Forecast, ofMoment: false },
  { name: 'steps', title: 'Steps', group: 'Step', View: Steps, ofMoment: false },
  { name: 'compiled', title: 'Compiled (XLA)', group: 'Step', View: Compiled, ofMoment: false },
  {
    name: 'what-if',
    title: 'What if',
    group: 'Compare',
    View: WhatIf,
    ofMoment: true,
    applies: hasLayout,
  },
  { name: 'compare', title: 'Compare', group: 'Compare', View: Compare, ofMoment: true },
  { name: 'allocators', title: 'Allocators', group: 'Quality', View: Allocators, ofMoment: false },
  { name: 'quality', title: 'Data quality', group: 'Quality', View: DataQuality, ofMoment: false },
];

/** The views that there are for an allocator; what the converter does not offer is left out. */
function viewsFor(target: Target): readonly DetailView[] {
  const missing = missingViews.value;
  return DETAIL_VIEWS.filter(
    ({ name, applies }) => (applies?.(target) ?? true) && !missing.has(name),
  );
}

/** The views of one moment, one at a time. */
export function Details({ target }: { readonly target: Target }) {
  const views = viewsFor(target);
  const view = views.find(({ name }) => name === selection.value.view) ?? (views[0] as DetailView);
  return (
    <section class="details" id="details" aria-label="Details">
      <div
        class="tabs"
        role="tablist"
        aria-label="Views"
        onKeyDown={(event) => moveWithArrows(event, views)}
      >
        {GROUPS.map((group) => {
          const members = views.filter((each) => each.group === group);
          if (members.length === 0) return null;
          return (
            <div key={group} role="none" class="tab-group">
              <span class="tab-group-name" aria-hidden="true">
                {group}
              </span>
              {members.map(({ name, title }) => (
                <button
                  key={name}
                  type="button"
                  role="tab"
                  id={`tab-${name}`}
                  aria-selected={name === view.name}
                  aria-controls="detail-panel"
                  tabIndex={name === view.name ? 0 : -1}
                  onClick={() => select({ view: name })}
                >
                  {title}
                </button>
              ))}
            </div>
          );
        })}
      </div>
      <div role="tabpanel" id="detail-panel" aria-labelledby={`tab-${view.name}`}>
        {view.ofMoment && <MomentBar target={target} />}
        <view.View target={target} />
        <AllocationLife target={target} />
      </div>
    </section>
  );
}

function moveWithArrows(event: KeyboardEvent, views: readonly DetailView[]): void {
  const step = arrowStep(event);
  if (step === 0) return;
  const at = views.findIndex(({ name }) => name === selection.value.view);
  const next = views[(at + step + views.length) % views.length];
  if (!next) return;
  select({ view: next.name });
  document.getElementById(`tab-${next.name}`)?.focus();
}
