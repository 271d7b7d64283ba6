import type { FeatureDetail, FeaturePatch } from '../../../contract/shapes/feature.ts';
import { localInput, timeOfInput } from '../../address/range.ts';
import { currentTime } from '../../api/clock.ts';
import { format } from '../../text/format.ts';
import { Choices, Field } from './form.tsx';

type Keeping = Pick<FeatureDetail, 'permanent' | 'snoozedUntil'>;

/** Returns how long the team keeps the flag, regardless of its use; `undefined` if the verdict decides. */
export function formatKeeping({ permanent, snoozedUntil }: Keeping): string | undefined {
  if (permanent) return 'for ever';
  const isOver = snoozedUntil === null || Date.parse(snoozedUntil) <= currentTime();
  return isOver ? undefined : format.time(snoozedUntil);
}

/** The fields of *Keep until*: a date, or for ever. */
export function KeepFields({ permanent, snoozedUntil }: Keeping) {
  const day = snoozedUntil === null ? '' : localInput(Date.parse(snoozedUntil), format.zone).slice(0, 10);
  return (
    <>
      <Field
        name="until"
        label="Keep until"
        type="date"
        value={day}
        hint={`The end of the day in ${format.zone}. Without a date, the verdict follows the use of the flag.`}
      />
      <Choices
        name="keep"
        legend="Without a date"
        type="checkbox"
        choices={[['ever', 'Keep for ever', 'The flag is meant to stay.']]}
        checked={() => permanent}
      />
    </>
  );
}

export function readKeeping(data: FormData): Required<Pick<FeaturePatch, 'permanent' | 'snoozedUntil'>> {
  const permanent = data.get('keep') !== null;
  const until = timeOfInput(`${data.get('until')}T23:59`, format.zone);
  return { permanent, snoozedUntil: permanent || Number.isNaN(until) ? null : new Date(until).toISOString() };
}
