import type { Draft, Reader } from '../accounts/store/engine.ts';

/*
 * Marks of events that were announced although their cause lasts: a flag was seen, is stale, or messages are refused. A mark is
 * committed with its deliveries, so no node announces an event twice. Keys start with the id of the application and a space;
 * `service ` is for the service.
 */

/** A flag was seen in an environment. */
export function seenMark(applicationId: string, environment: number, feature: string): string {
  return `${applicationId} seen ${environment} ${feature}`;
}

/** A flag is stale. */
export function staleMark(applicationId: string, feature: string): string {
  return `${applicationId} stale ${feature}`;
}

/** Messages are refused for one reason. */
export function refusedMark(applicationId: string, environment: number | null, code: string): string {
  return `${applicationId} refused ${environment ?? ''} ${code}`;
}

/** The application of a mark. */
export function applicationIn(mark: string): string {
  return mark.slice(0, mark.indexOf(' '));
}

/** Takes the place of an application id, for the service. */
export const service = 'service';

/** When a mark was made; `undefined` if there is none. */
export function markedAt(reader: Pick<Reader, 'get'>, mark: string): number | undefined {
  return reader.get('webhookMarks', mark)?.at;
}

/** Marks what was announced. */
export function putMark(draft: Draft, mark: string, at: number): void {
  draft.put('webhookMarks', mark, { at });
}
