import { useSignal } from '@preact/signals';
import type { FunctionComponent, VNode } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { currentTime } from '../../api/clock.ts';
import { type ControlProperties, Field } from '../../components/form/form.tsx';
import { formatKeeping, KeepFields, readKeeping } from '../../components/form/keep.tsx';
import { ReadOnlyNote } from '../../components/resource/part.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { type EditProps, FeatureForm, type FeatureProps } from './change.tsx';
import { OwnersForm, TagsForm } from './owners.tsx';
import { RolloutForm } from './rollout.tsx';
import { formatPlan, listVariants, splitVariants, typedSplit } from './traffic.ts';

interface Setting {
  readonly title: string;
  /** The present value; empty if the setting is not set. */
  readonly value: (detail: FeatureDetail) => string | readonly VNode[] | null | undefined;
  readonly Edit: FunctionComponent<EditProps>;
}

const settings: readonly Setting[] = [
  { title: 'Description', value: ({ description }) => description, Edit: DescriptionForm },
  { title: 'Owners', value: formatOwners, Edit: OwnersForm },
  {
    title: 'Tags',
    value: ({ tags }) =>
      tags.map((tag) => (
        <span key={tag} class="pill">
          {tag}
        </span>
      )),
    Edit: TagsForm,
  },
  { title: 'Keep until', value: formatKeeping, Edit: KeepForm },
  { title: 'Intended split', value: ({ split }) => formatPlan({ split, rollout: null }, 0, format), Edit: SplitForm },
  {
    title: 'Rollout plan',
    value: (detail) => detail.rollout && formatPlan(detail, currentTime(), format),
    Edit: RolloutForm,
  },
];

function formatOwners({ owners, ownersFrom }: FeatureDetail): string {
  return `${ownersText(owners)}${ownersFrom === 'codeowners' ? ' (by CODEOWNERS)' : ''}`;
}

/** The settings of a flag as texts. At most one setting is open in a form. */
export function Settings(props: FeatureProps) {
  const open = useSignal<Setting | undefined>(undefined);
  return (
    <div class="flag-settings">
      <ReadOnlyNote what="the settings of a flag" least="User" />
      {settings.map((setting) => (
        <Row
          key={setting.title}
          {...props}
          setting={setting}
          open={open.value}
          onOpen={(next) => (open.value = next)}
        />
      ))}
    </div>
  );
}

interface RowProps extends FeatureProps {
  readonly setting: Setting;
  readonly open: Setting | undefined;
  readonly onOpen: (setting: Setting | undefined) => void;
}

function Row({ setting, open, onOpen, place, feature }: RowProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const { title, value, Edit } = setting;
  const shown = value(feature.data);
  function close() {
    onOpen(undefined);
    // The button is disabled until the form is gone.
    setTimeout(() => button.current?.focus(), 0);
  }
  return (
    <section class="flag-setting" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {open === setting ? (
        <Edit place={place} feature={feature} onCancel={close} />
      ) : (
        <p>{shown && shown.length !== 0 ? shown : <span class="quiet">None</span>}</p>
      )}
      {hasRole('User') && (
        <button
          ref={button}
          type="button"
          disabled={open !== undefined}
          aria-label={`Edit ${title.toLowerCase()}`}
          onClick={() => onOpen(setting)}
        >
          Edit
        </button>
      )}
    </section>
  );
}

export function KeepForm({ place, feature, onCancel }: EditProps) {
  return (
    <FeatureForm place={place} feature={feature} patch={readKeeping} what="date" onCancel={onCancel}>
      <KeepFields {...feature.data} />
    </FeatureForm>
  );
}

function DescriptionForm({ place, feature, onCancel }: EditProps) {
  const { description } = feature.data;
  const patch = (data: FormData) => ({ description: String(data.get('description')).trim() || null });
  return (
    <FeatureForm place={place} feature={feature} patch={patch} what="description" onCancel={onCancel}>
      <Field name="description" label="Description" rows={3} maxLength={1000} value={description ?? ''} />
    </FeatureForm>
  );
}

function SplitForm({ place, feature, onCancel }: EditProps) {
  const { data: detail } = feature;
  const variants = splitVariants(detail.split, listVariants(detail));
  const patch = (data: FormData) => ({ split: typedSplit(variants, data.getAll('split').map(String)) });
  return (
    <FeatureForm place={place} feature={feature} patch={patch} what="split" onCancel={onCancel}>
      {variants.length === 0 && <p>No variant of the flag has been seen yet.</p>}
      {variants.length > 0 && (
        <Field
          name="split"
          label="Intended split"
          hint="The weight of each variant, such as 1 and 1, or 90 and 10. The comparison checks the actual split against these weights. If all weights are empty, the split is not checked."
          control={(properties) => <Weights properties={properties} variants={variants} split={detail.split} />}
        />
      )}
    </FeatureForm>
  );
}

interface WeightsProps {
  readonly properties: ControlProperties;
  readonly variants: readonly string[];
  readonly split: Readonly<Record<string, number>> | null;
}

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
