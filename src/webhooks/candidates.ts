import type { AccountDraft } from '../accounts/account-draft.ts';
import { ownersOf } from '../accounts/owners.ts';
import type { WebhookEvent } from '../contract/events/event-data.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { WebhookMark } from '../storage/lmdb/webhook-records.ts';
import { firstSeen, type Refusing, refusing, stale, verdictChanged } from './event-payloads.ts';
import type { Findings, FoundVerdict, WatchTask } from './findings.ts';
import { refusedMark, type Step, seenMark, service, staleMark, stepOf, verdictMark } from './marks.ts';

/** What may be announced. */
export interface Candidate {
  readonly mark: string;
  /** The content of its mark. */
  readonly content: WebhookMark;
  /** The verdict that it is about. */
  readonly verdict?: FoundVerdict;
  /** Equal for candidates that need no second look, if the mark has the same verdict. */
  readonly settled?: string | undefined;
  /** What to do, given the current mark. */
  stepFrom(marked: WebhookMark | undefined): Step;
  /** Whether the records that it was found with are the current ones. */
  isCurrent?(draft: AccountDraft): boolean;
  events(draft: AccountDraft, marked: WebhookMark | undefined): readonly WebhookEvent[];
}

/** Refusals are few, and come first: they accompany a flood of flags never seen before. */
export function* candidatesOf(
  application: Application,
  found: Findings,
  task: WatchTask,
  now: number,
): Generator<Candidate> {
  const { id, teamId } = application;
  for (const { environment, ...one } of found.refused)
    yield {
      mark: refusedMark(id, environment?.number ?? null, one.code),
      content: { at: one.lastAt },
      stepFrom: (marked) => stepOf(marked?.at, one),
      events: () => [refusing(teamId, application, environment, one)],
    };
  for (const one of found.firstSeen)
    yield {
      mark: seenMark(id, one.environment.number, one.feature),
      content: { at: now },
      stepFrom: (marked) => (marked === undefined ? 'tell' : undefined),
      events: (draft) => [firstSeen(application, one, ownersIn(draft, application, one.feature))],
    };
  for (const one of found.stale)
    yield {
      mark: staleMark(id, one.feature),
      content: { at: now },
      // A flag that became stale after it was announced was in use in between.
      stepFrom: (marked) => (one.since > (marked?.at ?? 0) ? 'tell' : undefined),
      events: (draft) => [stale(application, one, ownersIn(draft, application, one.feature))],
    };
  for (const one of found.verdicts) yield ofVerdict(application, one, task);
}

const minuteMs = 60_000;

function ownersIn(draft: AccountDraft, application: Application, feature: string) {
  return ownersOf(draft, application, feature, draft.featuresOf(application.id).get(feature)).owners;
}

/**
 * A change of a verdict. The first verdict since the subscription is a baseline. Nodes compute verdicts at different times, and from
 * data that arrived at different times. A node that is behind the last announcement, or behind its data, announces nothing.
 */
function ofVerdict(application: Application, one: FoundVerdict, task: WatchTask): Candidate {
  const { now, verdictsFrom } = task;
  const { id } = application;
  const { kind, feature, lastSeenAt } = one;
  return {
    mark: verdictMark(id, feature),
    content: { at: Math.max(now, (lastSeenAt ?? 0) + minuteMs), verdict: kind },
    verdict: one,
    settled: verdictsFrom !== null && now >= verdictsFrom ? `${verdictsFrom} ${kind}` : undefined,
    stepFrom(marked) {
      if (verdictsFrom === null || now < verdictsFrom) return undefined;
      if (marked?.verdict === undefined || marked.at < verdictsFrom) return 'move on';
      return marked.verdict === kind || now <= marked.at ? undefined : 'tell';
    },
    isCurrent(draft) {
      const numbers = draft.applications.get(id)?.environments.map(({ number }) => number);
      return (
        numbers?.join() === application.environments.map(({ number }) => number).join() &&
        (draft.featuresOf(id).get(feature)?.updatedAt ?? null) === one.declarationOf
      );
    },
    events(draft, marked) {
      if (marked?.verdict === undefined) return [];
      const owners = ownersIn(draft, application, feature);
      return [verdictChanged(application, { ...one, owners }, marked.verdict, now)];
    },
  };
}

/** Refusals of all messages, announced to each team with webhooks. */
export function ofService(one: Refusing): Candidate {
  return {
    mark: refusedMark(service, null, one.code),
    content: { at: one.lastAt },
    stepFrom: (marked) => stepOf(marked?.at, one),
    events(draft) {
      const teams = new Set(Array.from(draft.records('webhooks').values(), ({ teamId }) => teamId));
      return [...teams].map((teamId) => refusing(teamId, null, null, one));
    },
  };
}
