/* src/console/pages/cleanup: the flags that can be removed from the code. */
import { useSignal } from '@preact/signals';
import type { Cleanup, CleanupItem } from '../../../contract/shapes/cleanup.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { featureAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { useAction } from '../../components/action.tsx';
import { Chart } from '../../components/chart/chart.tsx';
import { CodePlaces } from '../../components/code-places.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { download } from '../../components/download.ts';
import { downloadFrom, ExportMenu } from '../../components/export-menu.tsx';
import { Pending, Reason } from '../../components/failure.tsx';
import { Help } from '../../components/help.tsx';
import { Table } from '../../components/table/table.tsx';
import { format, plural } from '../../text/format.ts';
import { formatLabel, reasonText } from '../feature/verdict-words.ts';

const everyMs = 30_000;
const dayMs = 86_400_000;

export function CleanupPage({ application, environment }: InEnvironment) {
  const path = resource('applications', application, 'cleanup');
  const { data, error } = usePoll<Cleanup>(path, everyMs);
  if (data === undefined) return <Pending error={error} />;
  return (
    <div class="stack">
      <header class="head">
        <h1>{data.total === 0 ? 'No flag' : plural(data.total, 'flag')} can be removed</h1>
        {data.items.length > 0 && <Export path={path} data={data} />}
        <p class="quiet">
          The <Help to="semantics#the-verdict">verdicts</Help> cover all environments. Computed {format.time(data.at)}.
        </p>
      </header>
      <History data={data} />
      <List path={path} data={data} place={{ application, environment }} />
      <Blocked data={data} place={{ application, environment }} />
    </div>
  );
}

interface SectionProps {
  readonly data: Cleanup;
  readonly place: InEnvironment;
}

function List({ path, data, place }: SectionProps & { readonly path: string }) {
  const { items, total } = data;
  if (items.length === 0)
    return (
      <p class="empty">
        A flag appears here when no sender checks it any more, or when everyone has had the same variant for a while.
      </p>
    );
  return (
    <>
      {[...groupByOwner(items)].map(([owner, group]) => (
        <section key={owner} class="stack" aria-label={owner || noOwner}>
          <div class="head">
            <h2>
              {owner || noOwner} <span class="quiet">{plural(group.length, 'flag')}</span>
            </h2>
            <PullRequestText path={path} names={group.map(({ feature }) => feature)} />
          </div>
          {group.map((item) => (
            <Item key={item.feature} item={item} place={place} />
          ))}
        </section>
      ))}
      {total > items.length && <p class="quiet">{plural(total - items.length, 'more flag')} can be removed.</p>}
    </>
  );
}

const noOwner = 'No owner';

/** Groups flags by their owners. The largest group is first, and flags without an owner are last. */
function groupByOwner(items: readonly CleanupItem[]): ReadonlyMap<string, readonly CleanupItem[]> {
  const groups = new Map<string, CleanupItem[]>();
  for (const item of items) {
    const owner = ownersText(item.owners);
    groups.set(owner, [...(groups.get(owner) ?? []), item]);
  }
  const rank = ([owner, { length }]: readonly [string, readonly CleanupItem[]]) => (owner === '' ? 0 : length);
  return new Map([...groups].toSorted((a, b) => rank(b) - rank(a)));
}

/** The server's text for a pull request that removes the flags of a group. Loaded when it is opened. */
function PullRequestText({ path, names }: { readonly path: string; readonly names: readonly string[] }) {
  const isOpen = useSignal(false);
  const { data, error } = usePoll<Cleanup>(isOpen.value ? withQuery(path, { feature: names }) : undefined, undefined);
  const text = data?.pullRequest;
  return (
    <details class="cleanup-text" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>Pull-request text</summary>
      <Reason error={error} what="The text" />
      {text && (
        <>
          <p>
            <strong>{text.title}</strong> <CopyButton text={`${text.title}\n\n${text.body}`} label="Copy text" />
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
          <section tabIndex={0} aria-label={text.title}>
            <pre>{text.body}</pre>
          </section>
        </>
      )}
    </details>
  );
}

function Export({ path, data: { pullRequest } }: Pick<SectionProps, 'data'> & { readonly path: string }) {
  const { refusal, run } = useAction();
  const saveText = ({ title, body }: NonNullable<Cleanup['pullRequest']>) =>
    download('clean-up', 'md', new Blob([`# ${title}\n\n${body}`]));
  const saveCsv = () => downloadFrom('clean-up', withQuery(path, { format: 'csv' }));
  return (
    <>
      <ExportMenu
        of="Clean-up"
        items={[
          { label: 'CSV', onSelect: () => run(saveCsv, 'File saved') },
          ...(pullRequest ? [{ label: 'Markdown', onSelect: () => saveText(pullRequest) }] : []),
        ]}
      />
      {refusal}
    </>
  );
}

/** The number of removable flags on each of the last days. */
function History({ data: { history, at } }: Pick<SectionProps, 'data'>) {
  const today = Math.floor(Date.parse(at) / dayMs);
  const start = ((today - history.length + 1) * dayMs) / 1000;
  if (history.every((flags) => flags === 0)) return null;
  return (
    <section aria-label="Removable flags over time">
      <Chart
        title="Removable flags"
        levels
        buckets={{ start, width: dayMs / 1000, count: history.length }}
        series={[{ label: 'Removable flags', values: history, tone: 1 }]}
        kind="lines"
        csv="removable-flags"
        height={120}
      />
      <p class="quiet">
        A flag counts from the day on which its silence, or its single variant, had lasted long enough, until the day on
        which it was archived. A flag that is in use again does not count for earlier days either.
      </p>
    </section>
  );
}

function Blocked({ data: { blocked, blockedTotal }, place }: SectionProps) {
  const { query } = useQuery();
  if (blocked.length === 0) return null;
  return (
    <section aria-labelledby="cleanup-blocked">
      <h2 id="cleanup-blocked">Cannot be removed yet</h2>
      <Table
        caption="Flags that cannot be removed yet"
        rows={blocked}
        rowKey={({ feature }) => feature}
        stacked
        columns={[
          {
            key: 'flag',
            title: 'Flag',
            value: ({ feature }) => feature,
            cell: ({ feature }) => <a href={featureAddress({ ...place, name: feature }, query)}>{feature}</a>,
          },
          { key: 'verdict', title: 'Verdict', value: ({ verdict }) => formatLabel(verdict) },
          { key: 'why', title: 'Why', value: ({ why }) => reasonText(why, format) },
          { key: 'owners', title: 'Owners', value: ({ owners }) => ownersText(owners) },
        ]}
      />
      {blockedTotal > blocked.length && (
        <p class="quiet">{plural(blockedTotal - blocked.length, 'more flag')} cannot be removed yet.</p>
      )}
    </section>
  );
}

interface ItemProps {
  readonly item: CleanupItem;
  readonly place: InEnvironment;
}

function Item({ item, place }: ItemProps) {
  const { query } = useQuery();
  const { feature, reasons, ownersFrom, code, nextText, declared } = item;
  return (
    <article class="panel cleanup-item" aria-label={feature}>
      <header>
        <h3>
          <a href={featureAddress({ ...place, name: feature }, query)}>{feature}</a>
        </h3>
        <span class="pill">{whyGoes(item)}</span>
        {!declared && <span class="pill warn">unknown flag</span>}
        {ownersFrom === 'codeowners' && <span class="quiet">Owner by CODEOWNERS</span>}
      </header>
      <dl>
        <dt>Evidence</dt>
        <dd>
          <ul>
            {reasons.map((reason) => (
              <li key={reason.text}>{reasonText(reason, format)}</li>
            ))}
          </ul>
        </dd>
        <dt>Code</dt>
        <dd>
          {code.length === 0 ? <span class="quiet">No code scan was uploaded.</span> : <CodePlaces code={code} />}
        </dd>
        <dt>Next step</dt>
        <dd>{nextText}</dd>
      </dl>
    </article>
  );
}

function whyGoes({ verdict, since }: CleanupItem): string {
  return `${formatLabel(verdict)}${since === null ? '' : ` since ${format.time(since)}`}`;
}
