import type uPlot from 'uplot';
import type { ActivityItem } from '../../../contract/shapes/activity.ts';
import { format, plural } from '../../text/format.ts';
import type { Palette } from './look.ts';
import { type Buckets, bucketAt, type Marker, type PlotContent } from './series.ts';

/**
 * Creates markers for the latest items, the earliest first.
 * @param feature the flag of the chart, which the texts of the markers omit
 */
export function createMarkers(
  items: readonly ActivityItem[],
  feature: string | undefined,
  most: number,
  getHref: (item: ActivityItem) => string,
): readonly Marker[] {
  const latestFirst = items.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, most);
  return latestFirst
    .reverse()
    .map((item) => ({
      at: Math.floor(Date.parse(item.at) / 1000),
      label: item.feature === null || item.feature === feature ? item.text : `${item.feature}: ${item.text}`,
      href: getHref(item),
    }));
}

/** Minimum distance between markers that are drawn separately, px. */
const closePx = 14;

interface Cluster {
  readonly x: number;
  count: number;
}

/** Groups positions that are close to each other. @param xs ascending */
export function groupPositions(xs: readonly number[], close: number): readonly Cluster[] {
  const clusters: Cluster[] = [];
  for (const x of xs) {
    const last = clusters.at(-1);
    if (last !== undefined && x - last.x < close) last.count += 1;
    else clusters.push({ x, count: 1 });
  }
  return clusters;
}

/**
 * Draws a vertical line with an arrowhead at each marker. Markers that are close share a line, which shows their
 * number.
 */
export function drawMarkers(u: uPlot, { markers, buckets }: PlotContent, palette: Palette, ratio: number): void {
  const { ctx, bbox } = u;
  const xs = markersWithin(buckets, markers).map(({ at }) =>
    Math.round(Math.min(u.valToPos(at, 'x', true), bbox.left + bbox.width)),
  );
  ctx.save();
  ctx.strokeStyle = palette.quiet;
  ctx.fillStyle = palette.quiet;
  ctx.lineWidth = ratio;
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'alphabetic';
  for (const { x, count } of groupPositions(xs, closePx * ratio)) {
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 5 * ratio, bbox.top - 9 * ratio);
    ctx.lineTo(x + 5 * ratio, bbox.top - 9 * ratio);
    ctx.lineTo(x, bbox.top);
    ctx.fill();
    if (count > 1) ctx.fillText(String(count), x + 7 * ratio, bbox.top - 3 * ratio);
  }
  ctx.restore();
}

function markersWithin(buckets: Buckets, markers: readonly Marker[]): readonly Marker[] {
  return markers.filter(({ at }) => bucketAt(buckets, at) !== undefined);
}

export function nextMarked(buckets: Buckets, markers: readonly Marker[], from: number | undefined): number | undefined {
  const marked = markersWithin(buckets, markers).map(({ at }) => bucketAt(buckets, at)!);
  return marked.find((index) => index > (from ?? -1)) ?? marked[0];
}

const described = 10;

/** Returns the markers as text, for the description of the chart. */
export function markersText(buckets: Buckets, markers: readonly Marker[]): string {
  const within = markersWithin(buckets, markers);
  if (within.length === 0) return '';
  const named = within.slice(-described).map(({ at, label }) => `${format.time(at * 1000)} ${label}`);
  const rest = within.length > described ? `; ${within.length - described} earlier` : '';
  return `M moves to the next event. ${plural(within.length, 'event')}: ${named.join('; ')}${rest}.`;
}

export function MarkerList({ buckets, markers }: { buckets: Buckets; markers: readonly Marker[] }) {
  const within = markersWithin(buckets, markers);
  if (within.length === 0) return null;
  return (
    <details class="chart-events">
      <summary>{plural(within.length, 'event')}</summary>
      <ul class="plain-list">
        {within.map(({ at, label, href }) => (
          <li key={`${at} ${label}`}>
            <time dateTime={new Date(at * 1000).toISOString()} class="quiet">
              {format.time(at * 1000)}
            </time>{' '}
            {href === undefined ? label : <a href={href}>{label}</a>}
          </li>
        ))}
      </ul>
    </details>
  );
}
