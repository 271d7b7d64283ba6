import type { Reader, Transaction } from '../accounts/store/account-store.ts';
import type { WebhookAnnouncement } from '../storage/lmdb/records.ts';

/*
 * An announcement records that an event with a lasting cause was announced: a new flag, a stale flag, a verdict or
 * refused messages. It is committed with the deliveries, so no node announces an event twice. Keys start with the id of
 * the application and a space, or with `service ` for events of the service, digests and tracker issues.
 */

export function refusalKey(applicationId: string, environment: number | null, code: string): string {
  return `${applicationId} refused ${environment ?? ''} ${code}`;
}

export function digestKey(teamId: string): string {
  return `${service} digest ${teamId}`;
}

/** Returns the team id in the key of a digest; `undefined` for any other kind of key. */
export function digestIn(key: string): string | undefined {
  return key.startsWith(`${service} digest `) ? key.split(' ', 3)[2] : undefined;
}

export function issueKey(webhookId: string, type: string, finding: readonly string[]): string {
  return `${service} issue ${webhookId} ${type} ${finding.join(' ')}`;
}

/** Returns the webhook id in the key of a tracker issue; `undefined` for any other kind of key. */
export function issueIn(key: string): string | undefined {
  return key.startsWith(`${service} issue `) ? key.split(' ', 3)[2] : undefined;
}

/** Minimum time between two issues for the same finding. */
export const issueMs = 30 * 86_400_000;

export function applicationIn(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

/** Stands for the service, in place of an application id. */
export const service = 'service';

export function findAnnouncement(reader: Pick<Reader, 'get'>, key: string): WebhookAnnouncement | undefined {
  return reader.get('webhookMarks', key);
}

export function putAnnouncement(tx: Transaction, key: string, content: WebhookAnnouncement): void {
  tx.put('webhookMarks', key, { ...tx.get('webhookMarks', key), ...content });
}

/*
 * Thousands of refusals can follow each other, but an episode sends only one notification. An episode ends after some
 * time without refusals. To detect the end, the announcement is updated while the episode lasts.
 */

const moveOnMs = 15 * 60_000;

/** `tell`: queue the event. `move on`: only update the announcement, because the episode continues. */
export type Step = 'tell' | 'move on' | undefined;

/**
 * Decides the next step for refusals whose latest was at `lastAt`.
 * @param announcedAt the last announcement or update of the episode
 * @param quietMs time without refusals after which an episode is over
 */
export function decideStep(announcedAt: number | undefined, lastAt: number, quietMs: number): Step {
  if (lastAt <= (announcedAt ?? 0)) return undefined;
  if (announcedAt === undefined || lastAt - announcedAt >= quietMs) return 'tell';
  return lastAt - announcedAt >= moveOnMs ? 'move on' : undefined;
}
