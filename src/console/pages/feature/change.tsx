import { useRef } from 'preact/hooks';
import type { FeatureDetail, FeaturePatch } from '../../../contract/shapes/feature.ts';
import type { InEnvironment } from '../../address/place.ts';
import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { type ResourceVersion, useChange } from '../../api/thing.ts';
import { useAction } from '../../components/action.tsx';
import { Form, type FormProps } from '../../components/form/form.tsx';
import { ConflictDialog } from '../../components/resource/thing.tsx';

export interface FeaturePlace extends InEnvironment {
  readonly name: string;
}

/** Returns the path of a flag or of a resource below it; `undefined` for a flag named `.` or `..`. */
export function featurePath({ application, name }: FeaturePlace, ...rest: readonly string[]): string | undefined {
  if (name === '.' || name === '..') return undefined;
  return resource('applications', application, 'features', name, ...rest);
}

export function reread({ application }: FeaturePlace): void {
  forget(resource('applications', application, 'features'));
  forget(resource('applications', application, 'overview'));
  forget(resource('applications', application, 'activity'));
}

/** The settings whose changes can conflict. Other fields change with packets and notes. */
const settings: Readonly<Record<keyof FeaturePatch, true>> = {
  description: true,
  archived: true,
  permanent: true,
  snoozedUntil: true,
  split: true,
  rollout: true,
  owners: true,
  tags: true,
};

const pickSettings = (feature: FeatureDetail) =>
  Object.fromEntries(Object.entries(feature).filter(([field]) => Object.hasOwn(settings, field)));

export interface FeatureProps {
  readonly place: FeaturePlace;
  readonly feature: ResourceVersion<FeatureDetail>;
}

/** Changes the declaration of a flag, and declares the flag if necessary. `dialog` asks the reader after a conflict. */
export function useFeatureChange(place: FeaturePlace) {
  const { conflict, change } = useChange<FeatureDetail>(featurePath(place)!);
  const shown = conflict && {
    ...conflict,
    before: pickSettings(conflict.before),
    theirs: pickSettings(conflict.theirs),
  };
  return {
    dialog: <ConflictDialog conflict={shown} />,
    /** @returns false if the reader accepted someone else's change instead @throws as `call` */
    async change(seen: ResourceVersion<FeatureDetail>, patch: FeaturePatch): Promise<boolean> {
      const { isMine } = await change(seen, () => patch);
      reread(place);
      return isMine;
    },
  };
}

export interface EditProps extends FeatureProps {
  /** Closes the form. */
  readonly onCancel: () => void;
}

interface FeatureFormProps extends EditProps, Pick<FormProps, 'children'> {
  /** Name of the settings that the form changes, such as `owners`. */
  readonly what: string;
  readonly patch: (data: FormData) => FeaturePatch;
}

/** A form for settings of a flag. It changes only the version that the reader started to edit, and then closes. */
export function FeatureForm({ place, feature, patch, what, onCancel, children }: FeatureFormProps) {
  const { dialog, change } = useFeatureChange(place);
  const edited = useRef<ResourceVersion<FeatureDetail> | undefined>(undefined);
  async function save(data: FormData) {
    const isMine = await change(edited.current ?? feature, patch(data));
    onCancel();
    return isMine;
  }
  const submit = feature.data.declared ? `Save ${what}` : `Save ${what} and declare flag`;
  const done = `${what.slice(0, 1).toUpperCase()}${what.slice(1)} saved`;
  return (
    <div onInput={() => (edited.current ??= feature)}>
      <Form submit={submit} done={done} onSubmit={save} onCancel={onCancel}>
        {children}
      </Form>
      {dialog}
    </div>
  );
}

export async function declare(place: FeaturePlace): Promise<void> {
  await call('POST', resource('applications', place.application, 'features'), { body: { name: place.name } });
  reread(place);
}

export function DeclareButton({ place }: { readonly place: FeaturePlace }) {
  const { busy, refusal, run } = useAction();
  return (
    <>
      <button type="button" disabled={busy} onClick={() => run(() => declare(place), 'Flag declared')}>
        Declare flag
      </button>
      {refusal}
    </>
  );
}
