/*
 * src/console/parts/chart: figures over time, drawn by uPlot. chart.tsx assembles a chart, plot.ts draws it, and look.ts has its
 * colours, axes and marks. drawing.ts, cursor.ts, times.ts and announcement.ts compute without a page.
 */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { messageOf } from '../../api/problem.ts';
import { format as formats } from '../../text/format.ts';
import { announce } from '../announce.tsx';
import { downloadCsv } from '../csv.ts';
import { Menu } from '../menu.tsx';
import { type Described, figuresCsv } from './announcement.ts';
import { Figures, Legend } from './figures.tsx';
import { MarkerList } from './markers.tsx';
import { Plotted } from './plotted.tsx';
import type { Buckets, ChartKind, ChartSeries, Marker } from './series.ts';
import { chartTimes, daySeconds, perBucket } from './times.ts';

interface ChartProps {
  /** Subject of the chart, such as "Checks by variant". The width of a bucket is added. */
  readonly title: string;
  /** True if the figures are levels or rates, which are not per bucket. */
  readonly levels?: boolean;
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  /** Index of the first bucket that is not complete. */
  readonly unfinishedFrom?: number | undefined;
  readonly markers?: readonly Marker[];
  /** Receives a selected range of whole buckets, Unix ms. */
  readonly onZoom?: (from: number, to: number) => void;
  /** Format of the figures, but not of the axis, whose numbers are always short. */
  readonly format?: (value: number) => string;
  /** Name of the files that it is saved to; by default its title. */
  readonly csv?: string;
  /** px @default 260 */
  readonly height?: number;
}

const noMarkers: readonly Marker[] = [];

/** A chart with its legend, a cursor for pointer and keyboard, and a table of the same figures. */
export function Chart(props: ChartProps) {
  const { buckets, series, kind, unfinishedFrom, markers = noMarkers, format = formats.full } = props;
  const { height = 260, onZoom, csv = props.title, levels = false } = props;
  const { start, width, count, starts, utc } = buckets;
  const title = levels
    ? props.title
    : `${props.title}${props.title.includes(' ') ? ',' : ''} ${perBucket(width)}`;
  // Days without starts are UTC days.
  const zone = utc || (width >= daySeconds && starts === undefined) ? 'UTC' : formats.zone;
  const times = useMemo(() => chartTimes(width, zone), [width, zone]);
  const of: Described = useMemo(
    () => ({ buckets: { start, width, count, starts }, series, markers, unfinishedFrom, times, format }),
    [start, width, count, starts?.join(), series, markers, unfinishedFrom, times, format],
  );
  const unfinished = unfinishedFrom !== undefined && unfinishedFrom < count;
  return (
    <figure class="chart">
      <figcaption class="chart-caption">
        <strong class="chart-title">{title}</strong>
        {series.length > 1 || unfinished ? <Legend series={series} unfinished={unfinished} /> : null}
        {width >= daySeconds && zone === 'UTC' && formats.zone !== 'UTC' && (
          <span class="quiet">Days are UTC days</span>
        )}
      </figcaption>
      {kind !== 'table' && <Plotted title={title} of={of} kind={kind} height={height} onZoom={onZoom} />}
      <MarkerList buckets={of.buckets} markers={markers} />
      <div class="chart-foot">
        {kind === 'table' ? <Figures caption={title} of={of} /> : <Folded title={title} of={of} />}
        <SaveMenu title={title} name={csv} of={of} kind={kind} />
      </div>
    </figure>
  );
}

/** The table of a drawn chart, rendered once it is opened. */
function Folded({ title, of }: { readonly title: string; readonly of: Described }) {
  const open = useSignal(false);
  return (
    <details class="chart-folded" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {open.value && <Figures caption={title} of={of} />}
    </details>
  );
}

interface SaveMenuProps {
  readonly title: string;
  /** Name of the files. */
  readonly name: string;
  readonly of: Described;
  readonly kind: ChartKind;
}

/** Saves a chart as a table or as an image. */
function SaveMenu({ title, name, of, kind }: SaveMenuProps) {
  async function savePng(drawn: Exclude<ChartKind, 'table'>) {
    try {
      const { savePicture } = await import('./picture.ts');
      await savePicture({ title, name, of, kind: drawn });
    } catch (error) {
      announce(messageOf(error));
    }
  }
  const saveCsv = () => {
    const { markers, ...figures } = of;
    downloadCsv(name, figuresCsv(markers.length > 0 ? of : figures));
  };
  const csv = { label: 'CSV, a table', onSelect: saveCsv };
  const png = kind === 'table' ? [] : [{ label: 'PNG, an image', onSelect: () => void savePng(kind) }];
  return <Menu label="Download" title={`Download: ${title}`} items={[csv, ...png]} end />;
}
