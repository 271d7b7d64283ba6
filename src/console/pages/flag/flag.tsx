/*
 * src/console/pages/flag: a flag of an environment. flag.tsx assembles the sections, each from a file of its own. traffic.ts and
 * verdict-words.ts compute.
 */

import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { environmentAddress, kept, useQuery } from '../../address/address.ts';
import { withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { ApiProblem } from '../../api/problem.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Pending } from '../../parts/failure.tsx';
import { NotFound } from '../../parts/not-found.tsx';
import { useTitle } from '../../parts/title.ts';
import { hasRole } from '../../reader/roles.ts';
import { DeclareButton, type FlagPlace, flagPath } from './change.tsx';
import { ComparisonSection } from './comparison.tsx';
import { ExperimentsSection } from './experiments.tsx';
import { Notes } from './notes.tsx';
import { OwnersSection } from './owners.tsx';
import { RolloutSection } from './rollout.tsx';
import { Seen, Senders } from './senders.tsx';
import { SettingsForm } from './settings-form.tsx';
import { SplitChip } from './split.tsx';
import { TrafficSection } from './traffic-section.tsx';
import { VerdictSection } from './verdict.tsx';

/** `/apps/:application/:environment/flag?name=…` */
export function Flag({ application, environment }: { application?: string; environment?: string }) {
  const { query } = useQuery();
  const name = query['name'] ?? '';
  if (application === undefined || environment === undefined || name === '') return <NotFound />;
  return <FlagPage key={name} place={{ application, environment, name }} />;
}

const detailMs = 10_000;

function FlagPage({ place }: { readonly place: FlagPlace }) {
  const path = flagPath(place);
  const detail = usePoll<FeatureDetail>(path, detailMs);
  useTitle(place.name);
  if (detail.error instanceof ApiProblem && detail.error.status === 404) return <UnknownFlag place={place} />;
  if (path !== undefined && detail.data === undefined) return <Pending error={detail.error} />;
  const flag = detail.data && { data: detail.data, etag: detail.etag ?? '*' };
  return (
    <article class="stack flag">
      <Head place={place} detail={detail.data} />
      {flag === undefined ? (
        <p class="quiet">Only the figures are shown: a path cannot contain the name of this flag.</p>
      ) : (
        <VerdictSection place={place} flag={flag} />
      )}
      <TrafficSection place={place} />
      {flag !== undefined && <RolloutSection place={place} flag={flag} />}
      {flag !== undefined && <ComparisonSection place={place} />}
      {flag !== undefined && <ExperimentsSection place={place} detail={flag.data} />}
      {flag !== undefined && (
        <div class="flag-columns">
          <Senders place={place} />
          <Seen place={place} detail={flag.data} />
          <OwnersSection place={place} flag={flag} />
          <Notes place={place} detail={flag.data} />
          {hasRole('User') && <SettingsForm place={place} flag={flag} />}
        </div>
      )}
    </article>
  );
}

interface HeadProps {
  readonly place: FlagPlace;
  readonly detail: FeatureDetail | undefined;
}

function Head({ place: { application, environment, name }, detail }: HeadProps) {
  const { query } = useQuery();
  const flags = withQuery(environmentAddress(application, environment, 'flags'), kept(query));
  return (
    <header class="head flag-head">
      <p>
        <a href={flags}>Flags</a>
      </p>
      <h1>{name}</h1>
      <CopyButton text={name} title="Copy the name" />
      {detail && !detail.declared && <span class="pill warn">undeclared</span>}
      {detail?.archived && <span class="pill">archived</span>}
      {detail && detail.owners.length > 0 && <span class="pill">Owner: {ownersText(detail.owners)}</span>}
      {detail && <SplitChip place={{ application, environment, name }} />}
      {detail?.description && <p class="flag-description">{detail.description}</p>}
    </header>
  );
}

/** A name that is neither declared nor has been seen. */
function UnknownFlag({ place }: { readonly place: FlagPlace }) {
  const { application, environment, name } = place;
  const { query } = useQuery();
  useTitle('Not found');
  const flags = environmentAddress(application, environment, 'flags');
  return (
    <section class="notice">
      <h1>Not found</h1>
      <p>
        No sender has requested <q class="flag-name">{name}</q>, and it is not declared. The name may be
        misspelt, or not in use yet.
      </p>
      <div class="actions">
        <a class="button primary" href={withQuery(flags, kept(query))}>
          All flags
        </a>
        <a class="button" href={withQuery(flags, { ...kept(query), search: name.slice(0, 4) })}>
          Flags with similar names
        </a>
        {hasRole('User') && <DeclareButton place={place} />}
      </div>
    </section>
  );
}
