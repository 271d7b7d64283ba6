import { type ControlProperties, Field } from '../../parts/form/form.tsx';
import { FlagForm, type FlagProps } from './change.tsx';
import { splitVariants, typedSplit } from './traffic.ts';

/** The team's description of the flag, and its intended split. */
export function SettingsForm({ place, flag }: FlagProps) {
  const { data: detail } = flag;
  const seen = detail.environments.flatMap((each) => each.variants.map(({ variant }) => variant));
  const variants = splitVariants(detail.split, seen);
  function patch(data: FormData) {
    const description = String(data.get('description')).trim();
    const split = typedSplit(variants, data.getAll('split').map(String));
    return { description: description === '' ? null : description, split };
  }
  return (
    <section aria-labelledby="flag-settings">
      <h2 id="flag-settings">Description and split</h2>
      <FlagForm
        place={place}
        flag={flag}
        patch={patch}
        submit={detail.declared ? 'Save' : 'Save and declare'}
        done="The flag is saved"
      >
        <Field
          name="description"
          label="Description"
          control={(properties) => (
            <textarea {...properties} rows={3} maxLength={1000} defaultValue={detail.description ?? ''} />
          )}
        />
        {variants.length > 0 && (
          <Field
            name="split"
            label="Intended split"
            hint="The weight of each variant, such as 1 and 1, or 90 and 10. The comparison checks the actual split against it. Empty: no check."
            control={(properties) => (
              <Weights properties={properties} variants={variants} split={detail.split} />
            )}
          />
        )}
      </FlagForm>
    </section>
  );
}

interface WeightsProps {
  readonly properties: ControlProperties;
  readonly variants: readonly string[];
  readonly split: Readonly<Record<string, number>> | null;
}

/** The weights of the variants, as fields of the same name. */
function Weights({ properties: { id, ...properties }, variants, split }: WeightsProps) {
  return (
    <div class="flag-weights">
      {variants.map((variant, index) => (
        <label key={variant} for={index === 0 ? id : `${id}-${index}`}>
          <span>{variant}</span>
          <input
            {...properties}
            id={index === 0 ? id : `${id}-${index}`}
            type="number"
            min="0"
            step="any"
            inputMode="decimal"
            aria-label={`Weight of ${variant}`}
            defaultValue={split?.[variant] === undefined ? '' : String(split[variant])}
          />
        </label>
      ))}
    </div>
  );
}
