/*
 * src/console/pages/feature: a flag of an environment. feature.tsx assembles the head and the tabs. Each section has its
 * own file. traffic.ts and verdict-words.ts contain computations.
 */

import { useRef } from 'preact/hooks';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { environmentAddress, type FlagTab, featureAddress, flagTabs, kept, useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import { withQuery } from '../../api/client.ts';
import { currentTime } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { ApiProblem } from '../../api/problem.ts';
import { RangePicker } from '../../components/choices/range.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { NotFound, Pending } from '../../components/failure.tsx';
import { moveAmong } from '../../components/menu.tsx';
import { useTitle } from '../../components/title.ts';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { Activity } from './activity.tsx';
import { DeclareButton, type FeaturePlace, type FeatureProps, featurePath } from './change.tsx';
import { ExperimentSection } from './experiments.tsx';
import { RolloutSection } from './rollout.tsx';
import { Code, Seen, Senders } from './senders.tsx';
import { Settings } from './settings.tsx';
import { SplitChip } from './split.tsx';
import { formatPlan } from './traffic.ts';
import { Figures, TrafficSection } from './traffic-section.tsx';
import { Reasons, VerdictLine } from './verdict.tsx';

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
        <>
          <p class="quiet">Only the figures are shown: a path cannot contain the name of this flag.</p>
          <RangePicker />
          <TrafficSection place={place} brief />
        </>
      ) : (
        <>
          <VerdictLine place={place} feature={feature} />
          <Tabs place={place} feature={feature} />
        </>
      )}
    </article>
  );
}

interface HeadProps {
  readonly place: FeaturePlace;
  readonly detail: FeatureDetail | undefined;
}

function Head({ place, detail }: HeadProps) {
  const { query } = useQuery();
  const listAddress = withQuery(environmentAddress(place.application, place.environment, 'flags'), kept(query));
  return (
    <header class="head flag-head">
      <p class="flag-back">
        <a href={listAddress}>Flags</a>
      </p>
      <h1>{place.name}</h1>
      <CopyButton text={place.name} title="Copy name" />
      {detail && !detail.declared && <span class="pill warn">unknown flag</span>}
      {detail?.archived && <span class="pill">archived</span>}
      <Figures place={place} />
      {detail && (
        <p>
          Owner: {ownersText(detail.owners) || 'none'} · Plan: {formatPlan(detail, currentTime(), format) ?? 'none'}{' '}
          <SplitChip place={place} />
        </p>
      )}
      {detail?.description && <p class="flag-description">{detail.description}</p>}
    </header>
  );
}

const titles: Readonly<Record<FlagTab, string>> = {
  overview: 'Overview',
  traffic: 'Traffic',
  experiment: 'Experiment',
  senders: 'Senders',
  settings: 'Settings',
};
const parameters = { tab: allowOnly(flagTabs) };

/** Returns the tab of the address. An address of an earlier release has no tab, but other parameters that imply it. */
function useTab(): FlagTab {
  const { query } = useQuery();
  useParameters(parameters);
  const asked = flagTabs.find((tab) => tab === query['tab']);
  const has = (...names: readonly string[]) => names.some((name) => query[name] !== undefined);
  return asked ?? (has('show', 'kind') ? 'traffic' : has('event', 'base') ? 'experiment' : flagTabs[0]);
}

function Tabs(props: FeatureProps) {
  const tab = useTab();
  return (
    <>
      <div class="flag-tabs">
        <TabList place={props.place} shown={tab} />
        {tab !== 'senders' && tab !== 'settings' && <RangePicker />}
      </div>
      <div id="flag-panel" role="tabpanel" aria-labelledby={`flag-tab-${tab}`} class="stack">
        <TabContent {...props} tab={tab} />
      </div>
    </>
  );
}

const arrows: Readonly<Record<string, string>> = {
  ArrowRight: 'ArrowDown',
  ArrowLeft: 'ArrowUp',
  Home: 'Home',
  End: 'End',
};

function TabList({ place, shown }: { readonly place: FeaturePlace; readonly shown: FlagTab }) {
  const { query } = useQuery();
  const list = useRef<HTMLDivElement>(null);
  function onKeyDown(event: KeyboardEvent) {
    const elements = Array.from(list.current?.children ?? []) as HTMLElement[];
    if (!moveAmong(elements, arrows[event.key] ?? '')) return;
    event.preventDefault();
    (document.activeElement as HTMLElement).click();
  }
  return (
    <div ref={list} role="tablist" class="tabs" aria-label="Flag" tabIndex={-1} onKeyDown={onKeyDown}>
      {flagTabs.map((tab) => (
        <a
          key={tab}
          id={`flag-tab-${tab}`}
          role="tab"
          href={featureAddress(place, query, tab)}
          aria-selected={tab === shown}
          aria-controls={tab === shown ? 'flag-panel' : undefined}
          tabIndex={tab === shown ? 0 : -1}
        >
          {titles[tab]}
        </a>
      ))}
    </div>
  );
}

function TabContent({ place, feature, tab }: FeatureProps & { readonly tab: FlagTab }) {
  if (tab === 'settings') return <Settings place={place} feature={feature} />;
  if (tab === 'traffic')
    return (
      <>
        <TrafficSection place={place} />
        <RolloutSection place={place} feature={feature} />
      </>
    );
  if (tab === 'experiment') return <ExperimentSection place={place} detail={feature.data} />;
  if (tab === 'senders')
    return (
      <>
        <Senders place={place} />
        <Code code={feature.data.code} />
      </>
    );
  return (
    <div class="flag-columns">
      <TrafficSection place={place} brief />
      <Reasons place={place} feature={feature} />
      <Seen place={place} detail={feature.data} />
      <Activity place={place} detail={feature.data} />
    </div>
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
