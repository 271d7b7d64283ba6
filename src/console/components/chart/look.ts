import uPlot from 'uplot';
import { format } from '../../text/format.ts';
import { type ChartTimes, tickDistances } from './announcement.ts';
import { computeTicks, type Drawing, dashes, type PlotContent, type Tone, tones } from './series.ts';

const font = '12px system-ui, sans-serif';

/** Colours in a format that a canvas accepts. */
export interface Palette {
  series(tone: Tone): string;
  readonly line: string;
  readonly quiet: string;
  readonly raised: string;
}

export function readPalette(element: HTMLElement): Palette {
  const probe = document.createElement('i');
  element.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const series = new Map(tones.map((tone) => [tone, read(`series-${tone}`)]));
  const line = read('line');
  const quiet = read('quiet');
  const raised = read('raised');
  probe.remove();
  return { series: (tone) => series.get(tone)!, line, quiet, raised };
}

/** Calls `changed` when the theme of the system or of the page changes. @returns a function that stops the calls */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const page = new MutationObserver(changed);
  system.addEventListener('change', changed);
  page.observe(document.documentElement, { attributes: true });
  return () => {
    system.removeEventListener('change', changed);
    page.disconnect();
  };
}

/** Returns the options of uPlot for a series. If `filled`, the area between the line and the axis is filled. */
export function line(tone: Tone, filled: boolean, palette: () => Palette): uPlot.Series {
  return {
    ...(filled ? { fill: () => faded(palette().series(tone)) } : {}),
    stroke: () => palette().series(tone),
    width: 2,
    dash: [...dashes[tone]],
    points: { size: 6, dash: [], fill: () => palette().series(tone) },
  };
}

/** Returns the fills between stacked series. The lowest series has its own fill. */
export function bands(tones: readonly Tone[], palette: () => Palette): uPlot.Band[] {
  const filled = tones.filter((tone) => tone !== 'past');
  return filled
    .slice(1)
    .map((tone, index) => ({ series: [index + 2, index + 1], fill: () => faded(palette().series(tone)) }));
}

function faded(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.28)');
}

/** Returns the axes of times and of figures. @param width of a bucket, seconds */
export function axes(times: ChartTimes, width: number, palette: () => Palette, drawing: () => Drawing): uPlot.Axis[] {
  const common: uPlot.Axis = {
    font,
    stroke: () => palette().quiet,
    grid: { stroke: () => palette().line, width: 1 },
    ticks: { show: false },
  };
  return [
    {
      ...common,
      space: 70,
      size: 30,
      grid: { show: false },
      incrs: tickDistances(width),
      values: (_, splits, __, ___, increment) => splits.map((at) => times.tick(at, increment)),
    },
    { ...common, size: 52, splits: () => computeTicks(drawing()), values: (_, splits) => splits.map(format.tick) },
  ];
}

/** Shades the part of the chart with incomplete buckets. */
export function drawUnfinished(u: uPlot, { drawing: { xs, finished } }: PlotContent, palette: Palette): void {
  const from = xs[Math.max(0, finished - 1)];
  if (finished >= xs.length || from === undefined) return;
  const left = u.valToPos(from, 'x', true);
  u.ctx.save();
  u.ctx.fillStyle = palette.raised;
  u.ctx.fillRect(left, u.bbox.top, u.bbox.left + u.bbox.width - left, u.bbox.height);
  u.ctx.restore();
}

/** Draws the incomplete part of a series, from its last complete bucket to the end. */
export function drawTail(
  u: uPlot,
  index: number,
  { drawing: { xs, heights, finished } }: PlotContent,
  palette: Palette,
  tones: readonly Tone[],
): void {
  const values = heights[index - 1];
  const tone = tones[index - 1];
  if (values === undefined || tone === undefined || finished >= xs.length) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = palette.series(tone);
  ctx.fillStyle = ctx.strokeStyle;
  ctx.lineWidth = 2 * uPlot.pxRatio;
  ctx.setLineDash([2 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
  ctx.beginPath();
  for (let i = Math.max(0, finished - 1); i < xs.length; i++)
    ctx.lineTo(u.valToPos(xs[i]!, 'x', true), u.valToPos(values[i]!, 'y', true));
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(u.valToPos(xs.at(-1)!, 'x', true), u.valToPos(values.at(-1)!, 'y', true), 3 * uPlot.pxRatio, 0, 7);
  ctx.fill();
  ctx.restore();
}
