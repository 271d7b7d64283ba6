import type { Announce } from '../accounts/account-draft.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { WebhookEvent } from '../contract/events/event-data.ts';
import { type RefusalCode, refusals } from '../contract/refusals.ts';
import type { Owner } from '../contract/shapes/owner.ts';
import { type VerdictKind, verdictRules } from '../contract/verdicts.ts';
import type { Application, Environment } from '../storage/lmdb/records.ts';
import type { FirstSeen, FoundVerdict, StaleFeature } from './findings.ts';
import { enqueue } from './queue.ts';

/** Event payloads as receivers see them; docs/webhooks.md shows each. */

/** Queues the events that changes of accounts cause. */
export function announcer(randomBytes: RandomBytes): Announce {
  return (draft, event) => void enqueue(draft, event, { now: event.at, randomBytes });
}

const minuteMs = 60_000;

/** First seen times are known to the minute. */
export function firstSeen(
  application: Application,
  { environment, feature, at }: FirstSeen,
  owners: readonly Owner[],
): WebhookEvent {
  const data = {
    application: shown(application),
    environment: environment.name,
    feature,
    firstSeenAt: timeText(at),
    owners,
  };
  return { type: 'flag.first_seen', teamId: application.teamId, at, withinMs: minuteMs, data };
}

/** No packet has named a flag for a long time. */
export function stale(
  application: Application,
  { feature, since, lastSeenAt }: StaleFeature,
  owners: readonly Owner[],
): WebhookEvent {
  const data = {
    application: shown(application),
    feature,
    lastSeenAt: lastSeenAt === null ? null : timeText(lastSeenAt),
    staleSince: timeText(since),
    basis: 'silence',
    owners,
  } as const;
  return { type: 'flag.stale', teamId: application.teamId, at: since, data };
}

/** The verdict on a flag is another one than announced before. @param at when it was computed */
export function verdictChanged(
  application: Application,
  {
    feature,
    kind,
    since,
    environments,
    reasons,
    owners,
  }: FoundVerdict & { readonly owners: readonly Owner[] },
  previous: VerdictKind,
  at: number,
): WebhookEvent {
  const data = {
    application: shown(application),
    feature,
    previous,
    verdict: kind,
    basis: verdictRules[kind].basis,
    since: since === null ? null : timeText(since),
    environments,
    reasons,
    owners,
  };
  return { type: 'flag.verdict_changed', teamId: application.teamId, at, data };
}

/** Messages refused for one reason. */
export interface Refusing {
  readonly code: string;
  readonly status: number;
  readonly count: number;
  readonly lastAt: number;
}

/** @param application `null` if the service refuses all messages */
export function refusing(
  teamId: string,
  application: Application | null,
  environment: Pick<Environment, 'name'> | null,
  { code, status, count, lastAt }: Refusing,
): WebhookEvent {
  const data = {
    application: application && shown(application),
    environment: environment?.name ?? null,
    code,
    status,
    title: refusals[code as RefusalCode]?.title ?? '',
    count,
    lastRefusedAt: timeText(lastAt),
  };
  return { type: 'ingest.refusing', teamId, at: lastAt, data };
}

function shown({ id, name }: Application): Pick<Application, 'id' | 'name'> {
  return { id, name };
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
