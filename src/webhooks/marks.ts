import type { Draft, Reader } from '../accounts/store/engine.ts';

/*
 * What was told of something that lasts: that a flag was seen, is stale, or that messages are refused. A mark is written with the
 * deliveries that it stands for, so whoever looks again, on whatever node, tells nothing twice.
 *
 * Keys begin with the id of the application, and a space; `service ` for what concerns the service.
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

/** The application that a mark is of. */
export function applicationIn(mark: string): string {
  return mark.slice(0, mark.indexOf(' '));
}

/** In place of an application: the service. */
export const service = 'service';

/** When a mark was made; `undefined` without one. */
export function markedAt(reader: Pick<Reader, 'get'>, mark: string): number | undefined {
  return reader.get('webhookMarks', mark)?.at;
}

/** Marks what is told. */
export function putMark(draft: Draft, mark: string, at: number): void {
  draft.put('webhookMarks', mark, { at });
}
