import uPlot from 'uplot';
import type { PlotContent } from './drawing.ts';
import type { Palette } from './palette.ts';
import type { Tone } from './series.ts';

/** Shades the time that is not over yet. */
export function drawUnfinished(u: uPlot, { drawing: { xs, finished } }: PlotContent, palette: Palette): void {
  const from = xs[Math.max(0, finished - 1)];
  if (finished >= xs.length || from === undefined) return;
  const left = u.valToPos(from, 'x', true);
  u.ctx.save();
  u.ctx.fillStyle = palette.raised;
  u.ctx.fillRect(left, u.bbox.top, u.bbox.left + u.bbox.width - left, u.bbox.height);
  u.ctx.restore();
}

/** Draws the part of a series that is not complete, from the last complete bucket on. */
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

/** Draws a line with a head where something happened. */
export function drawMarkers(u: uPlot, { markers, drawing }: PlotContent, palette: Palette): void {
  const { ctx, bbox } = u;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = palette.quiet;
  ctx.fillStyle = palette.quiet;
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  for (const { at } of markers) {
    if (at < drawing.xs[0]! || at > drawing.xs.at(-1)!) continue;
    const x = Math.round(u.valToPos(at, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 5 * ratio, bbox.top - 9 * ratio);
    ctx.lineTo(x + 5 * ratio, bbox.top - 9 * ratio);
    ctx.lineTo(x, bbox.top);
    ctx.fill();
  }
  ctx.restore();
}
