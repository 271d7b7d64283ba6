import { useSignal } from '@preact/signals';
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

/** Changes the declaration of a flag, and declares it if necessary. `dialog` asks the reader after a conflict. */
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

interface FeatureFormProps extends FeatureProps, Omit<FormProps, 'onSubmit'> {
  readonly patch: (data: FormData) => FeaturePatch;
}

/** A form for the settings of a flag. It changes only the version that the reader started to edit. */
export function FeatureForm({ place, feature, patch, ...form }: FeatureFormProps) {
  const { dialog, change } = useFeatureChange(place);
  const edited = useRef<ResourceVersion<FeatureDetail> | undefined>(undefined);
  const version = useSignal(0);
  async function save(data: FormData) {
    const isMine = await change(edited.current ?? feature, patch(data));
    edited.current = undefined;
    if (!isMine) version.value += 1;
    return isMine;
  }
  return (
    <div onInput={() => (edited.current ??= feature)}>
      <Form key={version.value} {...form} onSubmit={save} />
      {dialog}
    </div>
  );
}

export function DeclareButton({ place }: { readonly place: FeaturePlace }) {
  const { busy, refusal, run } = useAction();
  async function declare() {
    const body = { name: place.name };
    await call('POST', resource('applications', place.application, 'features'), { body });
    reread(place);
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => run(declare, `Declared ${place.name}`)}>
        Declare flag
      </button>
      {refusal}
    </>
  );
}
