import type uPlot from 'uplot';
import type { Drawing } from './drawing.ts';
import type { Palette } from './palette.ts';
import { dashes, type Tone } from './series.ts';
import { type ChartTimes, daySeconds } from './times.ts';

const font = '12px system-ui, sans-serif';

/** A series as uPlot draws it; `filled` down to the axis. */
export function line(tone: Tone, filled: boolean, palette: () => Palette): uPlot.Series {
  return {
    ...(filled ? { fill: () => faded(palette().series(tone)) } : {}),
    stroke: () => palette().series(tone),
    width: 2,
    dash: [...dashes[tone]],
    points: { size: 6, dash: [], fill: () => palette().series(tone) },
  };
}

/** Fills what is between a stacked series and the one below it; the lowest has a fill of its own. */
export function bands(tones: readonly Tone[], palette: () => Palette): uPlot.Band[] {
  return tones.slice(1).map((tone, index) => ({
    series: [index + 2, index + 1],
    fill: () => faded(palette().series(tone)),
  }));
}

function faded(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.28)');
}

export interface AxisOptions {
  readonly times: ChartTimes;
  readonly format: (value: number) => string;
  /** Of a bucket, seconds. */
  readonly width: number;
}

/** Distances between the lines of an axis. */
const distances = Array.from({ length: 22 }, (_, index) =>
  [1, 2, 5].map((times) => times * 10 ** (index - 6)),
).flat();
const wholeDistances = distances.filter(Number.isInteger);

/** The time axis and the axis of the figures. */
export function axes(
  { times, format, width }: AxisOptions,
  palette: () => Palette,
  drawing: () => Drawing,
): uPlot.Axis[] {
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
      ...(width >= daySeconds ? { incrs: [1, 2, 7, 14, 28].map((days) => days * daySeconds) } : {}),
      values: (_, splits, __, ___, increment) => splits.map((at) => times.tick(at, increment)),
    },
    {
      ...common,
      size: 52,
      space: 36,
      // There is no half of a check.
      incrs: () =>
        drawing().heights.every((values) => values.every(Number.isInteger)) ? wholeDistances : distances,
      values: (_, splits) => splits.map(format),
    },
  ];
}
