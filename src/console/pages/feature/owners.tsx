import { useMemo } from 'preact/hooks';
import { ownersText } from '../../../contract/shapes/owned.ts';
import type { Owner } from '../../../contract/shapes/owner.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import type { Member } from '../../../contract/shapes/user.ts';
import { resource } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { Skeleton } from '../../components/failure.tsx';
import { Field } from '../../components/form/form.tsx';
import { applications } from '../../reader/reader.tsx';
import { type EditProps, FeatureForm } from './change.tsx';

export function OwnersForm({ place, feature, onCancel }: EditProps) {
  const candidates = useCandidates(place.application);
  const { owners, ownersFrom } = feature.data;
  // If a name were saved before the candidates are known, it would become a text instead of a user or team.
  if (candidates === undefined) return <Skeleton kind="lines" />;
  const declared = ownersFrom === 'declaration' ? owners : [];
  const patch = (data: FormData) => ({
    owners: ownersFromText(String(data.get('owners')), [...declared, ...candidates]),
  });
  return (
    <FeatureForm place={place} feature={feature} patch={patch} what="owners" onCancel={onCancel}>
      <Field
        name="owners"
        label="Owners"
        hint="Members, teams or other texts such as @shop/checkout, separated by commas. If empty, CODEOWNERS applies."
        value={ownersText(declared)}
        maxLength={900}
        autocomplete="off"
        autoFocus
      />
    </FeatureForm>
  );
}

export function TagsForm({ place, feature, onCancel }: EditProps) {
  const patch = (data: FormData) => ({ tags: splitList(String(data.get('tags'))) });
  return (
    <FeatureForm place={place} feature={feature} patch={patch} what="tags" onCancel={onCancel}>
      <Field
        name="tags"
        label="Tags"
        hint="Separated by commas."
        value={feature.data.tags.join(', ')}
        maxLength={900}
        autocomplete="off"
        autoFocus
      />
    </FeatureForm>
  );
}

/** A possible owner. A user can also be found by `email`. */
export type Candidate = Owner & { readonly email?: string };

/** Returns `undefined` while the members and teams are being read. If one list cannot be read, the other suffices. */
function useCandidates(application: string): readonly Candidate[] | undefined {
  const team = applications.value?.find(({ id }) => id === application)?.teamId ?? '';
  const members = useWholeList<Member>(resource('teams', team, 'members'), {});
  const teams = useWholeList<Team>(resource('teams'), {});
  const isReading = [members, teams].some(({ items, error }) => items === undefined && error === undefined);
  return useMemo(() => {
    if (isReading) return undefined;
    const users = (members.items ?? []).map(({ id, name, email }) => ({
      type: 'user' as const,
      id,
      name: name || email || id,
      ...(email !== null && { email }),
    }));
    return [...users, ...(teams.items ?? []).map(({ id, name }) => ({ type: 'team' as const, id, name }))];
  }, [isReading, members.items, teams.items]);
}

/** Parses the owners in a text field: names or e-mail addresses of candidates, and other texts. */
function ownersFromText(text: string, candidates: readonly Candidate[]): Owner[] {
  return splitList(text).map((part) => {
    const wanted = part.toLowerCase();
    const found = candidates.find(
      ({ name, email }) => name.toLowerCase() === wanted || email?.toLowerCase() === wanted,
    );
    return found === undefined
      ? { type: 'text', id: null, name: part }
      : { type: found.type, id: found.id, name: found.name };
  });
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}
