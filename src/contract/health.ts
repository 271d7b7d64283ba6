/*
 * The rules for what needs attention in an application. The console, the API, `flagmeter health`, the Prometheus alerts
 * and the webhooks use these rules, thresholds and windows. `src/reports/verdicts/findings.ts` applies them. The table
 * of docs/alerts.md is generated from this file.
 */
import type { VerdictKind } from './verdicts.ts';
import type { Words } from './words.ts';

/** A page of the console. */
export interface ConsolePage {
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
}

/** Severities, the most severe first. */
export const severities = ['urgent', 'warning', 'info'] as const;

export type Severity = (typeof severities)[number];

/** Limits of an episode of refusals: messages of one environment that were refused for the same reason. */
export const refusing = {
  /** Minimum number of refusals. A single mistyped key causes fewer refusals. */
  least: 10,
  /** An episode ends after this time without refusals. */
  quietMs: 3_600_000,
  /** Maximum age of the counted refusals. */
  countedMs: 2 * 3_600_000,
} as const;

/** Numbers of days before the expiry of an API key at which the expiry is announced. */
export const expiryDays = [1, 14] as const;

/** Delay of the counts in reports above which a finding says that recent counts of other nodes are missing. */
export const behindMs = 120_000;

/** Time without data after which an environment is silent. */
export const silentMs = 86_400_000;

/** Time for which a finished experiment is a finding. */
export const doneMs = 7 * 86_400_000;

/** Verdicts on flags that can be removed from the code. */
const removableKinds: readonly VerdictKind[] = ['safe_to_remove', 'one_variant'];

/**
 * True if a flag can be removed from the code. Archived flags do not count, because the team is done with them. An
 * undeclared flag counts only if no program requests it, because its name might be misspelt.
 */
export function canGo(kind: VerdictKind, declaration: { readonly archived: boolean } | undefined): boolean {
  if (declaration === undefined) return kind === 'safe_to_remove';
  return removableKinds.includes(kind) && !declaration.archived;
}

/** Alert in docs/alerts/flagmeter.yml that reports the same finding. */
interface HealthAlert {
  readonly name: string;
  readonly expr: string;
}

interface HealthRule {
  readonly severity: Severity;
  /** Text of the finding for one subject. */
  readonly one: string;
  /** Text of the finding for several subjects; their number precedes it. */
  readonly many: string;
  /** Sentences for one subject and for several subjects. `{}` stands for the names of the subjects. */
  readonly sentences: readonly [one: string, many: string];
  /** Label of the link to the page that resolves the finding. */
  readonly action: string;
  /** Condition of the rule, in Markdown. */
  readonly when: string;
  /** Webhook event that reports the same finding. */
  readonly event: string | null;
  readonly alert: HealthAlert | null;
}

export const healthRules = {
  key_leaked: {
    severity: 'urgent',
    one: 'key leaked',
    many: 'keys leaked',
    sentences: ['Key {} was sent by a browser{times}', 'Keys {} were sent by browsers{times}'],
    action: 'Replace key',
    when: 'A packet contained a Backend key of the application, so the key is in a browser or an app. The finding lasts until the key is deleted.',
    event: 'key.leaked',
    alert: { name: 'FlagmeterKeyLeaked', expr: 'flagmeter_leaked_keys > 0' },
  },
  senders_refused: {
    severity: 'warning',
    one: '1 sender refused',
    many: 'senders refused',
    sentences: ['{} was refused{times}', '{} were refused{times}'],
    action: 'Show cause',
    when: `At least ${refusing.least} messages of an environment were refused for one reason in ${hours(refusing.countedMs)} hours, the last of them within ${hours(refusing.quietMs)} hour. Or all messages of a sender were refused in ${hours(silentMs)} hours, however few. Messages with a leaked key are not counted.`,
    event: 'ingest.refusing',
    alert: {
      name: 'FlagmeterSendersRefused',
      expr: `sum by (instance, code) (increase(flagmeter_ingest_refusals_total{attributed="true"}[${hours(refusing.quietMs)}h])) >= ${refusing.least}`,
    },
  },
  nothing_received: {
    severity: 'warning',
    one: 'nothing received',
    many: 'environments without data',
    sentences: ['{} no longer receives data', '{} no longer receive data'],
    action: 'Check senders',
    when: `The environment has received data, but none for ${hours(silentMs)} hours.`,
    event: null,
    alert: null,
  },
  data_behind: {
    severity: 'warning',
    one: 'counts of other nodes missing',
    many: 'counts of other nodes missing',
    sentences: ['Counts of other nodes are missing', 'Counts of other nodes are missing'],
    action: 'Show nodes',
    when: `On several machines: reports are more than ${behindMs / 60_000} minutes behind, so the figures of the page are incomplete.`,
    event: null,
    alert: {
      name: 'FlagmeterReportsBehind',
      expr: `time() - flagmeter_complete_through_timestamp_seconds > ${behindMs / 1000}`,
    },
  },
  split_mismatch: {
    severity: 'warning',
    one: '1 split is off',
    many: 'splits are off',
    sentences: ['The users of {} are not split as intended', 'The users of {} are not split as intended'],
    action: 'Check split',
    when: 'The users of a flag are not split as intended by its declaration or its rollout plan: see [semantics.md](semantics.md#intended-and-actual-split).',
    event: null,
    alert: null,
  },
  archived_but_asked: {
    severity: 'warning',
    one: '1 archived flag still checked',
    many: 'archived flags still checked',
    sentences: ['Fix flag {}: archived, but still checked', 'Fix {count} flags, archived but still checked: {}'],
    action: 'Fix senders',
    when: 'The [verdict](semantics.md#the-verdict) on a flag is `archived_but_asked`.',
    event: 'flag.verdict_changed',
    alert: null,
  },
  api_key_expiring: {
    severity: 'warning',
    one: '1 API key expires soon',
    many: 'API keys expire soon',
    sentences: ['API key {} expires soon', 'API keys {} expire soon'],
    action: 'Rotate secret',
    when: `An API key of the team expires within ${Math.max(...expiryDays)} days. Only Admins of the team see this finding.`,
    event: 'api-key.expiring',
    alert: { name: 'FlagmeterApiKeysExpire', expr: 'flagmeter_api_keys_expiring > 0' },
  },
  experiment_done: {
    severity: 'info',
    one: '1 experiment has finished',
    many: 'experiments have finished',
    sentences: ['Experiment {} has finished', 'Experiments {} have finished'],
    action: 'Read result',
    when: `An experiment has finished as planned in the last ${doneMs / 86_400_000} days, and its result is final.`,
    event: 'experiment.finished',
    alert: null,
  },
  not_set_up: {
    severity: 'info',
    one: 'set up',
    many: 'environments to set up',
    sentences: ['No data received yet', 'No data received yet'],
    action: 'Set up',
    when: 'The application or the selected environment has never received data.',
    event: null,
    alert: null,
  },
  flags_can_go: {
    severity: 'info',
    one: '1 flag can be removed',
    many: 'flags can be removed',
    sentences: ['Remove flag {}: it decides nothing', 'Remove {count} flags that decide nothing: {}'],
    action: 'Remove flags',
    when: `The verdict on a flag is ${removableKinds.map((kind) => `\`${kind}\``).join(' or ')}, and the flag is not archived. An undeclared flag must be \`safe_to_remove\`.`,
    event: 'flag.verdict_changed',
    alert: null,
  },
  undeclared: {
    severity: 'info',
    one: '1 unknown flag',
    many: 'unknown flags',
    sentences: ['Fix unknown flag {}', 'Fix {count} unknown flags: {}'],
    action: 'Declare flags',
    when: 'The team declares its flags, and a flag was seen that is not declared. Its name might be misspelt.',
    event: null,
    alert: null,
  },
} as const satisfies Readonly<Record<string, HealthRule>>;

export type HealthKind = keyof typeof healthRules;

export const healthKinds = Object.keys(healthRules) as [HealthKind, ...HealthKind[]];

export function healthRule(kind: HealthKind): HealthRule {
  return healthRules[kind];
}

/** Describes a finding in a few words, such as `3 senders refused`. @param cause added after a colon */
export function healthText(kind: HealthKind, count: number, cause?: string): string {
  const { one, many } = healthRules[kind];
  return `${count === 1 ? one : `${count} ${many}`}${cause === undefined ? '' : `: ${cause}`}`;
}

/** The facts of a finding that its sentence contains. */
interface SentenceFacts {
  readonly count: number;
  readonly names: readonly string[];
  readonly messages?: number | undefined;
  readonly cause?: string | undefined;
}

/** Describes a finding in a sentence without a full stop, such as `Key web was sent by a browser 3 times`. */
export function healthWords(kind: HealthKind, { count, names, messages, cause }: SentenceFacts): Words {
  const more = count > names.length ? [`${count - names.length} more`] : [];
  const listing = new Intl.ListFormat('en-GB').formatToParts([...names, ...more]);
  const subjects = listing.map(({ type, value }, index) =>
    type === 'literal' || index >= 2 * names.length ? value : { name: value },
  );
  const times = messages === undefined ? '' : messages === 1 ? ' once' : ` ${messages.toLocaleString('en-GB')} times`;
  const [before, after] = healthRules[kind].sentences[count === 1 ? 0 : 1]
    .replace('{times}', times)
    .replace('{count}', String(count))
    .split('{}');
  return [
    before ?? '',
    ...(after === undefined ? [] : [...subjects, after]),
    ...(cause === undefined ? [] : [`: ${cause}`]),
  ];
}

/** Returns the query with which the page of received messages shows the refusals of a finding. */
export function refusalQuery(code: string, senders: readonly string[]): Readonly<Record<string, string>> {
  const [first, ...others] = senders;
  return {
    outcome: 'refused',
    reason: code,
    range: '24h',
    ...(first !== undefined && others.length === 0 && { sender: first }),
  };
}

interface FindingPlace {
  /** Id of the application. */
  readonly application: string;
  /** Name of the environment; `null` for the first environment. */
  readonly environment?: string | null;
  readonly team?: string;
  /** Parameters that select the items of the finding. */
  readonly query?: ConsolePage['query'];
}

/** Returns the page of the console on which people act on a finding. Home, webhooks and the digest link to it. */
export function findingPage(kind: HealthKind, { application, environment, team, query }: FindingPlace): ConsolePage {
  switch (kind) {
    case 'key_leaked':
      return { path: ['settings', 'application'], query: { app: application, ...query } };
    case 'api_key_expiring':
      return { path: ['settings', 'team'], query: { team: team ?? '' } };
    case 'data_behind':
      return { path: [] };
    default: {
      const [page, state] = pages[kind];
      const selected = { ...(state !== undefined && { state }), ...query };
      return environment == null
        ? { path: ['apps', application], query: { page, ...selected } }
        : { path: ['apps', application, environment, page], query: selected };
    }
  }
}

const pages = {
  senders_refused: ['ingest'],
  nothing_received: ['connect'],
  split_mismatch: ['flag'],
  archived_but_asked: ['flags', 'archived_but_asked'],
  experiment_done: ['experiment'],
  not_set_up: ['connect'],
  flags_can_go: ['cleanup'],
  undeclared: ['flags', 'undeclared'],
} as const satisfies Partial<Readonly<Record<HealthKind, readonly [page: string, state?: string]>>>;

function hours(ms: number): number {
  return ms / 3_600_000;
}
