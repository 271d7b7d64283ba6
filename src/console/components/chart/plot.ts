import uPlot from 'uplot';
import type { ChartData } from './announcement.ts';
import { axes, bands, drawTail, drawUnfinished, line, onThemeChange, type Palette, readPalette } from './look.ts';
import { drawMarkers } from './markers.tsx';
import {
  bucketsWithin,
  type ChartKind,
  computeTicks,
  createDrawing,
  type Drawing,
  type PlotContent,
  sameDrawing,
} from './series.ts';

interface PlotOptions {
  readonly kind: ChartKind;
  readonly height: number;
  readonly onPoint?: (index: number | undefined) => void;
  /** Receives a range that was selected by dragging. */
  readonly onDrag?: (first: number, last: number) => void;
}

export class Plot {
  readonly #element: HTMLElement;
  readonly #options: PlotOptions;
  readonly #chart: uPlot;
  readonly #size: ResizeObserver;
  readonly #stopTheme: () => void;
  #content: PlotContent;
  #palette: Palette;

  constructor(element: HTMLElement, of: ChartData, options: PlotOptions) {
    this.#element = element;
    this.#options = options;
    this.#content = createContent(of, options.kind);
    this.#palette = readPalette(element);
    this.#chart = new uPlot(this.#describe(of), alignData(this.#content.drawing), element);
    this.#listen();
    this.#size = new ResizeObserver(() => this.#fit());
    this.#size.observe(element);
    this.#stopTheme = onThemeChange(() => {
      this.#palette = readPalette(element);
      this.#fit();
      this.#chart.redraw(false);
    });
  }

  get width(): number {
    return this.#chart.width;
  }

  findLeft(index: number): number {
    return this.#findX(index) + this.#chart.over.offsetLeft;
  }

  show(of: ChartData): void {
    const last = this.#content;
    const next = createContent(of, this.#options.kind);
    this.#content = next;
    if (!sameDrawing(last.drawing, next.drawing)) this.#chart.setData(alignData(next.drawing));
    else if (last.markers !== next.markers) this.#chart.redraw(false);
  }

  /** Shows a cursor and a selected range. A range of one bucket is not shown. */
  select(at: number | undefined, range: readonly [number, number] | undefined): void {
    this.#chart.setCursor(at === undefined ? { left: -10, top: -10 } : { left: this.#findX(at), top: 0 });
    const [first, last] = range ?? [0, 0];
    const left = this.#findX(first);
    const height = this.#chart.bbox.height / uPlot.pxRatio;
    this.#chart.setSelect({ left, width: this.#findX(last) - left, top: 0, height }, false);
  }

  destroy(): void {
    this.#stopTheme();
    this.#size.disconnect();
    this.#chart.destroy();
  }

  #describe({ buckets, series, times }: ChartData): uPlot.Options {
    const { height, kind } = this.#options;
    const tones = series.map(({ tone }) => tone);
    const palette = () => this.#palette;
    const isStacked = kind === 'stacked';
    return {
      width: Math.max(this.#element.clientWidth, 1),
      height,
      legend: { show: false },
      padding: [18, 24, 0, 0],
      ...(times.zone === undefined ? {} : { tzDate: (at) => tzDate(at, times.zone!) }),
      scales: {
        x: { range: () => xRange(this.#content) },
        y: { range: () => [0, computeTicks(this.#content.drawing).at(-1)!] },
      },
      axes: axes(times, buckets.width, palette, () => this.#content.drawing),
      series: [
        {},
        ...series.map(({ tone, steps }, index) => ({
          ...line(tone, isStacked && index === 0, palette),
          ...(steps && { paths: stepped }),
        })),
      ],
      bands: isStacked ? bands(tones, palette) : [],
      cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: 5 }, points: { size: 7 } },
      hooks: {
        drawClear: [(u) => drawUnfinished(u, this.#content, this.#palette)],
        drawSeries: [(u, index) => drawTail(u, index, this.#content, this.#palette, tones)],
        draw: [(u) => drawMarkers(u, this.#content, this.#palette, uPlot.pxRatio)],
        setSelect: [(u) => this.#dragged(u)],
      },
    };
  }

  #listen(): void {
    const { over } = this.#chart;
    // The chart can have moved, but uPlot updates its position only after scrolling.
    over.addEventListener('mouseenter', () => this.#chart.syncRect());
    over.addEventListener('mousemove', ({ clientX }) => {
      this.#options.onPoint?.(this.#chart.posToIdx(clientX - over.getBoundingClientRect().left));
    });
    over.addEventListener('mouseleave', () => this.#options.onPoint?.(undefined));
  }

  #dragged(u: uPlot): void {
    const { left, width } = u.select;
    const from = u.posToVal(left, 'x');
    const to = u.posToVal(left + width, 'x');
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#options.onDrag?.(...bucketsWithin(this.#content.buckets, from, to));
  }

  #fit(): void {
    const width = this.#element.clientWidth;
    if (width > 0 && width !== this.#chart.width) this.#chart.setSize({ width, height: this.#options.height });
  }

  #findX(index: number): number {
    return this.#chart.valToPos(this.#content.drawing.xs[index] ?? 0, 'x');
  }
}

function createContent({ buckets, series, markers, unfinishedFrom }: ChartData, kind: ChartKind): PlotContent {
  return { buckets, markers, drawing: createDrawing(buckets, series, kind, unfinishedFrom) };
}

const stepped = uPlot.paths.stepped!({ align: 1 });

/** Returns a date whose local fields are in a time zone, for uPlot. uPlot knows `UTC` only as `Etc/UTC`. */
function tzDate(at: number, zone: string): Date {
  return uPlot.tzDate(new Date(at * 1000), zone === 'UTC' ? 'Etc/UTC' : zone);
}

/** Omits incomplete buckets: `drawTail` draws them. */
function alignData({ xs, heights, finished }: Drawing): uPlot.AlignedData {
  return [xs, ...heights.map((values) => values.map((value, index) => (index < finished ? value : null)))];
}

/** Centres a single bucket. */
function xRange({ buckets, drawing: { xs } }: PlotContent): [number, number] {
  const from = xs[0] ?? 0;
  const to = xs.at(-1) ?? from;
  return from === to ? [from - buckets.width / 2, to + buckets.width / 2] : [from, to];
}
