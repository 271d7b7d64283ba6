import type { AccountTransaction } from '../accounts/account-transaction.ts';
import { findOwners } from '../accounts/owners.ts';
import { refusing as rules } from '../contract/health.ts';
import { type RefusalCode, refusals } from '../contract/refusals.ts';
import { maxSubjects } from '../contract/shapes/health.ts';
import type { Owner } from '../contract/shapes/owner.ts';
import { verdictRules } from '../contract/verdicts.ts';
import type { WebhookEvent, WebhookEventData } from '../contract/webhook-events.ts';
import type { Application, WebhookAnnouncement } from '../storage/lmdb/records.ts';
import { decideStep, refusalKey, type Step, service } from './announcements.ts';
import type { Findings, FirstSeenFeature, FoundVerdict, RefusalFinding, StaleFeature, WatchTask } from './findings.ts';

/** An event that was found in the data, and might have been announced already. docs/webhooks.md describes events. */
export interface Candidate {
  readonly key: string;
  readonly content: WebhookAnnouncement;
  readonly verdict?: FoundVerdict;
  /** If the last announced candidate with this key has the same value, this candidate needs no further check. */
  readonly settled?: string | undefined;
  stepFrom(announced: WebhookAnnouncement | undefined): Step;
  /** True if the records from which the event derives are unchanged. */
  isCurrent?(tx: AccountTransaction): boolean;
  events(tx: AccountTransaction, announced: WebhookAnnouncement | undefined): readonly WebhookEvent[];
}

/** Lists the events of an application. Refusals come first, because a flood of new flags could delay other events. */
export function* listCandidates(
  application: Application,
  found: Findings,
  task: WatchTask,
  now: number,
): Generator<Candidate> {
  for (const one of found.refused) yield ofRefusals(application, one);
  for (const one of found.firstSeen) yield ofFirstSeen(application, one, now);
  for (const one of found.stale) yield ofStale(application, one, now);
  for (const one of found.verdicts) yield ofVerdict(application, one, task);
}

/** Messages refused for one reason. */
type RefusalCount = Pick<RefusalFinding, 'code' | 'status' | 'count' | 'lastAt'>;

function ofRefusals(application: Application, one: RefusalFinding): Candidate {
  const { environment, code, lastAt, quietMs, senders } = one;
  const number = application.environments.find(({ name }) => name === environment)?.number ?? null;
  const shown = senders.slice(0, maxSubjects);
  const more = { environment, senders: shown, sendersLeftOut: senders.length - shown.length };
  return {
    key: refusalKey(application.id, number, code),
    content: { at: lastAt },
    stepFrom: (announced) => decideStep(announced?.at, lastAt, quietMs),
    events: () => [refusing(application.teamId, application, one, more)],
  };
}

/** Returns the event of messages refused for a reason that concerns every sender, for each team with webhooks. */
export function ofService(one: RefusalCount): Candidate {
  return {
    key: refusalKey(service, null, one.code),
    content: { at: one.lastAt },
    stepFrom: (announced) =>
      one.count < rules.least ? undefined : decideStep(announced?.at, one.lastAt, rules.quietMs),
    events(tx) {
      const teams = new Set(Array.from(tx.records('webhooks').values(), ({ teamId }) => teamId));
      return [...teams].map((teamId) => refusing(teamId, null, one, { environment: null }));
    },
  };
}

/** @param application `null` if the service refuses all messages */
function refusing(
  teamId: string,
  application: Application | null,
  { code, status, count, lastAt }: RefusalCount,
  more: Pick<WebhookEventData['ingest.refusing'], 'environment' | 'senders' | 'sendersLeftOut'>,
): WebhookEvent {
  const data = {
    application: application && shown(application),
    ...more,
    code,
    status,
    title: refusals[code as RefusalCode]?.title ?? '',
    count,
    lastRefusedAt: timeText(lastAt),
  };
  return { type: 'ingest.refusing', teamId, at: lastAt, data };
}

const minuteMs = 60_000;

/** Returns the event of a flag that was seen for the first time. The time has a precision of one minute. */
function ofFirstSeen(application: Application, { environment, feature, at }: FirstSeenFeature, now: number): Candidate {
  const { id, teamId } = application;
  return {
    key: `${id} seen ${environment.number} ${feature}`,
    content: { at: now },
    stepFrom: (announced) => (announced === undefined ? 'tell' : undefined),
    events(tx) {
      const data = {
        application: shown(application),
        environment: environment.name,
        feature,
        firstSeenAt: timeText(at),
        owners: ownersIn(tx, application, feature),
      };
      return [{ type: 'flag.first_seen', teamId, at, withinMs: minuteMs, data }];
    },
  };
}

/** Returns the event of a flag that has not been checked for a long time. */
function ofStale(application: Application, { feature, since, lastSeenAt }: StaleFeature, now: number): Candidate {
  const { id, teamId } = application;
  return {
    key: `${id} stale ${feature}`,
    content: { at: now },
    // A flag that became stale after its last announcement was used since then, so it is announced again.
    stepFrom: (announced) => (since > (announced?.at ?? 0) ? 'tell' : undefined),
    events(tx) {
      const data = {
        application: shown(application),
        feature,
        lastSeenAt: lastSeenAt === null ? null : timeText(lastSeenAt),
        staleSince: timeText(since),
        basis: 'silence',
        owners: ownersIn(tx, application, feature),
      } as const;
      return [{ type: 'flag.stale', teamId, at: since, data }];
    },
  };
}

/**
 * Returns the event of a changed verdict. The first verdict after a subscription is only the baseline for later
 * changes. Nodes compute verdicts from different data. A node whose data is older than the last announcement announces
 * nothing.
 */
function ofVerdict(application: Application, one: FoundVerdict, task: WatchTask): Candidate {
  const { now, verdictsFrom } = task;
  const { id, teamId } = application;
  const { kind, feature, since, lastSeenAt, environments, reasons } = one;
  return {
    key: `${id} verdict ${feature}`,
    content: { at: Math.max(now, (lastSeenAt ?? 0) + minuteMs), verdict: kind },
    verdict: one,
    settled: verdictsFrom !== null && now >= verdictsFrom ? `${verdictsFrom} ${kind}` : undefined,
    stepFrom(announced) {
      if (verdictsFrom === null || now < verdictsFrom) return undefined;
      if (announced?.verdict === undefined || announced.at < verdictsFrom) return 'move on';
      return announced.verdict === kind || now <= announced.at ? undefined : 'tell';
    },
    isCurrent(tx) {
      const numbers = tx.applications.get(id)?.environments.map(({ number }) => number);
      return (
        numbers?.join() === application.environments.map(({ number }) => number).join() &&
        (tx.getFeatures(id).get(feature)?.updatedAt ?? null) === one.declaredAt
      );
    },
    events(tx, announced) {
      if (announced?.verdict === undefined) return [];
      const data = {
        application: shown(application),
        feature,
        previous: announced.verdict,
        verdict: kind,
        basis: verdictRules[kind].basis,
        since: since === null ? null : timeText(since),
        environments,
        reasons,
        owners: ownersIn(tx, application, feature),
      };
      return [{ type: 'flag.verdict_changed', teamId, at: now, data }];
    },
  };
}

function ownersIn(tx: AccountTransaction, application: Application, feature: string): readonly Owner[] {
  return findOwners(tx, application, feature, tx.getFeatures(application.id).get(feature)).owners;
}

function shown({ id, name }: Application): Pick<Application, 'id' | 'name'> {
  return { id, name };
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
