import { useEffect, useRef } from 'preact/hooks';
import type { Health, HealthItem } from '../../contract/shapes/health.ts';
import { kept, useQuery } from '../address/address.ts';
import type { InEnvironment } from '../address/place.ts';
import { resource, withQuery } from '../api/client.ts';
import { now } from '../api/clock.ts';
import { usePoll } from '../api/poll.ts';
import { describeError } from '../api/problem.ts';
import { root } from '../api/settings.ts';
import { format, plural } from '../text/format.ts';
import { announce } from './announce.tsx';

const everyMs = 15_000;

/** Shows what needs attention in an environment, in one line. Each finding links to the page that resolves it. */
export function HealthLine({ application, environment }: InEnvironment) {
  const path = withQuery(resource('applications', application, 'health'), { environment });
  const { data, error } = usePoll<Health>(path, everyMs);
  useAnnouncedItems(data?.items, getFindingKey);
  if (data === undefined)
    return error === undefined ? (
      <p class="health quiet" aria-busy="true">
        Checking …
      </p>
    ) : (
      <p class="health health-warning">The state of the environment is unknown: {describeError(error)}</p>
    );
  if (data.status === 'ok')
    return (
      <p class={error === undefined ? 'health health-ok' : 'health quiet'}>
        <span aria-hidden="true">✓ </span>
        {calmText(data, now.value)}
      </p>
    );
  return (
    <section class={`health health-${data.status}`} aria-label="What needs attention">
      {urgentText(data.items) && <strong>{urgentText(data.items)} </strong>}
      <ul class="plain-list health-items">
        {data.items.map((item) => (
          <li key={getFindingKey(item)}>
            <HealthLink item={item} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A finding with a link to the page that resolves it. The link keeps the range. */
export function HealthLink({
  item,
  text = item.text,
}: {
  readonly item: HealthItem;
  readonly text?: string | undefined;
}) {
  const { query } = useQuery();
  return (
    <a class={`health-link health-${item.severity}`} href={linkedAddress(item.link, query)} title={namesText(item)}>
      {text}
    </a>
  );
}

/** A finding as a sentence with emphasised names, or as its short text if the server sends no sentence. */
export function FindingSentence({ item: { sentence, text, subjects } }: { readonly item: HealthItem }) {
  let rest = sentence ?? text;
  const parts = subjects.flatMap(({ name }) => {
    const at = rest.indexOf(name);
    if (at < 0) return [];
    const before = rest.slice(0, at);
    rest = rest.slice(at + name.length);
    return [before, <strong key={name}>{name}</strong>];
  });
  return (
    <span>
      {parts}
      {rest}
    </span>
  );
}

/** Returns the key of a finding. Findings of the same kind have different links. */
export function getFindingKey({ kind, link }: HealthItem): string {
  return `${kind} ${link}`;
}

/**
 * Returns the address of a page that the API names.
 * @param query query of the current page; its range is kept
 */
export function linkedAddress(link: string, query: Readonly<Record<string, string>>): string {
  const [path = '/', own] = link.split('?');
  return withQuery(root + path, {
    ...(path.startsWith('/apps/') ? kept(query) : {}),
    ...Object.fromEntries(new URLSearchParams(own)),
  });
}

/** Formats the number of urgent findings, which are listed first: `1 urgent:`. */
function urgentText(items: readonly Pick<HealthItem, 'severity'>[]): string | undefined {
  const urgent = items.filter(({ severity }) => severity === 'urgent').length;
  return urgent === 0 ? undefined : `${format.full(urgent)} urgent:`;
}

function calmText({ flags, at, lastReceivedAt }: Health, now: number): string {
  const last = lastReceivedAt === null ? '' : `, last data ${format.relative(lastReceivedAt, now)}`;
  return `No issues: keys, senders and ${plural(flags, 'flag')} checked at ${format.clockSeconds(at)}${last}`;
}

function namesText({ count, subjects }: HealthItem): string | undefined {
  const names = subjects.map(({ name }) => name);
  if (names.length === 0) return undefined;
  return format.list(count > names.length ? [...names, `${format.full(count - names.length)} more`] : names);
}

/** Announces to screen readers when findings appear or disappear, but not when their counts change. */
export function useAnnouncedItems<Item extends Pick<HealthItem, 'text'>>(
  items: readonly Item[] | undefined,
  getKey: (item: Item) => string,
): void {
  const found = items?.map(getKey).join();
  const said = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (items === undefined) return;
    if (said.current !== undefined && said.current !== found)
      announce(
        items.length === 0
          ? 'No issues left'
          : `Needs attention: ${items
              .slice(0, maxSaid)
              .map(({ text }) => text)
              .join(', ')}`,
      );
    said.current = found;
  }, [found]);
}

/** Maximum number of findings in one announcement. */
const maxSaid = 5;
