import { useComputed } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useMemo } from 'preact/hooks';
import { maxZonedMs } from '../../../contract/calendar.ts';
import { useQuery } from '../../address/address.ts';
import { rangeParameters, useParameters } from '../../address/parameters.ts';
import {
  type Bounds,
  type Comparison,
  comparisons,
  computeBounds,
  daysText,
  endsNow,
  type Preset,
  presets,
  type Range,
  rangeLabel,
  rangeQuery,
  readRange,
} from '../../address/range.ts';
import { now } from '../../api/clock.ts';
import { settings } from '../../api/settings.ts';
import { useZone } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { useDialog } from '../dialog.tsx';
import { Menu } from '../menu.tsx';

export interface ChosenRange {
  readonly range: Range;
  /** Whole buckets of the range at the current time. The object stays the same until a new bucket begins. */
  readonly bounds: Bounds;
  readonly comparison: Comparison;
  readonly live: boolean;
  /** The pause for `usePoll`; `undefined` for a fixed range, because it is read only once. */
  readonly everyMs: number | undefined;
  choose(range: Range): void;
  /** Selects a fixed range, Unix ms. `unzoom` restores the relative range. */
  zoom(from: number, to: number): void;
  unzoom(): void;
}

const pollMs = 2000;

export function useRange(): ChosenRange {
  const { query, change } = useQuery();
  useParameters(rangeParameters);
  const zone = useZone();
  const minute = useComputed(() => Math.floor(now.value / 60_000)).value;
  const range = useMemo(() => readRange(query), [query['range'], query['from'], query['to']]);
  const bounds = useMemo(() => computeBounds(range, now.peek(), settings.retention, zone), [range, minute, zone]);
  const { from, to } = bounds;
  const live = endsNow(range, now.peek(), zone);
  const { compare = '' } = query;
  const choose = (next: Range) => change(rangeQuery(next), true);
  return {
    range,
    bounds: useMemo(() => bounds, [from, to, bounds.step, bounds.zone]),
    comparison: Object.hasOwn(comparisons, compare) ? (compare as Comparison) : 'previous',
    live,
    everyMs: live ? pollMs : undefined,
    choose,
    zoom: (from, to) => choose({ from, to }),
    unzoom: () => change({ from: undefined, to: undefined }, true),
  };
}

/** The dialogs are loaded when the first one is opened. */
type Dialogs = typeof import('./range-dialogs.tsx');

/**
 * One menu for the range of the page, its comparison and its time zone.
 * @param compares true if the page compares the range with an earlier range
 */
export function RangePicker({ compares = false }: { readonly compares?: boolean }) {
  const { query, change } = useQuery();
  const { range, bounds, comparison, choose, unzoom } = useRange();
  const dialog = useDialog();
  const open = async (create: (dialogs: Dialogs) => ComponentChild) =>
    dialog.open(create(await import('./range-dialogs.tsx')));
  const choosing = { bounds, onChoose: choose, onClose: dialog.close };
  const before = readRange({ range: query['range'] ?? '' });
  const label = [rangeLabel(range), daysText(range, bounds)].filter(Boolean).join(', ');
  const shown = `${label} · ${format.zone}`;
  const item = (each: Preset) => ({
    label: presets[each].label,
    checked: 'preset' in range && each === range.preset,
    apart: each === '1h',
    onSelect: () => choose({ preset: each }),
  });
  const comparisonItem = (each: Comparison) => ({
    label: comparisons[each],
    checked: each === comparison,
    apart: each === 'previous',
    onSelect: () => change({ compare: each === 'previous' ? undefined : each }, true),
  });
  return (
    <div class="range">
      <Menu
        label={<RangeLabel text={shown} />}
        title={`Range: ${shown}`}
        end={!compares}
        items={[
          ...(Object.keys(presets) as Preset[]).map(item),
          {
            label: 'Days …',
            checked: 'first' in range,
            apart: true,
            onSelect: () => void open(({ ChosenDays }) => <ChosenDays {...choosing} />),
          },
          {
            label: 'From … to …',
            checked: 'from' in range,
            onSelect: () => void open(({ CustomRange }) => <CustomRange {...choosing} />),
          },
          ...(compares ? (Object.keys(comparisons) as Comparison[]).map(comparisonItem) : []),
          {
            label: 'Time zone …',
            apart: true,
            onSelect: () => void open(({ ZoneDialog }) => <ZoneDialog onClose={dialog.close} />),
          },
        ]}
      />
      {'from' in range && (
        <button type="button" onClick={unzoom}>
          Back to {rangeLabel(before)}
        </button>
      )}
      <DaysInUtc bounds={bounds} />
      {dialog.element}
    </div>
  );
}

function RangeLabel({ text }: { readonly text: string }) {
  return (
    <span class="range-label" title={text}>
      {text}
    </span>
  );
}

/** Explains why a range has UTC days instead of days of the reader's time zone. */
function DaysInUtc({ bounds: { zone, from, to } }: { readonly bounds: Bounds }) {
  const own = useZone();
  if (zone === undefined || zone === own) return null;
  const isOld = from < now.peek() - settings.retention.hoursMs;
  const why = isOld
    ? 'hourly counts of that time are no longer kept'
    : to - from > maxZonedMs
      ? 'the range is longer than 35 days'
      : 'days of this time zone do not begin with a full UTC hour';
  return <span class="quiet">Days are UTC days: {why}</span>;
}
