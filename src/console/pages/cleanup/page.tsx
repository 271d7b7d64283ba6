/* src/console/pages/cleanup: the flags that can be removed from the code. */
import { useSignal } from '@preact/signals';
import type { Cleanup, CleanupItem } from '../../../contract/shapes/cleanup.ts';
import { featureAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { CodePlaces } from '../../components/code-places.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { download, downloadCsv, toCsv } from '../../components/download.ts';
import { ExportMenu } from '../../components/export-menu.tsx';
import { Pending } from '../../components/failure.tsx';
import { Help } from '../../components/help.tsx';
import { Table } from '../../components/table/table.tsx';
import { format, plural } from '../../text/format.ts';
import { reasonText } from '../feature/verdict-words.ts';
import { states } from '../overview/states.ts';

const everyMs = 30_000;

export function CleanupPage({ application, environment }: InEnvironment) {
  const path = resource('applications', application, 'cleanup');
  const { data, error } = usePoll<Cleanup>(path, everyMs);
  if (data === undefined) return <Pending error={error} />;
  return (
    <div class="stack">
      <header class="head">
        <h1>{formatTitle(data.total)}</h1>
        <p class="quiet">
          The <Help to="semantics#the-verdict">verdicts</Help> cover all environments. Computed {format.time(data.at)}.
        </p>
      </header>
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
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { items, total } = data;
  const selected = items.filter(({ feature }) => chosen.value.has(feature));
  const choose = (feature: string, isChosen: boolean) => {
    const next = new Set(chosen.value);
    if (isChosen) next.add(feature);
    else next.delete(feature);
    chosen.value = next;
  };
  if (items.length === 0)
    return (
      <p class="empty">
        A flag appears here when no sender checks it any more, or when everyone has had the same variant for a while.
      </p>
    );
  const shown = selected.length === 0 ? items : selected;
  return (
    <>
      <Tools
        path={path}
        data={data}
        shown={shown}
        hasSelection={selected.length > 0}
        onAll={(all) => (chosen.value = new Set(all ? items.map(({ feature }) => feature) : []))}
      />
      {items.map((item) => (
        <Item
          key={item.feature}
          item={item}
          place={place}
          chosen={chosen.value.has(item.feature)}
          onChoose={(isChosen) => choose(item.feature, isChosen)}
        />
      ))}
      {total > items.length && <p class="quiet">{plural(total - items.length, 'more flag')} can be removed.</p>}
    </>
  );
}

interface ToolsProps {
  readonly path: string;
  readonly data: Cleanup;
  readonly shown: readonly CleanupItem[];
  readonly hasSelection: boolean;
  readonly onAll: (all: boolean) => void;
}

/** Buttons that select flags, and that copy or save the server's text about the selected flags. */
function Tools({ path, data, shown, hasSelection, onAll }: ToolsProps) {
  const isAll = shown.length === data.items.length;
  const feature = shown.map((item) => item.feature);
  const selection = usePoll<Cleanup>(isAll ? undefined : withQuery(path, { feature }), undefined);
  const text = (isAll ? data : selection.data)?.pullRequest;
  const what = shown.length === 1 ? '1 flag' : `${shown.length} flags`;
  return (
    <div class="actions">
      <label>
        <input
          type="checkbox"
          checked={hasSelection && isAll}
          onChange={(event) => onAll(event.currentTarget.checked)}
        />{' '}
        Select all
      </label>
      {text && <CopyButton label={`Copy pull-request text for ${what}`} text={() => `${text.title}\n\n${text.body}`} />}
      <ExportMenu
        of="Clean-up"
        items={[
          { label: 'CSV', onSelect: () => downloadCsv('clean-up', formatCsv(shown)) },
          ...(text ? [{ label: 'Markdown', onSelect: () => saveText(text) }] : []),
        ]}
      />
    </div>
  );
}

function saveText({ title, body }: NonNullable<Cleanup['pullRequest']>): void {
  download('clean-up', 'md', new Blob([`# ${title}\n\n${body}`]));
}

const titles = ['Flag', 'Verdict', 'Since', 'Variant', 'Owners', 'Tags', 'Next step', 'Code', 'Evidence'];

function formatCsv(items: readonly CleanupItem[]): string {
  return toCsv(
    titles,
    items.map((item) => [
      ...[item.feature, states[item.verdict], item.since, item.variant],
      ...[item.owners.map(({ name }) => name).join(', '), item.tags.join(', '), item.nextText],
      item.code
        .flatMap(({ repository, references }) => references.map(({ path, line }) => `${repository} ${path}:${line}`))
        .join(', '),
      item.reasons.map(({ text }) => text).join(' '),
    ]),
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
          { key: 'verdict', title: 'Verdict', value: ({ verdict }) => states[verdict] },
          {
            key: 'why',
            title: 'Why',
            value: ({ why }) => (why.at === null ? why.text : why.text.replace(why.at, format.time(why.at))),
          },
          { key: 'owners', title: 'Owners', value: ({ owners }) => owners.map(({ name }) => name).join(', ') },
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
  readonly chosen: boolean;
  readonly onChoose: (chosen: boolean) => void;
}

function Item({ item, place, chosen, onChoose }: ItemProps) {
  const { query } = useQuery();
  const { feature, reasons, owners, ownersFrom, code, nextText, pullRequest, declared } = item;
  return (
    <article class="panel cleanup-item" aria-label={feature}>
      <header>
        <input
          type="checkbox"
          aria-label={`Select ${feature}`}
          checked={chosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <h2>
          <a href={featureAddress({ ...place, name: feature }, query)}>{feature}</a>
        </h2>
        <span class="pill">{whyGoes(item)}</span>
        {!declared && <span class="pill warn">unknown flag</span>}
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
        <dt>Owner</dt>
        <dd>
          {owners.length === 0 ? 'none' : owners.map(({ name }) => name).join(', ')}
          {ownersFrom === 'codeowners' && <span class="quiet"> by CODEOWNERS</span>}
        </dd>
        <dt>Code</dt>
        <dd>
          {code.length === 0 ? <span class="quiet">No code scan was uploaded.</span> : <CodePlaces code={code} />}
        </dd>
        <dt>Next step</dt>
        <dd>{nextText}</dd>
      </dl>
      <details>
        <summary>Pull-request text</summary>
        <p>
          <strong>{pullRequest.title}</strong> <CopyButton text={pullRequest.title} title="Copy title" />
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
        <section tabIndex={0} aria-label={`Text for ${feature}`}>
          <pre>{pullRequest.body}</pre>
        </section>
        <CopyButton text={pullRequest.body} label="Copy text" />
      </details>
    </article>
  );
}

function whyGoes({ variant, since }: CleanupItem): string {
  const from = since === null ? '' : ` since ${format.time(since)}`;
  return variant === null ? `Unused${from}` : `Only ${variant}${from}`;
}

function formatTitle(total: number): string {
  if (total === 0) return 'No flag can be removed';
  return total === 1 ? 'This flag can be removed' : `These ${total} flags can be removed`;
}
