import { expiringKeys } from '../accounts/api-keys.ts';
import { listLeakedKeys } from '../accounts/application-keys.ts';
import type { Directory } from '../accounts/directory.ts';
import { findOwners } from '../accounts/owners.ts';
import { formatExperimentState } from '../contract/experiment-state.ts';
import {
  behindMs,
  findingPage,
  type HealthKind,
  healthKinds,
  healthRules,
  healthText,
  healthWords,
  refusalQuery,
  silentMs,
} from '../contract/health.ts';
import { Health, type HealthItem, type HealthSubject, maxSubjects } from '../contract/shapes/health.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { ok } from '../http/responses.ts';
import { listConclusions } from '../reports/experiments/experiment-text.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import type { DataFindings } from '../reports/verdicts/findings.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { ApiKey, Application, ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';
import type { ExperimentConclusion, FeatureFindingKind, FeatureFindings } from '../webhooks/findings.ts';
import type { Caller } from './access.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironment } from './environments.ts';
import { consolePath } from './responses.ts';
import type { ComputedFindings } from './shared-findings.ts';

const nothing = { count: 0, names: [] };
export const noFeatures: FeatureFindings = {
  flags: 0,
  found: { archived_but_asked: nothing, flags_can_go: nothing, split_mismatch: nothing, undeclared: nothing },
};

/** Findings of an application whose data was not examined yet. */
export const incomplete: ComputedFindings = {
  data: { environments: [], all: noFeatures, refused: [] },
  completeThrough: undefined,
};

/** `/api/v2/applications/{id}/health`. */
export const health: Group = {
  tag: 'Health',
  description: 'Findings that need attention.',
  endpoints: [
    endpoint('GET /applications/:id/health', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'readHealth',
      summary: 'Read the findings that need attention in an application',
      description:
        'The alerts and webhook events follow the same rules: see `docs/alerts.md`. The findings are computed at most every ten seconds for all callers.',
      query: anyEnvironment.query,
      responses: { 200: jsonResponse(Health, 'The findings, the most urgent first.') },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      async handle({ directory, application, caller, query: { environment: only } }, { findings }) {
        if (only !== undefined) findEnvironment(application.environments, only);
        const accounts = accountFindings(directory, application, caller);
        const computed = await findings.of(application);
        return ok(computeHealth({ application, only, now: directory.clock.now(), ...accounts, ...computed }));
      },
    }),
  ],
};

/** Findings in the account records of an application. */
interface AccountFindings {
  readonly leaked: readonly (Pick<ApplicationKey, 'id' | 'name' | 'prefix' | 'leakedAt'> & {
    readonly refused: KeyRefusals | undefined;
  })[];
  /** Expiring API keys of the team; empty if the caller may not see them. */
  readonly expiring: readonly Pick<ApiKey, 'clientId' | 'name'>[];
  /** Experiments that have finished recently. */
  readonly done: readonly ExperimentConclusion[];
  /** Returns the names of a flag's owners; the name of the team if no flag is given. */
  ownersOf(feature?: string): readonly string[];
}

export interface Facts extends AccountFindings {
  readonly application: Pick<Application, 'id' | 'teamId' | 'environments'>;
  /** The environment to report; `undefined` for all environments. */
  readonly only: string | undefined;
  readonly data: DataFindings;
  /** Current time, Unix ms. */
  readonly now: number;
  /** Time before which the counts are complete, Unix ms; `undefined` on a single machine. */
  readonly completeThrough: number | undefined;
}

/** Reads the findings in the accounts. */
export function accountFindings(
  directory: Directory,
  application: Application,
  caller: Caller,
): AccountFindings & { readonly expiring: readonly ApiKey[] } {
  const { id, teamId } = application;
  const isTheirs = caller.roleIn(teamId) === 'Admin' && caller.apiKey?.applications === undefined;
  return {
    leaked: listLeakedKeys(directory, id).map((key) => ({
      ...key,
      leakedAt: directory.leakedAt(key),
      refused: directory.countRefusals(key),
    })),
    done: listConclusions(directory, application, directory.clock.now()),
    expiring: isTheirs ? expiringKeys(directory).filter((apiKey) => apiKey.teamId === teamId) : [],
    ownersOf: (feature) =>
      feature === undefined
        ? [directory.teams.get(teamId)?.name ?? '']
        : findOwners(directory, application, feature, directory.getFeatures(id).get(feature)).owners.map(
            ({ name }) => name,
          ),
  };
}

/** Computes the health of an application or environment. */
export function computeHealth(facts: Facts): Health {
  const { only, now } = facts;
  const items = healthKinds.flatMap((kind) => finderByKind[kind](facts).map((found) => createItem(kind, facts, found)));
  const times = placesIn(facts).flatMap(({ lastReceivedAt }) => lastReceivedAt ?? []);
  return {
    environment: only ?? null,
    status: items[0]?.severity ?? 'ok',
    at: timeText(now),
    lastReceivedAt: timeText(times.length === 0 ? null : Math.max(...times)),
    flags: selectFeatures(facts).flags,
    items,
  };
}

interface HealthFinding {
  readonly count: number;
  readonly subjects: readonly HealthSubject[];
  /** The environment of the linked page. */
  readonly environment: string | null;
  /** The cause, in the short text and in the sentence. */
  readonly cause?: readonly [short: string, sentence: string];
  readonly conclusion?: HealthItem['conclusion'];
  readonly messages?: number | undefined;
  /** Unix ms; `null` if unknown. */
  readonly since?: number | null | undefined;
  /** More parameters of the linked page. */
  readonly query?: Readonly<Record<string, string>>;
}

type Finder = (facts: Facts) => HealthFinding[];

const finderByKind: Readonly<Record<HealthKind, Finder>> = {
  key_leaked: ({ leaked }) =>
    leaked.map(({ id, name, prefix, leakedAt, refused }) => ({
      ...one('key', name || prefix, null, id),
      query: { key: id },
      since: leakedAt,
      messages: refused?.reasons['unknown_key'],
    })),
  senders_refused: (facts) =>
    facts.data.refused
      .filter(({ environment }) => isIn(facts, environment))
      .flatMap(({ environment, code, count: messages, since, senders }) => {
        const place = environment ?? shownIn(facts);
        const words = code.replaceAll('_', ' ');
        const found = listed(senders, (name) => ({ type: 'sender', id: null, name }), place);
        const query = refusalQuery(code, senders);
        return found.map((each) => ({ ...each, cause: [words, words] as const, messages, since, query }));
      }),
  nothing_received: (facts) =>
    placesIn(facts)
      .filter(({ lastReceivedAt: last }) => last !== null && facts.now - last >= silentMs)
      .map(({ name, lastReceivedAt: since }) => ({ ...one('environment', name, name), since })),
  data_behind: ({ completeThrough, now }) =>
    completeThrough !== undefined && now - completeThrough > behindMs
      ? [{ count: 1, subjects: [], environment: null, since: completeThrough }]
      : [],
  split_mismatch: (facts) =>
    placesIn(facts).flatMap((place) =>
      place.found.split_mismatch.names.map((flag) => ({ ...one('feature', flag, place.name), query: { name: flag } })),
    ),
  archived_but_asked: createFeatureFinder('archived_but_asked'),
  api_key_expiring: ({ expiring }) =>
    listed(expiring, ({ clientId, name }) => ({ type: 'apiKey', id: clientId, name })),
  experiment_done: (facts) =>
    facts.done
      .filter(({ environment }) => isIn(facts, environment))
      .map(({ id, name, environment, at, outcome, decision, text }) => ({
        ...one('experiment', name, environment, id),
        query: { id },
        since: at,
        cause: [formatExperimentState({ state: 'finished', outcome, decision }), text] as const,
        conclusion: { outcome, decision },
      })),
  not_set_up(facts) {
    const [first, ...others] = placesIn(facts);
    const isNew = [first, ...others].every((place) => place?.lastReceivedAt === null);
    return first === undefined || !isNew ? [] : [one('environment', first.name, first.name)];
  },
  // The linked page covers these features in all environments, so the finding covers all environments, too.
  flags_can_go: createFeatureFinder('flags_can_go', ({ data }) => data.all),
  undeclared: (facts) =>
    createFeatureFinder('undeclared')(facts).map((found) =>
      facts.only === undefined && facts.data.environments.length > 1
        ? { ...found, query: { by: 'environment' } }
        : found,
    ),
};

/** Returns a finding with one subject. */
function one(type: HealthSubject['type'], name: string, environment: string | null, id = name): HealthFinding {
  return { count: 1, subjects: [{ type, id, name }], environment };
}

function listed<Thing>(
  things: readonly Thing[],
  subject: (thing: Thing) => HealthSubject,
  environment: string | null = null,
): HealthFinding[] {
  if (things.length === 0) return [];
  return [{ count: things.length, subjects: things.slice(0, maxSubjects).map(subject), environment }];
}

function createFeatureFinder(kind: FeatureFindingKind, of: (facts: Facts) => FeatureFindings = selectFeatures): Finder {
  return (facts) => {
    const { count, names } = of(facts).found[kind];
    const subjects = names.map((name) => ({ type: 'feature', id: name, name }) as const);
    return count === 0 ? [] : [{ count, subjects, environment: shownIn(facts) }];
  };
}

function placesIn({ only, data }: Facts): DataFindings['environments'] {
  return only === undefined ? data.environments : data.environments.filter(({ name }) => name === only);
}

/** Selects the findings of the environment. A recently created environment has no findings yet. */
function selectFeatures({ only, data }: Facts): FeatureFindings {
  return only === undefined ? data.all : (data.environments.find(({ name }) => name === only) ?? noFeatures);
}

/** True if a finding concerns the environment. Messages without an environment concern all environments. */
function isIn({ only }: Facts, environment: string | null): boolean {
  return only === undefined || environment === null || environment === only;
}

/** Returns the environment to show on a linked page. */
function shownIn({ only, data, application }: Facts): string | null {
  const busiest = data.environments.toSorted((a, b) => (b.lastReceivedAt ?? 0) - (a.lastReceivedAt ?? 0))[0];
  return only ?? busiest?.name ?? application.environments[0]?.name ?? null;
}

function createItem(kind: HealthKind, { application, ownersOf }: Facts, found: HealthFinding): HealthItem {
  const { count, subjects, environment, cause, conclusion, messages, since, query = {} } = found;
  const { severity, action } = healthRules[kind];
  const sentence = healthWords(kind, { count, names: subjects.map(({ name }) => name), messages, cause: cause?.[1] });
  const place = { application: application.id, team: application.teamId, environment, query };
  const flags = subjects.filter(({ type }) => type === 'feature');
  const owners = flags.length === 0 ? ownersOf() : flags.flatMap(({ name }) => ownersOf(name));
  return {
    kind,
    severity,
    count,
    text: healthText(kind, count, cause?.[0]),
    environment,
    subjects: [...subjects],
    link: consolePath(findingPage(kind, place)),
    sentence: sentence.map((part) => (typeof part === 'string' ? part : part.name)).join(''),
    action,
    owners: [...new Set(owners)],
    ...(since != null && { since: timeText(since) }),
    ...(messages !== undefined && { messages }),
    ...(conclusion !== undefined && { conclusion }),
  };
}
