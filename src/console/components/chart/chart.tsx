/*
 * src/console/components/chart: figures over time, drawn by uPlot. chart.tsx assembles a chart, plot.ts draws it, and
 * look.ts has its colours, axes and marks. series.ts and announcement.ts contain computations that need no page.
 */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { describeError } from '../../api/problem.ts';
import { format as formats } from '../../text/format.ts';
import { announce } from '../announce.tsx';
import { downloadCsv } from '../download.ts';
import { ExportMenu } from '../export-menu.tsx';
import { bucketText, type ChartData, chartTimes, daySeconds, figuresCsv, perBucket, spoken } from './announcement.ts';
import { MarkerList, markersText, nextMarked } from './markers.tsx';
import { Plot } from './plot.ts';
import {
  afterKey,
  type Buckets,
  bucketSpan,
  type ChartCursor,
  type ChartKind,
  type ChartSeries,
  dashes,
  type Marker,
  nowhere,
  selected,
  type Tone,
} from './series.ts';

interface ChartProps {
  /** Subject of the chart, such as "Checks by variant". The chart adds the width of a bucket. */
  readonly title: string;
  /** True if the figures are levels or rates, and therefore not counts per bucket. */
  readonly levels?: boolean;
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  /** Index of the first bucket that is not complete. */
  readonly unfinishedFrom?: number | undefined;
  readonly markers?: readonly Marker[];
  /** Receives a selected range of whole buckets, Unix ms. */
  readonly onZoom?: (from: number, to: number) => void;
  /** Format of the figures. The numbers of the axis always have a short format. */
  readonly format?: (value: number) => string;
  /** Name of the saved files; by default the title. */
  readonly csv?: string;
  /** Height in px, reserved on the page before the chart is drawn @default 260 */
  readonly height?: number;
}

const noMarkers: readonly Marker[] = [];

/** A chart with its legend, a cursor for pointer and keyboard, and a table of the same figures. */
export function Chart(props: ChartProps) {
  const { buckets, series, kind, unfinishedFrom, markers = noMarkers, format = formats.full } = props;
  const { height = 260, onZoom, csv = props.title, levels = false } = props;
  const { start, width, count, starts, utc } = buckets;
  const title = levels ? props.title : `${props.title}${props.title.includes(' ') ? ',' : ''} ${perBucket(width)}`;
  // Buckets of a day are UTC days, unless their starts are listed.
  const zone = utc || (width >= daySeconds && starts === undefined) ? 'UTC' : formats.zone;
  const times = useMemo(() => chartTimes(width, zone), [width, zone]);
  const of: ChartData = useMemo(
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
      <div class="chart-foot">
        {kind === 'table' ? <Figures caption={title} of={of} /> : <Folded title={title} of={of} />}
        {kind !== 'table' && <MarkerList buckets={of.buckets} markers={markers} />}
        <ChartExport title={title} name={csv} of={of} kind={kind} />
      </div>
    </figure>
  );
}

/** The table of the figures, rendered when it is first opened. */
function Folded({ title, of }: { readonly title: string; readonly of: ChartData }) {
  const open = useSignal(false);
  return (
    <details class="chart-folded" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open.value && <Figures caption={title} of={of} />}
    </details>
  );
}

interface ChartExportProps {
  readonly title: string;
  readonly name: string;
  readonly of: ChartData;
  readonly kind: ChartKind;
}

function ChartExport({ title, name, of, kind }: ChartExportProps) {
  async function savePng(drawn: Exclude<ChartKind, 'table'>) {
    try {
      const { savePicture } = await import('./picture.ts');
      await savePicture({ title, name, of, kind: drawn });
    } catch (error) {
      announce(describeError(error));
    }
  }
  const saveCsv = () => {
    const { markers, ...figures } = of;
    downloadCsv(name, figuresCsv(markers.length > 0 ? of : figures));
  };
  const csv = { label: 'CSV, a table', onSelect: saveCsv };
  const png = kind === 'table' ? [] : [{ label: 'PNG, an image', onSelect: () => void savePng(kind) }];
  return <ExportMenu of={title} items={[csv, ...png]} />;
}

function Legend({ series, unfinished }: { series: readonly ChartSeries[]; unfinished: boolean }) {
  return (
    <ul class="plain-list chart-legend">
      {series.map(({ label, tone }) => (
        <li key={label}>
          <Swatch tone={tone} />
          {label}
        </li>
      ))}
      {unfinished && <li class="quiet">╌ so far: not complete yet</li>}
    </ul>
  );
}

export function Swatch({ tone }: { readonly tone: Tone }) {
  return (
    <svg class={`chart-swatch tone-${tone}`} width="26" height="8" aria-hidden="true">
      <line x1="1" y1="4" x2="25" y2="4" stroke-dasharray={dashes[tone].join(' ')} />
    </svg>
  );
}

interface TooltipProps {
  readonly of: ChartData;
  readonly index: number;
  readonly left: number;
  readonly width: number;
}

function Tooltip({ of, index, left, width }: TooltipProps) {
  const { when, values, markers } = bucketText(of, index);
  const place = left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` };
  return (
    <div class="chart-tooltip" style={place} aria-hidden="true">
      <strong>{when}</strong>
      <table>
        <tbody>
          {values.map(({ series, value }) => (
            <tr key={series.label}>
              <th scope="row">
                <Swatch tone={series.tone} /> {series.label}
              </th>
              <td class="number">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {markers.map((label) => (
        <div key={label}>▾ {label}</div>
      ))}
    </div>
  );
}

function Figures({ caption, of }: { readonly caption: string; readonly of: ChartData }) {
  const rows = useMemo(
    () => Array.from({ length: of.buckets.count }, (_, index) => bucketText(of, index)).reverse(),
    [of],
  );
  const marked = of.markers.length > 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard
    <section class="chart-figures" tabIndex={0} aria-label={`Table: ${caption}`}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {of.series.map(({ label }) => (
              <th scope="col" class="number" key={label}>
                {label}
              </th>
            ))}
            {marked && <th scope="col">What happened</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ start, when, values, markers }) => (
            <tr key={start}>
              <th scope="row">{when}</th>
              {values.map(({ series, value }) => (
                <td class="number" key={series.label}>
                  {value}
                </td>
              ))}
              {marked && <td>{markers.join(', ')}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface PlottedProps {
  readonly title: string;
  readonly of: ChartData;
  readonly kind: ChartKind;
  readonly height: number;
  readonly onZoom: ((from: number, to: number) => void) | undefined;
}

function Plotted(props: PlottedProps) {
  const { title, of, onZoom } = props;
  const cursor = useSignal<ChartCursor>(nowhere);
  const said = useSignal('');
  const hint = useId();

  function move(next: ChartCursor): void {
    cursor.value = next;
    const range = selected(next);
    plot.current?.select(next.at, range);
    said.value = range === undefined ? '' : spoken(of, ...range);
  }

  function zoom(first: number, last: number): void {
    move(nowhere);
    onZoom?.(...bucketSpan(of.buckets, first, last));
  }

  function keyDown(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const range = selected(cursor.value);
    const next = cursorAfter(of, cursor.value, event);
    if (event.key === 'Enter' && range !== undefined) zoom(...range);
    else if (next !== undefined) move(next);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function point(index: number | undefined): void {
    if (cursor.value.anchor === undefined) cursor.value = { at: index, anchor: undefined };
  }

  const { element, plot } = usePlot(props, { point, zoom });
  return (
    <>
      <div
        class="chart-plot"
        role="application"
        aria-roledescription="chart"
        aria-label={title}
        aria-describedby={hint}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a chart has a cursor for the keyboard
        tabIndex={0}
        onKeyDown={keyDown}
        onBlur={() => move(nowhere)}
      >
        <div ref={element} style={{ minHeight: `${props.height}px` }} />
        <Pointed of={of} cursor={cursor} plot={plot} />
      </div>
      <p id={hint} class="hidden">
        Arrow keys move from bucket to bucket, Home and End to the first and last. Shift and arrows select a range,
        Enter zooms in, Escape clears. {markersText(of.buckets, of.markers)}
      </p>
      <p class="hidden" aria-live="polite">
        {said}
      </p>
    </>
  );
}

/** Returns the cursor after a key is pressed; `undefined` if the key does not move the cursor. */
function cursorAfter(
  { buckets, markers }: ChartData,
  cursor: ChartCursor,
  { key, shiftKey }: KeyboardEvent,
): ChartCursor | undefined {
  if (key !== 'm') return afterKey(cursor, key, shiftKey, buckets.count);
  const at = nextMarked(buckets, markers, cursor.at);
  return at === undefined ? undefined : { at, anchor: undefined };
}

interface Handlers {
  readonly point: (index: number | undefined) => void;
  readonly zoom: (first: number, last: number) => void;
}

function usePlot({ of, kind, height }: PlottedProps, handlers: Handlers) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const latest = useRef(handlers);
  latest.current = handlers;
  const { buckets, series, markers, unfinishedFrom, times } = of;
  const tones = series.map(({ tone }) => tone);

  useEffect(() => {
    const made = new Plot(element.current!, of, {
      kind,
      height,
      onPoint: (index) => latest.current.point(index),
      onDrag: (first, last) => latest.current.zoom(first, last),
    });
    plot.current = made;
    return () => made.destroy();
  }, [kind, tones.join(), times, height]);

  useEffect(() => plot.current?.show(of), [buckets, markers, series, kind, unfinishedFrom]);

  return { element, plot };
}

interface PointedProps {
  readonly of: ChartData;
  readonly cursor: Signal<ChartCursor>;
  readonly plot: { readonly current: Plot | undefined };
}

/** The tooltip at the cursor. When the cursor moves, only this component is rendered. */
function Pointed({ of, cursor, plot }: PointedProps) {
  const { at } = cursor.value;
  if (at === undefined || at >= of.buckets.count || plot.current === undefined) return null;
  return <Tooltip of={of} index={at} left={plot.current.findLeft(at)} width={plot.current.width} />;
}
