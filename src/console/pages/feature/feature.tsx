/*
 * src/console/pages/feature: a flag of an environment. feature.tsx assembles the sections, each of which has its own
 * file. traffic.ts and verdict-words.ts contain computations.
 */

import { useId } from 'preact/hooks';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { environmentAddress, kept, useQuery } from '../../address/address.ts';
import { call, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useAction } from '../../components/action.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { NotFound, Pending } from '../../components/failure.tsx';
import { type ControlProperties, Field, Form } from '../../components/form/form.tsx';
import { ReadOnlyNote } from '../../components/resource/part.tsx';
import { useTitle } from '../../components/title.ts';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { DeclareButton, FeatureForm, type FeaturePlace, type FeatureProps, featurePath, reread } from './change.tsx';
import { ExperimentSection } from './experiments.tsx';
import { OwnersSection } from './owners.tsx';
import { RolloutSection } from './rollout.tsx';
import { Seen, Senders } from './senders.tsx';
import { SplitChip } from './split.tsx';
import { splitVariants, typedSplit } from './traffic.ts';
import { TrafficSection } from './traffic-section.tsx';
import { VerdictSection } from './verdict.tsx';

export function FeatureRoute({ application, environment }: { application?: string; environment?: string }) {
  const { query } = useQuery();
  const name = query['name'] ?? '';
  if (application === undefined || environment === undefined || name === '') return <NotFound />;
  return <FeaturePage key={name} place={{ application, environment, name }} />;
}

const detailMs = 10_000;

function FeaturePage({ place }: { readonly place: FeaturePlace }) {
  const path = featurePath(place);
  const detail = usePoll<FeatureDetail>(path, detailMs);
  useTitle(place.name);
  if (detail.error instanceof ApiProblem && detail.error.status === 404) return <UnknownFeature place={place} />;
  if (path !== undefined && detail.data === undefined) return <Pending error={detail.error} />;
  const feature = detail.data && { data: detail.data, etag: detail.etag ?? '*' };
  return (
    <article class="stack flag">
      <Head place={place} detail={detail.data} />
      {feature === undefined ? (
        <p class="quiet">Only the figures are shown: a path cannot contain the name of this flag.</p>
      ) : (
        <VerdictSection place={place} feature={feature} />
      )}
      <TrafficSection place={place} />
      {feature !== undefined && <RolloutSection place={place} feature={feature} />}
      {feature !== undefined && <ExperimentSection place={place} detail={feature.data} />}
      {feature !== undefined && (
        <div class="flag-columns">
          <Senders place={place} />
          <Seen place={place} detail={feature.data} />
          <OwnersSection place={place} feature={feature} />
          <Notes place={place} detail={feature.data} />
          {hasRole('User') && <SettingsForm place={place} feature={feature} />}
        </div>
      )}
    </article>
  );
}

interface HeadProps {
  readonly place: FeaturePlace;
  readonly detail: FeatureDetail | undefined;
}

function Head({ place: { application, environment, name }, detail }: HeadProps) {
  const { query } = useQuery();
  const listAddress = withQuery(environmentAddress(application, environment, 'flags'), kept(query));
  return (
    <header class="head flag-head">
      <p>
        <a href={listAddress}>Flags</a>
      </p>
      <h1>{name}</h1>
      <CopyButton text={name} title="Copy name" />
      {detail && !detail.declared && <span class="pill warn">undeclared</span>}
      {detail?.archived && <span class="pill">archived</span>}
      {detail && detail.owners.length > 0 && <span class="pill">Owner: {ownersText(detail.owners)}</span>}
      {detail && <SplitChip place={{ application, environment, name }} />}
      {detail?.description && <p class="flag-description">{detail.description}</p>}
    </header>
  );
}

/** Shown for a name that was neither declared nor seen. */
function UnknownFeature({ place }: { readonly place: FeaturePlace }) {
  const { application, environment, name } = place;
  const { query } = useQuery();
  useTitle('Not found');
  const listAddress = environmentAddress(application, environment, 'flags');
  return (
    <section class="notice">
      <h1>Not found</h1>
      <p>
        No sender has requested <q class="flag-name">{name}</q>, and it is not declared. The name might be misspelt, or
        not in use yet.
      </p>
      <div class="actions">
        <a class="button primary" href={withQuery(listAddress, kept(query))}>
          All flags
        </a>
        <a class="button" href={withQuery(listAddress, { ...kept(query), search: name.slice(0, 4) })}>
          Flags with similar names
        </a>
        {hasRole('User') && <DeclareButton place={place} />}
      </div>
    </section>
  );
}

/** The team's notes on the flag. The chart marks each note. */
function Notes({ place, detail }: { readonly place: FeaturePlace; readonly detail: FeatureDetail }) {
  const { busy, refusal, run } = useAction();
  async function remove(id: string) {
    await call('DELETE', featurePath(place, 'notes', id)!);
    reread(place);
  }
  return (
    <section aria-labelledby="flag-notes">
      <h2 id="flag-notes">Notes</h2>
      <ul class="plain-list flag-notes">
        {detail.notes.map(({ id, at, text, environment, by }) => (
          <li key={id}>
            <span>
              {text}
              <span class="quiet">
                {' '}
                {format.time(at)}, {environment ?? 'all environments'}, {by}
              </span>
            </span>
            {hasRole('User') && (
              <button
                type="button"
                disabled={busy}
                aria-label={`Delete note: ${text}`}
                onClick={() => run(() => remove(id), 'Note deleted')}
              >
                Delete
              </button>
            )}
          </li>
        ))}
      </ul>
      {refusal}
      <ReadOnlyNote what="notes" least="User" />
      {hasRole('User') && <NoteForm place={place} />}
    </section>
  );
}

function NoteForm({ place }: { readonly place: FeaturePlace }) {
  const all = useId();
  async function add(data: FormData) {
    const at = String(data.get('at'));
    const body = {
      text: String(data.get('text')),
      ...(at === '' ? {} : { at: new Date(at).toISOString() }),
      ...(data.get('all') === null ? { environment: place.environment } : {}),
    };
    await call('POST', featurePath(place, 'notes')!, { body });
    reread(place);
  }
  return (
    <Form onSubmit={add} submit="Add note" done="Note added" reset>
      <Field name="text" label="New note" required maxLength={500} placeholder="Rollout to half of the users" />
      <Field name="at" label="When" type="datetime-local" hint={`Time in ${format.place}; empty means now.`} />
      <p class="flag-check">
        <input id={all} type="checkbox" name="all" />{' '}
        <label for={all}>Applies to all environments, not only {place.environment}</label>
      </p>
    </Form>
  );
}

function SettingsForm({ place, feature }: FeatureProps) {
  const { data: detail } = feature;
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
      <FeatureForm
        place={place}
        feature={feature}
        patch={patch}
        submit={detail.declared ? 'Save' : 'Save and declare'}
        done="Flag saved"
      >
        <Field name="description" label="Description" rows={3} maxLength={1000} value={detail.description ?? ''} />
        {variants.length > 0 && (
          <Field
            name="split"
            label="Intended split"
            hint="The weight of each variant, such as 1 and 1, or 90 and 10. The comparison checks the actual split against these weights. If all weights are empty, the split is not checked."
            control={(properties) => <Weights properties={properties} variants={variants} split={detail.split} />}
          />
        )}
      </FeatureForm>
    </section>
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
