import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { format } from '../../text/format.ts';
import { type Described, spoken } from './announcement.ts';
import { afterKey, type ChartCursor, nowhere, selected, spanOf } from './cursor.ts';
import { drawingOf } from './drawing.ts';
import { Tooltip } from './figures.tsx';
import { markersText, nextMarked } from './markers.tsx';
import { Plot } from './plot.ts';
import type { ChartKind } from './series.ts';

interface PlottedProps {
  readonly title: string;
  readonly of: Described;
  readonly kind: ChartKind;
  readonly height: number;
  readonly onZoom: ((from: number, to: number) => void) | undefined;
}

/** The drawn part of a chart, with its cursor. */
export function Plotted(props: PlottedProps) {
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
    onZoom?.(...spanOf(of.buckets, first, last));
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
        <div ref={element} />
        <Pointed of={of} cursor={cursor} plot={plot} />
      </div>
      <p id={hint} class="hidden">
        Arrow keys move from bucket to bucket, Home and End to the first and last. Shift and arrows select a
        range, Enter zooms in, Escape clears. {markersText(of.buckets, of.markers)}
      </p>
      <p class="hidden" aria-live="polite">
        {said}
      </p>
    </>
  );
}

/** The cursor after a key; `undefined` for a key without a meaning here. */
function cursorAfter(
  { buckets, markers }: Described,
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

/** Creates the plot, and updates it when figures change. */
function usePlot({ of, kind, height }: PlottedProps, handlers: Handlers) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const latest = useRef(handlers);
  latest.current = handlers;
  const { buckets, series, markers, unfinishedFrom, times } = of;
  const drawing = () => drawingOf(buckets, series, kind, unfinishedFrom);
  const tones = series.map(({ tone }) => tone);

  useEffect(() => {
    const made = new Plot(
      element.current!,
      {
        kind,
        tones,
        steps: series.map(({ steps = false }) => steps),
        height,
        times,
        width: buckets.width,
        format: format.tick,
        onPoint: (index) => latest.current.point(index),
        onDrag: (first, last) => latest.current.zoom(first, last),
      },
      { buckets, markers, drawing: drawing() },
    );
    plot.current = made;
    return () => made.destroy();
  }, [kind, tones.join(), times, height]);

  useEffect(() => {
    plot.current?.show({ buckets, markers, drawing: drawing() });
  }, [buckets, markers, series, kind, unfinishedFrom]);

  return { element, plot };
}

interface PointedProps {
  readonly of: Described;
  readonly cursor: Signal<ChartCursor>;
  readonly plot: { readonly current: Plot | undefined };
}

/** The tooltip at the cursor. Nothing else is rendered when the cursor moves. */
function Pointed({ of, cursor, plot }: PointedProps) {
  const { at } = cursor.value;
  if (at === undefined || at >= of.buckets.count || plot.current === undefined) return null;
  return <Tooltip of={of} index={at} left={plot.current.leftOf(at)} width={plot.current.width} />;
}
