import { useId } from 'preact/hooks';
import { dayAt, isTimeZone, unknownZone } from '../../../contract/calendar.ts';
import { useQuery } from '../../address/address.ts';
import { type Bounds, formatDate, localInput, type Range, timeOfInput } from '../../address/range.ts';
import { now } from '../../api/clock.ts';
import { ApiProblem } from '../../api/problem.ts';
import { changePreferences, preferences, preferredZone } from '../../reader/reader.tsx';
import { browserZone, format } from '../../text/format.ts';
import { Dialog } from '../dialog.tsx';
import { type ControlProperties, Field, Form } from '../form/form.tsx';

interface RangeDialogProps {
  readonly bounds: Bounds;
  readonly onChoose: (range: Range) => void;
  readonly onClose: () => void;
}

export function CustomRange({ bounds, onChoose, onClose }: RangeDialogProps) {
  async function submit(data: FormData) {
    const [from, to] = ['from', 'to'].map((name) => timeOfInput(String(data.get(name)), format.zone));
    if (!(from! < to!)) throw new ApiProblem(400, 'invalid_from', 'The start must be before the end');
    onChoose({ from: from!, to: to! });
    onClose();
  }
  const input = (at: number) => localInput(at, format.zone);
  return (
    <Dialog title="From … to …" onClose={onClose}>
      <Form onSubmit={submit} submit="Show" done="Range changed" onCancel={onClose}>
        <Field name="from" label="From" type="datetime-local" value={input(bounds.from)} required autoFocus />
        <Field
          name="to"
          label="To"
          type="datetime-local"
          value={input(Math.min(bounds.to, now.peek()))}
          required
          hint={`Times in ${format.zone}. Users are counted by UTC day.`}
        />
      </Form>
    </Dialog>
  );
}

export function ChosenDays({ bounds, onChoose, onClose }: RangeDialogProps) {
  async function submit(data: FormData) {
    const first = Date.parse(String(data.get('first'))) / 86_400_000;
    const until = String(data.get('last') ?? '');
    const last = until === '' ? first : Date.parse(until) / 86_400_000;
    if (!(first <= last)) throw new ApiProblem(400, 'invalid_last', 'The last day must not be before the first');
    onChoose({ first, last });
    onClose();
  }
  const { zone } = format;
  const day = (at: number) => formatDate(dayAt(zone, at));
  return (
    <Dialog title="Days" onClose={onClose}>
      <Form onSubmit={submit} submit="Show" done="Range changed" onCancel={onClose}>
        <Field name="first" label="Day" type="date" value={day(bounds.from)} required autoFocus />
        <Field
          name="last"
          label="Last day (optional)"
          type="date"
          hint={`Days in ${zone}. Without a last day, the range is one day.`}
        />
      </Form>
    </Dialog>
  );
}

export function ZoneDialog({ onClose }: { readonly onClose: () => void }) {
  const { change } = useQuery();
  async function submit(data: FormData) {
    const zone = checkedZone(data.get('timeZone')) ?? browserZone;
    if (data.get('keep') !== null) await changePreferences({ timeZone: zone === browserZone ? null : zone });
    onClose();
    change({ tz: zone === preferredZone() ? undefined : zone }, true);
  }
  return (
    <Dialog title="Time zone" onClose={onClose}>
      <Form onSubmit={submit} submit="Use" done="Time zone changed" onCancel={onClose}>
        <ZoneField value={format.zone} />
        <label class="check">
          <input type="checkbox" name="keep" checked /> Use on all pages
        </label>
      </Form>
    </Dialog>
  );
}

export function ZonePreference() {
  return (
    <Form
      submit="Save time zone"
      done="Time zone saved"
      onSubmit={(data) => changePreferences({ timeZone: checkedZone(data.get('timeZone')) })}
    >
      <ZoneField value={preferences.value?.timeZone ?? ''} />
    </Form>
  );
}

/** Checks a time zone. @returns `null` for an empty text @throws {ApiProblem} if the zone is unknown */
function checkedZone(value: unknown): string | null {
  const zone = String(value ?? '').trim();
  if (zone === '') return null;
  if (!isTimeZone(zone)) throw new ApiProblem(400, 'invalid_timeZone', unknownZone(zone.slice(0, 100)));
  return zone;
}

function ZoneField({ value }: { readonly value: string }) {
  const list = useId();
  const control = (properties: ControlProperties) => (
    <>
      <input {...properties} list={list} defaultValue={value} placeholder={browserZone} autoComplete="off" />
      <datalist id={list}>
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
  return (
    <Field
      name="timeZone"
      label="Time zone"
      control={control}
      hint={`Type to search, such as "Berlin". If empty, the browser's time zone applies: ${browserZone}.`}
    />
  );
}
