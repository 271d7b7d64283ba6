import { useSignal } from '@preact/signals';
import type { Home, HomeItem } from '../../../contract/shapes/home.ts';
import { format, plural } from '../../format.ts';
import { HealthLink, useAnnouncedItems } from '../../parts/health.tsx';

/** Findings that are shown without "Show all". */
const few = 6;

/** What needs attention in all applications, the most urgent first. */
export function Attention({ home }: { readonly home: Home }) {
  const isWhole = useSignal(false);
  const { items, itemsLeftOut, complete, at } = home;
  useAnnouncedItems(items, ({ kind, application }) => `${kind} ${application?.id}`);
  if (items.length === 0)
    return (
      <p class={complete ? 'health health-ok' : 'health quiet'}>
        {complete
          ? `✓ No issues: all applications checked at ${format.clockSeconds(at)}`
          : 'Checking the applications …'}
      </p>
    );
  const shown = isWhole.value ? items : items.slice(0, few);
  const all = items.length + itemsLeftOut;
  return (
    <section class="stack" aria-labelledby="attention">
      <h2 id="attention">What needs attention</h2>
      <ul class="plain-list home-items">
        {shown.map((item) => (
          <li key={`${item.kind} ${item.application?.id}`} class={`home-item health-${item.severity}`}>
            <Item item={item} />
          </li>
        ))}
      </ul>
      {items.length > few && (
        <button
          type="button"
          class="home-more"
          aria-expanded={isWhole.value}
          onClick={() => {
            isWhole.value = !isWhole.value;
          }}
        >
          {isWhole.value ? 'Show fewer' : `Show all ${format.full(all)}`}
        </button>
      )}
      {isWhole.value && itemsLeftOut > 0 && <p class="quiet">{plural(itemsLeftOut, 'finding')} left out.</p>}
    </section>
  );
}

function Item({ item }: { readonly item: HomeItem }) {
  const { severity, application, environment, subjects, count } = item;
  const names = subjects.map(({ name }) => name);
  const more = count > names.length ? ` and ${format.full(count - names.length)} more` : '';
  return (
    <>
      <span class="home-severity">{severity}</span>
      <HealthLink item={item} />
      <span>
        {application?.name ?? 'Team'}
        {environment !== null && <span class="quiet"> · {environment}</span>}
      </span>
      {names.length > 0 && item.kind !== 'nothing_received' && (
        <span class="quiet home-names">
          {names.join(', ')}
          {more}
        </span>
      )}
    </>
  );
}
