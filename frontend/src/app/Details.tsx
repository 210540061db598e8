import type { ComponentType } from 'preact';
import type { ViewName } from '../store/selection';
import { select, selection } from '../store/session';
import type { Target } from '../store/target';
import { AddressMap } from '../views/address-map/AddressMap';
import { Fragmentation } from '../views/fragmentation/Fragmentation';
import { Holders } from '../views/holders/Holders';
import { LiveSet } from '../views/live-set/LiveSet';
import { MomentBar } from './MomentBar';

interface DetailView {
  readonly name: ViewName;
  readonly title: string;
  readonly View: ComponentType<{ readonly target: Target }>;
}

const DETAIL_VIEWS: readonly DetailView[] = [
  { name: 'map', title: 'Address map', View: AddressMap },
  { name: 'holders', title: 'Who holds it', View: Holders },
  { name: 'live', title: 'Live allocations', View: LiveSet },
  { name: 'fragmentation', title: 'Fragmentation', View: Fragmentation },
];

/** The views of one moment, one at a time. */
export function Details({ target }: { readonly target: Target }) {
  const chosen = selection.value.view;
  const { View } =
    DETAIL_VIEWS.find(({ name }) => name === chosen) ?? (DETAIL_VIEWS[0] as DetailView);
  return (
    <section class="details" id="details" aria-label="Details">
      <div class="tabs" role="tablist" aria-label="Views" onKeyDown={moveWithArrows}>
        {DETAIL_VIEWS.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === chosen}
            aria-controls="detail-panel"
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => select({ view: name })}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="detail-panel" aria-labelledby={`tab-${chosen}`}>
        <MomentBar target={target} />
        <View target={target} />
      </div>
    </section>
  );
}

function moveWithArrows(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const at = DETAIL_VIEWS.findIndex(({ name }) => name === selection.value.view);
  const next = DETAIL_VIEWS[(at + step + DETAIL_VIEWS.length) % DETAIL_VIEWS.length];
  if (!next) return;
  select({ view: next.name });
  document.getElementById(`tab-${next.name}`)?.focus();
}
