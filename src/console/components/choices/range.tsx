import { useComputed } from '@preact/signals';
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
import { ChosenDays, CustomRange, ZoneDialog } from './range-dialogs.tsx';

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

/**
 * Chooses the range of the page, and its time zone.
 * @param compares true if the page compares the range with an earlier range
 */
export function RangePicker({ compares = false }: { readonly compares?: boolean }) {
  const { query } = useQuery();
  const { range, bounds, choose, unzoom } = useRange();
  const dialog = useDialog();
  const before = readRange({ range: query['range'] ?? '' });
  const label = [rangeLabel(range), daysText(range, bounds)].filter(Boolean).join(', ');
  const item = (each: Preset) => ({
    label: presets[each].label,
    checked: 'preset' in range && each === range.preset,
    ...(each === '1h' && { apart: true }),
    onSelect: () => choose({ preset: each }),
  });
  return (
    <div class="range">
      <Menu
        label={label}
        title={`Range: ${label}`}
        items={[
          ...(Object.keys(presets) as Preset[]).map(item),
          {
            label: 'Days …',
            checked: 'first' in range,
            apart: true,
            onSelect: () => dialog.open(<ChosenDays bounds={bounds} onChoose={choose} onClose={dialog.close} />),
          },
          {
            label: 'From … to …',
            checked: 'from' in range,
            onSelect: () => dialog.open(<CustomRange bounds={bounds} onChoose={choose} onClose={dialog.close} />),
          },
        ]}
      />
      {'from' in range && (
        <button type="button" onClick={unzoom}>
          Back to {rangeLabel(before)}
        </button>
      )}
      {compares && <ComparisonMenu />}
      <button
        type="button"
        class="link"
        title="Change time zone"
        onClick={() => dialog.open(<ZoneDialog onClose={dialog.close} />)}
      >
        Times in {format.zone}
      </button>
      <DaysInUtc bounds={bounds} />
      {dialog.element}
    </div>
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

function ComparisonMenu() {
  const { change } = useQuery();
  const { comparison } = useRange();
  const label = (each: Comparison) => (each === 'none' ? 'No comparison' : `vs ${comparisons[each]}`);
  return (
    <Menu
      label={label(comparison)}
      title={`Comparison: ${label(comparison)}`}
      items={(Object.keys(comparisons) as Comparison[]).map((each) => ({
        label: each === 'year' ? 'vs year before (52 weeks)' : label(each),
        checked: each === comparison,
        onSelect: () => change({ compare: each === 'previous' ? undefined : each }, true),
      }))}
    />
  );
}
