import { format } from '../../text/format.ts';
import { download } from '../download.ts';
import type { ChartData } from './announcement.ts';
import { type Palette, readPalette } from './look.ts';
import { Plot } from './plot.ts';
import { bucketStart, type ChartKind, dashes } from './series.ts';

interface Picture {
  readonly title: string;
  readonly name: string;
  readonly of: ChartData;
  readonly kind: Exclude<ChartKind, 'table'>;
}

const width = 960;
const plotHeight = 320;
const margin = 24;
const line = 22;
const font = 'system-ui, sans-serif';

/** Saves a chart as a PNG image on a light background, with its title, range, legend and axes. */
export async function savePicture(picture: Picture): Promise<void> {
  const canvas = await inLightTheme(() => drawPicture(picture));
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob === null) throw new Error('The browser cannot make an image of this chart');
  download(picture.name, 'png', blob);
}

/** Draws in the light theme. The reader does not see the change of theme if `draw` waits for microtasks only. */
async function inLightTheme<T>(draw: () => Promise<T>): Promise<T> {
  const { dataset } = document.documentElement;
  const { theme } = dataset;
  dataset['theme'] = 'light';
  try {
    return await draw();
  } finally {
    if (theme === undefined) delete dataset['theme'];
    else dataset['theme'] = theme;
  }
}

/** Maximum number of microtasks until a new chart is drawn. */
const drawnWithin = 8;

async function drawPicture(picture: Picture): Promise<HTMLCanvasElement> {
  const host = document.createElement('div');
  host.className = 'chart-picture';
  document.body.append(host);
  const plot = new Plot(host, picture.of, { kind: picture.kind, height: plotHeight });
  try {
    for (let microtask = 0; microtask < drawnWithin; microtask += 1) await undefined;
    return compose(picture, host.querySelector('canvas')!, readPalette(host));
  } finally {
    plot.destroy();
    host.remove();
  }
}

function compose({ title, of }: Picture, plot: HTMLCanvasElement, palette: Palette): HTMLCanvasElement {
  const { buckets, series, times } = of;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d')!;
  const rows = legendRows(series, context);
  const ratio = plot.width / width;
  const top = margin + 2 * line + rows.length * line;
  canvas.width = (width + 2 * margin) * ratio;
  canvas.height = (top + plotHeight + margin) * ratio;
  context.scale(ratio, ratio);
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = 'black';
  context.font = `600 17px ${font}`;
  context.fillText(title, margin, margin + 12, width);
  context.fillStyle = palette.quiet;
  context.font = `13px ${font}`;
  const range = times.span(bucketStart(buckets, 0), bucketStart(buckets, buckets.count));
  context.fillText(`${range} · ${times.zone ?? format.zone}`, margin, margin + 12 + line, width);
  for (const [index, row] of rows.entries())
    for (const { left, at } of row) {
      const { label, tone } = series[at]!;
      const y = margin + 8 + (index + 2) * line;
      context.strokeStyle = palette.series(tone);
      context.lineWidth = 3;
      context.setLineDash([...dashes[tone]]);
      context.beginPath();
      context.moveTo(margin + left, y);
      context.lineTo(margin + left + swatch, y);
      context.stroke();
      context.fillStyle = 'black';
      context.fillText(label, margin + left + swatch + 6, y + 4, width - left - swatch);
    }
  context.drawImage(plot, margin, top, width, plotHeight);
  return canvas;
}

const swatch = 26;

function legendRows(series: ChartData['series'], context: CanvasRenderingContext2D): { left: number; at: number }[][] {
  context.font = `13px ${font}`;
  const rows: { left: number; at: number }[][] = [[]];
  let left = 0;
  for (const [at, { label }] of series.entries()) {
    const space = swatch + 22 + context.measureText(label).width;
    if (left > 0 && left + space > width) {
      rows.push([]);
      left = 0;
    }
    rows.at(-1)!.push({ left, at });
    left += space;
  }
  return rows;
}
