import { useRef } from 'preact/hooks';
import type { OverviewFeature } from '../../../contract/shapes/overview.ts';
import { useQuery } from '../../address/address.ts';
import { rangeLabel, rangeQuery } from '../../address/range.ts';
import { useAction } from '../../components/action.tsx';
import { announce } from '../../components/announce.tsx';
import type { ChosenRange } from '../../components/choices/range.tsx';
import { copyText } from '../../components/copy.tsx';
import { CloseButton, Dialog, useDialog } from '../../components/dialog.tsx';
import { downloadCsv } from '../../components/download.ts';
import { ExportMenu } from '../../components/export-menu.tsx';
import { OptionList } from '../../components/form/filters.tsx';
import { useKeys } from '../../components/shortcuts.tsx';
import { nextSort, type Sort, sortKey } from '../../components/table/sort.ts';
import { type Column, formatCsv } from '../../components/table/table.tsx';
import { format, plural } from '../../text/format.ts';
import type { Filter } from './rows.ts';
import { countStates, type State, states } from './states.ts';

interface ToolbarProps {
  readonly filter: Filter;
  readonly features: readonly OverviewFeature[];
  readonly found: readonly OverviewFeature[];
  readonly all: readonly Column<OverviewFeature>[];
  readonly columns: readonly Column<OverviewFeature>[];
  readonly sort: Sort;
  readonly range: ChosenRange;
  readonly csv: string;
  readonly complete: () => Promise<void>;
}

export function Toolbar(props: ToolbarProps) {
  const { filter, features, found, all, columns, sort, range, csv, complete } = props;
  const { query, change } = useQuery();
  const isAcross = query['by'] === 'environment';
  const input = useRef<HTMLInputElement>(null);
  useKeys([{ keys: '/', help: 'Search flags', run: () => input.current?.select() }]);
  return (
    <search class="overview-toolbar">
      <input
        ref={input}
        type="search"
        class="overview-search"
        aria-label="Search flags"
        placeholder="Search flags   /"
        value={filter.search}
        onInput={(event) => change({ search: event.currentTarget.value || undefined })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <StateFilter features={features} state={filter.state} isAcross={isAcross} />
      <SortChoice columns={columns} sort={sort} />
      {!isAcross && (
        <span class="quiet" aria-live="polite">
          {found.length === features.length
            ? plural(features.length, 'flag')
            : `${format.full(found.length)} of ${plural(features.length, 'flag')}`}
        </span>
      )}
      <span class="spacer" />
      <button
        type="button"
        aria-pressed={isAcross}
        onClick={() => change({ by: isAcross ? undefined : 'environment', sort: undefined })}
      >
        All environments
      </button>
      {!isAcross && <ColumnsButton all={all} columns={columns} />}
      <Export name={csv} columns={columns} rows={found} range={range} complete={complete} />
    </search>
  );
}

interface StateFilterProps extends Pick<ToolbarProps, 'features'>, Pick<Filter, 'state'> {
  readonly isAcross: boolean;
}

/** The counts are of one environment, so they are hidden while the table shows all environments. */
function StateFilter({ features, state, isAcross }: StateFilterProps) {
  const { change } = useQuery();
  const counts = countStates(features);
  const offered = (Object.keys(states) as State[]).filter((each) => counts.get(each)! > 0 || each === state);
  return (
    <select
      aria-label="State"
      value={state ?? ''}
      onChange={(event) => change({ state: event.currentTarget.value || undefined })}
    >
      <OptionList
        options={[
          ['', 'All states'],
          ...offered.map(
            (each) => [each, isAcross ? states[each] : `${states[each]} (${format.full(counts.get(each)!)})`] as const,
          ),
        ]}
      />
    </select>
  );
}

/** A field for choosing the order on small screens, where column heads are hidden. */
function SortChoice({ columns, sort }: Pick<ToolbarProps, 'columns' | 'sort'>) {
  const { change } = useQuery();
  return (
    <select
      class="overview-sort"
      aria-label="Sort by"
      value={sortKey(sort)}
      onChange={({ currentTarget: { value } }) => {
        const chosen = columns.find(({ key }) => key === value);
        change({ sort: nextSort('', value, chosen?.number === true) });
      }}
    >
      <OptionList
        options={columns
          .filter(({ value }) => value !== undefined)
          .map(({ key, title }) => [key, `By ${title.toLowerCase()}`])}
      />
    </select>
  );
}

function ColumnsButton({ all, columns }: Pick<ToolbarProps, 'all' | 'columns'>) {
  const dialog = useDialog();
  async function choose() {
    const { ColumnsDialog } = await import('./columns-dialog.tsx');
    dialog.open(
      <ColumnsDialog columns={all.slice(1)} shown={columns.slice(1).map(({ key }) => key)} onClose={dialog.close} />,
    );
  }
  return (
    <>
      <button type="button" onClick={() => void choose()}>
        Columns
      </button>
      {dialog.element}
    </>
  );
}

interface ExportProps {
  readonly name: string;
  readonly columns: readonly Column<OverviewFeature>[];
  readonly rows: readonly OverviewFeature[];
  readonly range: ChosenRange;
  readonly complete: () => Promise<void>;
}

/** Saves all rows as a file, or copies the address of the page with fixed times or with a relative range. */
function Export({ name, columns, rows, range: { range, bounds }, complete }: ExportProps) {
  const dialog = useDialog();
  const { refusal, run } = useAction();
  async function save() {
    await complete();
    downloadCsv(name, formatCsv(columns, rows));
  }
  async function copy(change: Readonly<Record<string, string | undefined>>) {
    // The link contains the time zone, because the recipient might prefer another zone.
    const link = linkWith({ ...change, tz: format.zone });
    if (await copyText(link)) announce('Link copied');
    else dialog.open(<LinkDialog link={link} onClose={dialog.close} />);
  }
  const label = 'preset' in range && /\d/.test(range.preset) ? `the last ${rangeLabel(range)}` : rangeLabel(range);
  const moving = { label: `Copy link to ${label.toLowerCase()}`, onSelect: () => void copy(rangeQuery(range)) };
  return (
    <>
      <ExportMenu
        of="Flags"
        items={[
          { label: 'CSV', onSelect: () => run(save, 'File saved') },
          ...('from' in range ? [] : [moving]),
          { label: `Copy link to ${rangeLabel(bounds)}`, onSelect: () => void copy(rangeQuery(bounds)) },
        ]}
      />
      {refusal}
      {dialog.element}
    </>
  );
}

function LinkDialog({ link, onClose }: { readonly link: string; readonly onClose: () => void }) {
  return (
    <Dialog title="Copy this link" onClose={onClose}>
      <input
        class="overview-copy"
        aria-label="Link"
        readOnly
        value={link}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

function linkWith(change: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}
