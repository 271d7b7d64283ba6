import type { Draft, Reader } from '../accounts/store/account-store.ts';
import { refusing } from '../contract/health.ts';
import type { WebhookMark } from '../storage/lmdb/records.ts';

/*
 * Marks of events that were announced although their cause lasts: a flag was seen, is stale or has a verdict, or messages are refused. A mark is
 * committed with its deliveries, so no node announces an event twice. Keys start with the id of the application and a space;
 * `service ` is for the service, and for issues in trackers.
 */

export function refusedMark(applicationId: string, environment: number | null, code: string): string {
  return `${applicationId} refused ${environment ?? ''} ${code}`;
}

export function digestMark(teamId: string): string {
  return `${service} digest ${teamId}`;
}

/** The team of a digest; `undefined` for other marks. */
export function digestIn(mark: string): string | undefined {
  return mark.startsWith(`${service} digest `) ? mark.split(' ', 3)[2] : undefined;
}

export function issueMark(webhookId: string, type: string, finding: readonly string[]): string {
  return `${service} issue ${webhookId} ${type} ${finding.join(' ')}`;
}

/** The webhook that opened an issue; `undefined` for other marks. */
export function issueIn(mark: string): string | undefined {
  return mark.startsWith(`${service} issue `) ? mark.split(' ', 3)[2] : undefined;
}

/** For how long the same finding opens no second issue. */
export const issueMs = 30 * 86_400_000;

export function applicationIn(mark: string): string {
  return mark.slice(0, mark.indexOf(' '));
}

/** Takes the place of an application id, for the service. */
export const service = 'service';

export function markIn(reader: Pick<Reader, 'get'>, mark: string): WebhookMark | undefined {
  return reader.get('webhookMarks', mark);
}

export function putMark(draft: Draft, mark: string, content: WebhookMark): void {
  draft.put('webhookMarks', mark, { ...draft.get('webhookMarks', mark), ...content });
}

/*
 * Refusals come by the thousand, but each episode sends only one notification. An episode ends after an hour without refusals.
 * To detect that, the mark is updated while the episode lasts.
 */

const moveOnMs = 15 * 60_000;

/** `move on`: send nothing, but update the mark. */
export type Step = 'tell' | 'move on' | undefined;

/** What to do about refusals, the last of them at `lastAt`. @param marked when the episode was last announced or updated */
export function stepOf(
  marked: number | undefined,
  { count, lastAt }: { readonly count: number; readonly lastAt: number },
): Step {
  if (count < refusing.least || lastAt <= (marked ?? 0)) return undefined;
  if (marked === undefined || lastAt - marked >= refusing.quietMs) return 'tell';
  return lastAt - marked >= moveOnMs ? 'move on' : undefined;
}
