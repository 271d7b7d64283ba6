import { useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useQuery } from '../address.ts';
import { now } from '../clock.ts';
import { format } from '../format.ts';
import {
  type Bounds,
  boundsOf,
  localInput,
  type Preset,
  presets,
  type Range,
  rangeLabel,
  rangeQuery,
  readRange,
} from '../range.ts';
import { settings } from '../settings.ts';
import { Dialog } from './dialog.tsx';
import { Field, Form } from './form.tsx';
import { Menu } from './menu.tsx';

/** The range of a page, which its address has. */
export interface ChosenRange {
  readonly range: Range;
  /** Its whole buckets now. They stay the same objects until they change. */
  readonly bounds: Bounds;
  /** Whether it ends now, so that its figures move. */
  readonly live: boolean;
  /** For `usePoll`: the pause between two requests; a fixed range is read once. */
  readonly everyMs: number | undefined;
  choose(range: Range): void;
  /** For a chart that was zoomed: makes the range fixed. `unzoom` leads back. */
  zoom(from: number, to: number): void;
  unzoom(): void;
}

/** Pause between two polls of what is on the page. */
export const pollMs = 2000;

/** Reads and changes the range of the address. */
export function useRange(): ChosenRange {
  const { query, change } = useQuery();
  const minute = useComputed(() => Math.floor(now.value / 60_000)).value;
  const range = useMemo(() => readRange(query), [query['range'], query['from'], query['to']]);
  const bounds = useMemo(() => boundsOf(range, now.peek(), settings.retention), [range, minute]);
  const { from, to } = bounds;
  const live = 'preset' in range;
  const choose = (next: Range) => change(rangeQuery(next), true);
  return {
    range,
    bounds: useMemo(() => bounds, [from, to, bounds.step]),
    live,
    everyMs: live ? pollMs : undefined,
    choose,
    zoom: (from, to) => choose({ from, to }),
    unzoom: () => change({ from: undefined, to: undefined }, true),
  };
}

/** Chooses what the page covers. */
export function RangePicker() {
  const { query } = useQuery();
  const { range, bounds, choose, unzoom } = useRange();
  const asking = useSignal(false);
  const ask = (open: boolean) => {
    asking.value = open;
  };
  const preset = 'preset' in range ? range.preset : undefined;
  const before = readRange({ range: query['range'] ?? '' });
  return (
    <div class="range">
      <Menu
        label={rangeLabel(range)}
        title={`Range: ${rangeLabel(range)}`}
        items={[
          ...(Object.keys(presets) as Preset[]).map((each) => ({
            label: presets[each].label,
            checked: each === preset,
            onSelect: () => choose({ preset: each }),
          })),
          {
            label: 'From … to …',
            checked: preset === undefined,
            apart: true,
            onSelect: () => ask(true),
          },
        ]}
      />
      {preset === undefined && (
        <button type="button" onClick={unzoom}>
          Back to {rangeLabel(before)}
        </button>
      )}
      {asking.value && <CustomRange bounds={bounds} onChoose={choose} onClose={() => ask(false)} />}
    </div>
  );
}

interface CustomRangeProps {
  readonly bounds: Bounds;
  readonly onChoose: (range: Range) => void;
  readonly onClose: () => void;
}

function CustomRange({ bounds, onChoose, onClose }: CustomRangeProps) {
  const fault = useSignal<string | undefined>(undefined);
  async function submit(data: FormData) {
    const [from, to] = ['from', 'to'].map((name) => Date.parse(String(data.get(name))));
    if (!(from! < to!)) {
      fault.value = 'The beginning must be before the end.';
      return false;
    }
    onChoose({ from: from!, to: to! });
    onClose();
    return true;
  }
  return (
    <Dialog title="From … to …" onClose={onClose}>
      <Form onSubmit={submit} submit="Show" done="The range has changed" onCancel={onClose}>
        <Field
          name="from"
          label="From"
          type="datetime-local"
          value={localInput(bounds.from)}
          required
          autoFocus
        />
        <Field
          name="to"
          label="To"
          type="datetime-local"
          value={localInput(Math.min(bounds.to, now.peek()))}
          required
          hint={`Times are in ${format.place}. Days of users are UTC days.`}
        />
        {fault.value && (
          <p class="form-error" role="alert">
            {fault.value}
          </p>
        )}
      </Form>
    </Dialog>
  );
}
