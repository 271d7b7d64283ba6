/*
 * src/console/parts/chart: figures over time, drawn by uPlot. chart.tsx puts the parts together; plot.ts draws; drawing.ts,
 * cursor.ts, times.ts and announcement.ts are what it comes to without a page.
 */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { downloadCsv } from '../csv.ts';
import type { Described } from './announcement.ts';
import { Figures } from './figures.tsx';
import { figuresCsv } from './figures-csv.ts';
import { Legend } from './legend.tsx';
import { Plotted } from './plotted.tsx';
import type { Buckets, ChartKind, ChartSeries, Marker } from './series.ts';
import { chartTimes } from './times.ts';

export interface ChartProps {
  /** What is drawn, such as "Checks by variant". */
  readonly title: string;
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  /** The first bucket that is still being filled. */
  readonly unfinishedFrom?: number | undefined;
  readonly markers?: readonly Marker[];
  /** A range was chosen, Unix seconds: whole buckets. */
  readonly onZoom?: (from: number, to: number) => void;
  /** Of figures; those of the axis are always short. @default whole numbers in the reader's locale */
  readonly format?: (value: number) => string;
  /** Name of the CSV file of its figures; without it the chart offers none. */
  readonly csv?: string;
  /** px @default 260 */
  readonly height?: number;
}

const noMarkers: readonly Marker[] = [];
const full = new Intl.NumberFormat();
const wholeNumber = (value: number) => full.format(value);

/** A chart with its legend, a cursor for pointer and keyboard, and a table of the same figures. */
export function Chart(props: ChartProps) {
  const { title, buckets, series, kind, unfinishedFrom, markers = noMarkers, format = wholeNumber } = props;
  const { height = 260, onZoom, csv } = props;
  const { start, width, count } = buckets;
  const times = useMemo(() => chartTimes(width), [width]);
  const of: Described = useMemo(
    () => ({ buckets: { start, width, count }, series, markers, unfinishedFrom, times, format }),
    [start, width, count, series, markers, unfinishedFrom, times, format],
  );
  const unfinished = unfinishedFrom !== undefined && unfinishedFrom < count;
  return (
    <figure class="chart">
      <figcaption class="chart-caption">
        <Legend series={series} unfinished={unfinished} />
        {times.zone && <span class="quiet">Days are UTC days</span>}
      </figcaption>
      {kind !== 'table' && <Plotted title={title} of={of} kind={kind} height={height} onZoom={onZoom} />}
      <div class="chart-foot">
        {kind === 'table' ? <Figures caption={title} of={of} /> : <Behind title={title} of={of} />}
        {csv !== undefined && (
          <button
            type="button"
            class="csv"
            aria-label={`CSV: ${title}`}
            onClick={() => downloadCsv(csv, figuresCsv(of))}
          >
            CSV
          </button>
        )}
      </div>
    </figure>
  );
}

/** The same figures as a table, made when it is asked for. */
function Behind({ title, of }: { readonly title: string; readonly of: Described }) {
  const open = useSignal(false);
  return (
    <details
      class="chart-behind"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>Show as a table</summary>
      {open.value && <Figures caption={title} of={of} />}
    </details>
  );
}
