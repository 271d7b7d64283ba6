import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useQuery } from '../address.ts';
import { ApiProblem } from '../api/problem.ts';
import { now } from '../clock.ts';
import { format } from '../format.ts';
import { rangeParameters, useParameters } from '../parameters.ts';
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
import { Dialog, useDialog } from './dialog.tsx';
import { Field, Form } from './form.tsx';
import { Menu } from './menu.tsx';

/** The range in the address of a page. */
export interface ChosenRange {
  readonly range: Range;
  /** Its whole buckets now: the same object until they change. */
  readonly bounds: Bounds;
  readonly live: boolean;
  /** The pause for `usePoll`; `undefined` for a fixed range, which is read once. */
  readonly everyMs: number | undefined;
  choose(range: Range): void;
  /** Selects a fixed range, Unix ms. `unzoom` restores the relative one. */
  zoom(from: number, to: number): void;
  unzoom(): void;
}

/** Pause between two polls, ms. */
export const pollMs = 2000;

/** Reads and changes the range in the address. */
export function useRange(): ChosenRange {
  const { query, change } = useQuery();
  useParameters(rangeParameters);
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

/** Chooses the range of the page. */
export function RangePicker() {
  const { query } = useQuery();
  const { range, bounds, choose, unzoom } = useRange();
  const dialog = useDialog();
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
            onSelect: () =>
              dialog.open(<CustomRange bounds={bounds} onChoose={choose} onClose={dialog.close} />),
          },
        ]}
      />
      {preset === undefined && (
        <button type="button" onClick={unzoom}>
          Back to {rangeLabel(before)}
        </button>
      )}
      {dialog.element}
    </div>
  );
}

interface CustomRangeProps {
  readonly bounds: Bounds;
  readonly onChoose: (range: Range) => void;
  readonly onClose: () => void;
}

function CustomRange({ bounds, onChoose, onClose }: CustomRangeProps) {
  async function submit(data: FormData) {
    const [from, to] = ['from', 'to'].map((name) => Date.parse(String(data.get(name))));
    if (!(from! < to!)) throw new ApiProblem(400, 'invalid_from', 'The start must be before the end');
    onChoose({ from: from!, to: to! });
    onClose();
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
          hint={`Times are in ${format.place}. Users are counted by UTC day.`}
        />
      </Form>
    </Dialog>
  );
}
