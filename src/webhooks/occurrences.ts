import type { Authorship } from '../accounts/actors.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { Announce, TeamEvent } from '../accounts/team-events.ts';
import { type RefusalCode, refusals } from '../contract/refusals.ts';
import type { Application, Environment } from '../storage/lmdb/records.ts';
import type { FirstSeen, StaleFeature } from './findings.ts';
import { enqueue, type Occurrence } from './queue.ts';

/** Events as receivers see them; docs/webhooks.md shows each. */

/** Queues the events that changes of accounts tell of. */
export function announcer(randomBytes: RandomBytes): Announce {
  return (draft, event, by) => void enqueue(draft, occurrenceOf(event, by), { now: by.at, randomBytes });
}

function occurrenceOf(event: TeamEvent, by: Authorship): Occurrence {
  if (event.type === 'key.leaked') {
    const { application, key, at } = event;
    const { id, name, prefix } = key;
    const data = { application: shown(application), key: { id, name, prefix }, leakedAt: timeText(at) };
    // The leak may be written down later than it was seen: whoever wants to know by then is told.
    return { type: 'key.leaked', teamId: application.teamId, at: by.at, data };
  }
  const { teamId, change, user } = event;
  const { id, email, name, role } = user;
  const { type, name: byName } = by.actor;
  const data = { change, user: { id, email, name, role }, by: { type, name: byName } };
  return { type: 'member.changed', teamId, at: by.at, data };
}

const minuteMs = 60_000;

/** First sights are known to the minute. */
export function firstSeen(application: Application, { environment, feature, at }: FirstSeen): Occurrence {
  const data = {
    application: shown(application),
    environment: environment.name,
    feature,
    firstSeenAt: timeText(at),
  };
  return { type: 'flag.first_seen', teamId: application.teamId, at, withinMs: minuteMs, data };
}

/** Nothing has named a flag for long. */
export function stale(application: Application, { feature, since, lastSeenAt }: StaleFeature): Occurrence {
  const data = {
    application: shown(application),
    feature,
    lastSeenAt: lastSeenAt === null ? null : timeText(lastSeenAt),
    staleSince: timeText(since),
  };
  return { type: 'flag.stale', teamId: application.teamId, at: since, data };
}

/** Messages that are refused for one reason. */
export interface Refusing {
  readonly code: string;
  readonly status: number;
  readonly count: number;
  readonly lastAt: number;
}

/** @param application `null` when the service refuses whatever comes */
export function refusing(
  teamId: string,
  application: Application | null,
  environment: Pick<Environment, 'name'> | null,
  { code, status, count, lastAt }: Refusing,
): Occurrence {
  const data = {
    application: application && shown(application),
    environment: environment?.name ?? null,
    ...{ code, status, title: refusals[code as RefusalCode]?.title ?? '', count },
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
