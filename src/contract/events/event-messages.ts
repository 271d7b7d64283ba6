import type { Owner } from '../shapes/owner.ts';
import { silenceOnly, verdictRules, verdictWord } from '../verdicts.ts';
import { listed, type Words, words } from '../words.ts';
import type { WebhookEventData } from './event-data.ts';

export interface ConsolePage {
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
}

/** How an event reads for people. The formats of webhooks derive their messages from this. */
export interface EventMessage {
  /** One sentence, without its full stop. */
  readonly sentence: Words;
  readonly facts: readonly (readonly [label: string, value: Words])[];
  readonly page: ConsolePage;
  /**
   * What an issue in a tracker is about. The same finding opens no second issue for a while. `null`: there is nothing to do, so
   * no issue is opened.
   */
  readonly finding: readonly string[] | null;
}

/** The fields that the data of each event has besides its own. */
export interface OfTeam {
  readonly team: { readonly id: string; readonly name: string };
}

/** The data of each event, and of a test. */
export interface MessageData extends WebhookEventData {
  'webhook.test': { readonly webhook: { readonly id: string; readonly name: string } };
}

type Messages = {
  readonly [Type in keyof MessageData]: (data: MessageData[Type] & OfTeam) => EventMessage;
};

/** Verdicts that call for a change of the code. */
const calling: readonly string[] = ['safe_to_remove', 'one_variant', 'archived_but_asked'];

const mostReasons = 3;
const mostEnvironments = 5;

const memberSentences: Readonly<
  Record<WebhookEventData['member.changed']['change'], (by: string, user: string, team: string) => Words>
> = {
  added: (by, user, team) => words`${by} added ${user} to the team ${team}`,
  removed: (by, user, team) => words`${by} removed ${user} from the team ${team}`,
  created: (by, user, team) => words`${by} created the user ${user} in the team ${team}`,
  changed: (by, user, team) => words`${by} changed the user ${user} of the team ${team}`,
  deleted: (by, user, team) => words`${by} deleted the user ${user} of the team ${team}`,
};

const eventMessages: Messages = {
  'flag.first_seen': ({ application, environment, feature, firstSeenAt, owners }) => ({
    sentence: words`The flag ${feature} of ${application.name} was seen in ${environment} for the first time`,
    facts: [['First seen', moment(firstSeenAt)], ...ownersFact(owners)],
    page: flagPage(application, feature, environment),
    finding: [application.id, feature],
  }),
  'flag.stale': ({ application, feature, lastSeenAt, staleSince, owners }) => ({
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
    page: flagPage(application, feature),
    finding: [application.id, feature],
  }),
  'flag.verdict_changed': ({
    application,
    feature,
    previous,
    verdict,
    since,
    environments,
    reasons,
    owners,
  }) => ({
    sentence: words`The verdict on the flag ${feature} of ${application.name} is now ${verdictWords(verdict)}: ${[verdictRules[verdict].meaning]}`,
    facts: [
      ['Before', verdictWords(previous)],
      ...(since === null ? [] : [['Since', moment(since)] as const]),
      ['Environments', listed(environments, mostEnvironments)],
      ...ownersFact(owners),
      ...reasons.slice(0, mostReasons).map(({ text }) => ['Reason', words`${text}`] as const),
    ],
    page: flagPage(application, feature, environments[0]),
    finding: calling.includes(verdict) ? [application.id, feature, verdict] : null,
  }),
  'digest.weekly': digestMessage,
  'key.leaked': ({ application, key, leakedAt }) => ({
    sentence: words`A browser sent the Backend key ${key.name || key.prefix} of ${application.name}: replace it`,
    facts: [
      ['Key', words`${key.prefix}…`],
      ['Received', moment(leakedAt)],
    ],
    page: { path: ['settings', 'application'], query: { app: application.id } },
    finding: [key.id],
  }),
  'api-key.expiring': ({ apiKey, expiresAt, daysLeft, team }) => ({
    sentence: words`The API key ${apiKey.name} of the team ${team.name} expires ${[daysLeft === 1 ? 'within a day' : `within ${daysLeft} days`]}: replace it`,
    facts: [
      ['Client id', words`${apiKey.id}`],
      ['Expires', moment(expiresAt)],
    ],
    page: { path: ['settings', 'team'], query: { team: team.id } },
    finding: [apiKey.id, expiresAt],
  }),
  'ingest.refusing': ({ application, environment, code, status, title, count, lastRefusedAt }) => ({
    sentence:
      application === null
        ? words`flagmeter is refusing all messages: ${[title || code]}`
        : words`flagmeter is refusing messages of ${application.name}: ${[title || code]}`,
    facts: [
      ...(environment === null ? [] : [['Environment', words`${environment}`] as const]),
      ['Answer', [`${status} ${code}`]],
      ['Refused', [`${count}`]],
      ['Last refused', moment(lastRefusedAt)],
    ],
    page: {
      path:
        application === null ? [] : ['apps', application.id, ...(environment ? [environment, 'ingest'] : [])],
    },
    finding: [application?.id ?? '', environment ?? '', code],
  }),
  'experiment.finished': ({ application, environment, feature, experiment, verdict, finishedAt }) => ({
    sentence: words`The experiment ${experiment.name} on the flag ${feature} of ${application.name} has finished`,
    facts: [
      ['Result', words`${verdict}`],
      ...(environment === null ? [] : [['Environment', words`${environment}`] as const]),
      ['Finished', moment(finishedAt)],
    ],
    page: {
      path: ['apps', application.id, ...(environment === null ? [] : [environment, 'experiment'])],
      query: { id: experiment.id },
    },
    finding: [application.id, feature, experiment.id],
  }),
  'member.changed': ({ change, user, by, team }) => ({
    sentence: memberSentences[change](by.name || by.type, user.name || user.email, team.name),
    facts: [
      ['E-mail', words`${user.email}`],
      ['Role', [user.role]],
    ],
    page: { path: ['settings', 'team'], query: { team: team.id } },
    finding: [change, user.id],
  }),
  'webhook.test': ({ webhook, team }) => ({
    sentence: words`This is a test of the webhook ${webhook.name} of the team ${team.name}`,
    facts: [],
    page: { path: ['settings', 'webhook'], query: { team: team.id, webhook: webhook.id } },
    finding: null,
  }),
};

export function eventMessage<Type extends keyof MessageData>(
  type: Type,
  data: MessageData[Type] & OfTeam,
): EventMessage {
  return eventMessages[type](data);
}

const mostOwners = 3;

function ownersFact(owners: readonly Owner[] | undefined): EventMessage['facts'] {
  if (owners === undefined || owners.length === 0) return [];
  return [['Owners', ownersWords(owners)]];
}

function ownersWords(owners: readonly Owner[]): Words {
  return listed(
    owners.map(({ name }) => shortened(name)),
    mostOwners,
  );
}

const mostInDigest = 10;

function digestMessage({
  week,
  applications,
  applicationsLeftOut,
  team,
}: WebhookEventData['digest.weekly'] & OfTeam): EventMessage {
  const total = applications.reduce((sum, { counts }) => sum + counts.canGo, 0);
  const flags = applications.flatMap(({ application, canGo }) =>
    canGo.map((flag) => ['Can go', digestFlag(application.name, flag)] as const),
  );
  const [only] = applications;
  return {
    sentence: words`Weekly digest of the team ${team.name}: ${[canGoText(total)]}`,
    facts: [
      ...applications.map(
        ({ application, counts }) => ['Application', digestCounts(application.name, counts)] as const,
      ),
      ...flags.slice(0, mostInDigest),
      ...(total > mostInDigest ? [['More', [`${total - mostInDigest} more can go`]] as const] : []),
      ...(applicationsLeftOut > 0
        ? [['Left out', [`${applicationsLeftOut} more applications`]] as const]
        : []),
    ],
    page: { path: applications.length === 1 && only ? ['apps', only.application.id] : [] },
    finding: total === 0 ? null : [team.id, week.to],
  };
}

function canGoText(count: number): string {
  if (count === 0) return 'no flag can go';
  return count === 1 ? '1 flag can go' : `${count} flags can go`;
}

type InDigest = WebhookEventData['digest.weekly']['applications'][number];

function digestCounts(
  name: string,
  { flags, canGo, undeclared, archivedButAsked }: InDigest['counts'],
): Words {
  const counts = [
    `${flags} flags`,
    `${canGo} can go`,
    undeclared > 0 && `${undeclared} undeclared`,
    archivedButAsked > 0 && `${archivedButAsked} archived but requested`,
  ];
  return words`${shortened(name)}: ${[counts.filter(Boolean).join(', ')]}`;
}

function digestFlag(
  application: string,
  { feature, since, variant, owners }: InDigest['canGo'][number],
): Words {
  const from = since === null ? '' : ` since ${since.slice(0, 10)}`;
  const state = variant === null ? [`unused${from}`] : words`only ${shortened(variant)}${[from]}`;
  const by = owners.length === 0 ? [] : [', owned by ', ...ownersWords(owners)];
  return [...words`${shortened(feature)} of ${shortened(application)}: `, ...state, ...by];
}

/** Several names must fit a message. */
function shortened(name: string): string {
  const characters = Array.from(name);
  return characters.length <= 60 ? name : `${characters.slice(0, 59).join('')}…`;
}

/** Without an environment, the console shows the flag in the first one. */
function flagPage({ id }: { readonly id: string }, name: string, environment?: string): ConsolePage {
  return environment === undefined
    ? { path: ['apps', id], query: { flag: name } }
    : { path: ['apps', id, environment, 'flag'], query: { name } };
}

/** An RFC 3339 time, to the minute. */
function moment(time: string): Words {
  return [time.replace(/^(.{10})T(.{5}).*$/, '$1 $2 UTC')];
}

function verdictWords(kind: string): Words {
  return [verdictWord(kind) ?? kind];
}
