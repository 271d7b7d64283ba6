import type { ActorType } from './audit.ts';
import { type ConsolePage, canGo, findingPage, healthText, healthWords, refusalQuery } from './health.ts';
import type { Role } from './roles.ts';
import { silenceOnly, type VerdictBasis, type VerdictKind, verdictRules, verdictWord } from './verdicts.ts';
import { listed, type Words, words } from './words.ts';

/*
 * The events of webhooks. Each event has one declaration: its data, its time, an example of its data, and its message.
 * Types, checks, the choices of the console, the tables of docs/webhooks.md and the formats of deliveries are derived
 * from this declaration.
 */

/** Human-readable message about an event. */
export interface EventMessage {
  /** A sentence without its full stop. */
  readonly sentence: Words;
  readonly facts: readonly (readonly [label: string, value: Words])[];
  readonly page: ConsolePage;
  /**
   * Subject of an issue in a tracker. For some time, a finding with an equal subject opens no second issue. `null` if
   * there is nothing to do, so that no issue is opened.
   */
  readonly finding: readonly string[] | null;
}

/** The fields that the data of every event has, in addition to the fields of the event. */
export interface OfTeam {
  readonly team: NamedEntity;
}

interface WebhookEventDeclaration<Data> {
  readonly when: string;
  readonly example: Data;
  readonly message: (data: Data & OfTeam) => EventMessage;
}

/**
 * @typeParam Data the type of the field `data` in deliveries, without the team. Times are RFC 3339. Newer fields are
 * optional.
 */
const event = <Data>(declaration: WebhookEventDeclaration<Data>) => declaration;

interface NamedEntity {
  readonly id: string;
  readonly name: string;
}

type Owners = readonly { readonly type: 'user' | 'team' | 'text'; readonly id: string | null; readonly name: string }[];

/** The digest, sent on Monday, 8:00 UTC. Its lists have a maximum length. */
interface DigestData {
  readonly week: { readonly from: string; readonly to: string };
  /** The applications with the most flags to remove, at most 10. */
  readonly applications: readonly {
    readonly application: NamedEntity;
    readonly counts: {
      readonly flags: number;
      readonly canGo: number;
      readonly cannotGoYet: number;
      readonly undeclared: number;
      readonly archivedButAsked: number;
    };
    /** Flags that can be removed, at most 10. */
    readonly canGo: readonly {
      readonly feature: string;
      readonly verdict: VerdictKind;
      readonly since: string | null;
      /** The variant whose branch remains in the code; `null` if no variant remains. */
      readonly variant: string | null;
      readonly owners: Owners;
    }[];
    /** Results of the experiments that have finished in the last seven days, at most 10. */
    readonly experiments?: readonly {
      readonly experiment: NamedEntity;
      readonly outcome: string;
      /** The result of the experiment in a sentence. */
      readonly verdict: string;
    }[];
  }[];
  readonly applicationsLeftOut: number;
}

const at = '2026-01-31T12:00:00.000Z';
const earlier = '2026-01-01T12:00:00.000Z';
const application = { id: 'app_…', name: 'Shop' };
const owners = [{ type: 'user', id: 'user_…', name: 'Ada Lovelace' }] as const;

/** Result of an experiment in the examples. */
const verdict = 'Better by 4.0 points with on (3.1 to 4.9), 14 days: ship';

/** True if a verdict is a finding in the console. */
function isFinding(verdict: VerdictKind, reasons: readonly { readonly code: string }[]): boolean {
  const has = (reason: string) => reasons.some(({ code }) => code === reason);
  const declaration = has('undeclared') ? undefined : { archived: has('archived') };
  return verdict === 'archived_but_asked' || canGo(verdict, declaration);
}

const mostReasons = 3;
const mostEnvironments = 5;

/** The events that teams can subscribe to. */
export const webhookEvents = {
  'flag.first_seen': event<{
    readonly application: NamedEntity;
    readonly environment: string;
    readonly feature: string;
    readonly firstSeenAt: string;
    readonly owners?: Owners;
  }>({
    when: 'A flag is seen in an environment for the first time',
    example: { application, environment: 'Production', feature: 'checkout', firstSeenAt: at, owners },
    message: ({ application, environment, feature, firstSeenAt, owners }) => ({
      sentence: words`The flag ${feature} of ${application.name} was seen in ${environment} for the first time`,
      facts: [['First seen', moment(firstSeenAt)], ...ownersFact(owners)],
      page: featurePage(application, feature, environment),
      finding: [application.id, feature],
    }),
  }),
  'flag.stale': event<{
    readonly application: NamedEntity;
    readonly feature: string;
    /** `null` for a flag that was declared but never seen. */
    readonly lastSeenAt: string | null;
    readonly staleSince: string;
    /** Silence is the only evidence. A sender that could use the flag might be switched off. */
    readonly basis: 'silence';
    readonly owners?: Owners;
  }>({
    when: 'A flag has become stale: silence is the only basis',
    example: { application, feature: 'checkout', lastSeenAt: earlier, staleSince: at, basis: 'silence', owners },
    message: ({ application, feature, lastSeenAt, staleSince, owners }) => ({
      sentence:
        lastSeenAt === null
          ? words`The flag ${feature} of ${application.name} is stale: it was declared, but never seen`
          : words`The flag ${feature} of ${application.name} is stale: nothing has named it for a long time`,
      facts: [
        ...(lastSeenAt === null ? [] : [['Last seen', moment(lastSeenAt)] as const]),
        ['Stale since', moment(staleSince)],
        ['Caution', [`${silenceOnly}.`]],
        ...ownersFact(owners),
      ],
      page: featurePage(application, feature),
      finding: [application.id, feature],
    }),
  }),
  'flag.verdict_changed': event<{
    readonly application: NamedEntity;
    readonly feature: string;
    readonly previous: VerdictKind;
    readonly verdict: VerdictKind;
    readonly basis: VerdictBasis;
    /** `null` if unknown. */
    readonly since: string | null;
    readonly environments: readonly string[];
    /** The reasons in the response of `…/verdict`, without figures. */
    readonly reasons: readonly {
      readonly code: string;
      readonly text: string;
      readonly at: string | null;
      readonly names: readonly string[];
    }[];
    readonly owners?: Owners;
  }>({
    when: 'The verdict on a flag has changed, such as to `safe_to_remove`',
    example: {
      application,
      feature: 'checkout',
      previous: 'in_use',
      verdict: 'safe_to_remove',
      basis: 'senders',
      since: earlier,
      environments: ['Production'],
      reasons: [
        { code: 'senders_report', text: 'web 2.3 used to check it, and still reports.', at: null, names: ['web 2.3'] },
      ],
      owners,
    },
    message: ({ application, feature, previous, verdict, since, environments, reasons, owners }) => ({
      sentence: words`The verdict on the flag ${feature} of ${application.name} is now ${verdictWords(verdict)}: ${[verdictRules[verdict].meaning]}`,
      facts: [
        ['Before', verdictWords(previous)],
        ...(since === null ? [] : [['Since', moment(since)] as const]),
        ['Environments', listed(environments, mostEnvironments)],
        ...ownersFact(owners),
        ...reasons.slice(0, mostReasons).map(({ text }) => ['Reason', words`${text}`] as const),
      ],
      page: featurePage(application, feature, environments[0]),
      finding: isFinding(verdict, reasons) ? [application.id, feature, verdict] : null,
    }),
  }),
  'digest.weekly': event<DigestData>({
    when: 'Monday, 8:00 UTC: the flags that can be removed, with their owners, and the results of experiments',
    example: {
      week: { from: '2026-01-19T08:00:00.000Z', to: '2026-01-26T08:00:00.000Z' },
      applications: [
        {
          application,
          counts: { flags: 120, canGo: 1, cannotGoYet: 3, undeclared: 2, archivedButAsked: 0 },
          canGo: [{ feature: 'old-banner', verdict: 'safe_to_remove', since: earlier, variant: null, owners }],
          experiments: [{ experiment: { id: '1', name: 'One page' }, outcome: 'better', verdict }],
        },
      ],
      applicationsLeftOut: 0,
    },
    message: digestMessage,
  }),
  'key.leaked': event<{
    readonly application: NamedEntity;
    readonly key: NamedEntity & { readonly prefix: string };
    readonly leakedAt: string;
  }>({
    when: 'A browser sent a Backend key',
    example: { application, key: { id: 'key_…', name: 'Server', prefix: 'fm_be_012345' }, leakedAt: at },
    message: ({ application, key, leakedAt }) => ({
      sentence: words`${application.name}: ${healthWords('key_leaked', { count: 1, names: [key.name || key.prefix] })}`,
      facts: [
        ['Key', words`${key.prefix}…`],
        ['Received', moment(leakedAt)],
      ],
      page: findingPage('key_leaked', { application: application.id, query: { key: key.id } }),
      finding: [key.id],
    }),
  }),
  'api-key.expiring': event<{
    readonly apiKey: NamedEntity;
    readonly expiresAt: string;
    /** Days until the expiry, rounded up. */
    readonly daysLeft: number;
  }>({
    when: 'An API key expires within 14 days, or within one day',
    example: { apiKey: { id: 'client_…', name: 'Dashboard' }, expiresAt: at, daysLeft: 14 },
    message: ({ apiKey, expiresAt, daysLeft, team }) => ({
      sentence: words`${team.name}: ${healthWords('api_key_expiring', {
        count: 1,
        names: [apiKey.name],
        cause: daysLeft === 1 ? 'within a day' : `within ${daysLeft} days`,
      })}`,
      facts: [
        ['Client id', words`${apiKey.id}`],
        ['Expires', moment(expiresAt)],
      ],
      page: findingPage('api_key_expiring', { application: '', team: team.id }),
      finding: [apiKey.id, expiresAt],
    }),
  }),
  'ingest.refusing': event<{
    /** `null` if messages of all applications are refused. */
    readonly application: NamedEntity | null;
    readonly environment: string | null;
    readonly code: string;
    readonly status: number;
    readonly title: string;
    readonly count: number;
    readonly lastRefusedAt: string;
    /** Names of the refused programs. */
    readonly senders?: readonly string[];
    readonly sendersLeftOut?: number;
  }>({
    when: 'Packets or reports are being refused',
    example: {
      application,
      environment: 'Production',
      code: 'origin_not_allowed',
      status: 403,
      title: 'The application does not allow this origin',
      count: 120,
      lastRefusedAt: at,
      senders: ['web'],
      sendersLeftOut: 0,
    },
    message: ({
      application,
      environment,
      code,
      status,
      title,
      count,
      lastRefusedAt,
      senders = [],
      sendersLeftOut = 0,
    }) => ({
      sentence:
        application === null || senders.length === 0
          ? words`flagmeter is refusing ${application === null ? ['all messages'] : words`messages of ${application.name}`}: ${[title || code]}`
          : words`${application.name}: ${healthWords('senders_refused', {
              count: senders.length + sendersLeftOut,
              names: senders,
              messages: count,
              cause: code.replaceAll('_', ' '),
            })}`,
      facts: [
        ...(environment === null ? [] : [['Environment', words`${environment}`] as const]),
        ['Response', [`${status} ${title || code}`]],
        ['Last refused', moment(lastRefusedAt)],
      ],
      page:
        application === null
          ? { path: [] }
          : findingPage('senders_refused', {
              application: application.id,
              environment,
              query: refusalQuery(code, senders),
            }),
      finding: [application?.id ?? '', environment ?? '', code],
    }),
  }),
  'experiment.finished': event<{
    readonly application: NamedEntity;
    /** `null` if the environment was deleted. */
    readonly environment: string | null;
    readonly feature: string;
    readonly experiment: NamedEntity;
    readonly outcome: string;
    /** The result of the experiment in a sentence. */
    readonly verdict: string;
    readonly finishedAt: string;
  }>({
    when: 'The plan of an experiment is met, and its result is final',
    example: {
      application,
      environment: 'Production',
      feature: 'checkout',
      experiment: { id: '1', name: 'One page' },
      outcome: 'better',
      verdict,
      finishedAt: at,
    },
    message: ({ application, environment, feature, experiment, verdict, finishedAt }) => ({
      sentence: words`${application.name}: ${healthWords('experiment_done', { count: 1, names: [experiment.name] })}`,
      facts: [
        ['Result', words`${verdict}`],
        ['Flag', words`${feature}`],
        ...(environment === null ? [] : [['Environment', words`${environment}`] as const]),
        ['Finished', moment(finishedAt)],
      ],
      page: findingPage('experiment_done', { application: application.id, environment, query: { id: experiment.id } }),
      finding: [application.id, feature, experiment.id],
    }),
  }),
  'member.changed': event<{
    readonly change: keyof typeof memberSentences;
    /** `role` is the role in the team. */
    readonly user: NamedEntity & { readonly email: string; readonly role: Role };
    readonly by: { readonly type: ActorType; readonly name: string };
  }>({
    when: 'A member was added, changed or removed',
    example: {
      change: 'added',
      user: { id: 'user_…', email: 'ada@example.com', name: 'Ada', role: 'User' },
      by: { type: 'user', name: 'bob@example.com' },
    },
    message: ({ change, user, by, team }) => ({
      sentence: memberSentences[change](by.name || by.type, user.name || user.email, team.name),
      facts: [
        ['E-mail', words`${user.email}`],
        ['Role', [user.role]],
      ],
      page: { path: ['settings', 'team'], query: { team: team.id } },
      finding: [change, user.id],
    }),
  }),
};

const memberSentences = {
  added: (by, user, team) => words`${by} added ${user} to the team ${team}`,
  removed: (by, user, team) => words`${by} removed ${user} from the team ${team}`,
  created: (by, user, team) => words`${by} created the user ${user} in the team ${team}`,
  changed: (by, user, team) => words`${by} changed the user ${user} of the team ${team}`,
  deleted: (by, user, team) => words`${by} deleted the user ${user} of the team ${team}`,
} satisfies Record<string, (by: string, user: string, team: string) => Words>;

/** All events that are sent: the subscribed events, and the test event that a person requests for one webhook. */
export const sentEvents = {
  ...webhookEvents,
  'webhook.test': event<{ readonly webhook: NamedEntity }>({
    when: 'Someone requested a test',
    example: { webhook: { id: 'webhook_…', name: 'Chat' } },
    message: ({ webhook, team }) => ({
      sentence: words`This is a test of the webhook ${webhook.name} of the team ${team.name}`,
      facts: [],
      page: { path: ['settings', 'webhook'], query: { team: team.id, webhook: webhook.id } },
      finding: null,
    }),
  }),
};

export type WebhookEventType = keyof typeof webhookEvents;
export type SentEventType = keyof typeof sentEvents;

/** Types of the data of each event, without the team. */
export type WebhookEventData = {
  readonly [Type in SentEventType]: (typeof sentEvents)[Type]['example'];
};

export type WebhookEvent<Type extends WebhookEventType = WebhookEventType> = {
  readonly [Each in Type]: {
    readonly type: Each;
    readonly teamId: string;
    /** Time of the event in Unix ms. */
    readonly at: number;
    /** Uncertainty of `at` in ms. The event occurred at most this long after `at`. */
    readonly withinMs?: number;
    readonly data: WebhookEventData[Each];
  };
}[Type];

export function eventMessage<Type extends SentEventType>(
  type: Type,
  data: WebhookEventData[Type] & OfTeam,
): EventMessage {
  const { message } = sentEvents[type] as unknown as WebhookEventDeclaration<WebhookEventData[Type]>;
  return message(data);
}

const mostOwners = 3;

function ownersFact(owners: Owners | undefined): EventMessage['facts'] {
  if (owners === undefined || owners.length === 0) return [];
  return [['Owners', ownersWords(owners)]];
}

function ownersWords(owners: Owners): Words {
  return listed(
    owners.map(({ name }) => shortened(name)),
    mostOwners,
  );
}

const mostInDigest = 10;

function digestMessage({ week, applications, applicationsLeftOut, team }: DigestData & OfTeam): EventMessage {
  const total = applications.reduce((sum, { counts }) => sum + counts.canGo, 0);
  const features = applications.flatMap(({ application, canGo }) =>
    canGo.map((feature) => ['Can be removed', digestFeature(application.name, feature)] as const),
  );
  const results = applications.flatMap(({ application, experiments = [] }) =>
    experiments.map(
      ({ experiment, verdict }) =>
        ['Experiment', words`${shortened(experiment.name)} of ${shortened(application.name)}: ${verdict}`] as const,
    ),
  );
  const [only] = applications;
  return {
    sentence: words`Weekly digest of the team ${team.name}: ${[total === 0 ? 'no flag can be removed' : healthText('flags_can_go', total)]}`,
    facts: [
      ...applications.map(
        ({ application, counts }) => ['Application', digestCounts(application.name, counts)] as const,
      ),
      ...features.slice(0, mostInDigest),
      ...(total > mostInDigest ? [['More', [`${total - mostInDigest} more can be removed`]] as const] : []),
      ...results.slice(0, mostInDigest),
      ...(applicationsLeftOut > 0 ? [['Left out', [`${applicationsLeftOut} more applications`]] as const] : []),
    ],
    page:
      applications.length === 1 && only
        ? findingPage('flags_can_go', { application: only.application.id })
        : { path: [] },
    finding: total === 0 ? null : [team.id, week.to],
  };
}

type InDigest = DigestData['applications'][number];

function digestCounts(name: string, { flags, canGo, undeclared, archivedButAsked }: InDigest['counts']): Words {
  const findings = [
    ['flags_can_go', canGo],
    ['undeclared', undeclared],
    ['archived_but_asked', archivedButAsked],
  ] as const;
  const counts = findings.filter(([, count]) => count > 0).map(([kind, count]) => healthText(kind, count));
  return words`${shortened(name)}: ${[[`${flags} flags`, ...counts].join(', ')]}`;
}

function digestFeature(application: string, { feature, since, variant, owners }: InDigest['canGo'][number]): Words {
  const from = since === null ? '' : ` since ${since.slice(0, 10)}`;
  const state = variant === null ? [`unused${from}`] : words`only ${shortened(variant)}${[from]}`;
  const by = owners.length === 0 ? [] : [', owned by ', ...ownersWords(owners)];
  return [...words`${shortened(feature)} of ${shortened(application)}: `, ...state, ...by];
}

/** Shortens a name, so that several names fit into a message. */
function shortened(name: string): string {
  const characters = Array.from(name);
  return characters.length <= 60 ? name : `${characters.slice(0, 59).join('')}…`;
}

/** Returns the page of a flag. By default, the console shows the first environment. */
function featurePage({ id }: { readonly id: string }, name: string, environment?: string): ConsolePage {
  return environment === undefined
    ? { path: ['apps', id], query: { flag: name } }
    : { path: ['apps', id, environment, 'flag'], query: { name } };
}

/** Formats an RFC 3339 time with a precision of minutes. */
function moment(time: string): Words {
  return [time.replace(/^(.{10})T(.{5}).*$/, '$1 $2 UTC')];
}

function verdictWords(kind: string): Words {
  return [verdictWord(kind) ?? kind];
}
