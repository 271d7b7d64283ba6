import { format } from '../../format.ts';
import { Menu } from '../../parts/menu.tsx';
import type { Column } from '../../parts/table.tsx';
import { quantity } from './quantity.ts';
import { figureOf, type Grid, latest, type MetricRow, trendOf } from './rows.ts';
import { Sparkline } from './sparkline.tsx';

/** What the table draws with, and what its buttons do. */
interface Actions {
  readonly grid: Grid;
  readonly chosen: MetricRow | undefined;
  readonly open: (row: MetricRow) => void;
  readonly declare: (row: MetricRow) => void;
  readonly undeclare: (row: MetricRow) => void;
}

/** The columns of the metrics. */
export function columnsOf({ grid, chosen, open, declare, undeclare }: Actions): Column<MetricRow>[] {
  return [
    {
      key: 'name',
      title: 'Metric',
      value: ({ name }) => name,
      cell: (row) => (
        <button type="button" class="metrics-name" aria-pressed={row === chosen} onClick={() => open(row)}>
          {row.name}
        </button>
      ),
    },
    { key: 'feature', title: 'Flag', value: ({ feature }) => feature },
    {
      key: 'kind',
      title: 'Kind',
      value: ({ kind }) => kind,
      cell: ({ kind, declared }) => (declared ? kind : <span class="quiet">{kind}, not declared</span>),
    },
    { key: 'trend', title: 'Trend', cell: (row) => <Sparkline values={trendOf(row, grid)} /> },
    {
      key: 'value',
      title: 'In this range',
      number: true,
      value: figureOf,
      cell: (row) => quantity(figureOf(row), undefined),
    },
    { key: 'unit', title: 'Unit', value: ({ unit }) => unit },
    {
      key: 'last',
      title: 'Last measured',
      value: ({ series }) => latest(series)?.lastAt,
      cell: ({ series }) => {
        const at = latest(series)?.lastAt;
        return at === undefined ? '–' : <time dateTime={at}>{format.time(at)}</time>;
      },
    },
    {
      key: 'actions',
      title: 'Actions',
      cell: (row) => (
        <Menu
          label="Change"
          title={`Change ${row.name}`}
          end
          items={[
            { label: row.declared ? 'Kind and unit' : 'Declare', onSelect: () => declare(row) },
            ...(row.declared ? [{ label: 'Undeclare', onSelect: () => undeclare(row) }] : []),
          ]}
        />
      ),
    },
  ];
}
