import { storeUnavailable } from '../contract/errors.ts';
import { omissionCodes } from '../contract/notes.ts';
import { bodyRefusals } from '../http/body.ts';
import type { Header, Media, Parameter, Refusals } from '../http/endpoint.ts';
import { tooLarge } from '../http/engines/limits.ts';
import type { Handler, Reply, Request } from '../http/types.ts';
import { longestPath } from './omissions.ts';
import type { Intake } from './pipeline.ts';

/** Declarations shared by the endpoints that take packets and reports. */

export function handlerOf(intake: Intake<Request, Reply>): Handler {
  return (request) => intake.receive(request);
}

export const UserAgent: Parameter = {
  component: 'UserAgent',
  name: 'User-Agent',
  in: 'header',
  description: 'SDK of the sender and its version.',
  schema: { type: 'string' },
};

export const IdempotencyKey: Parameter = {
  component: 'IdempotencyKey',
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Identifies the message. If the same application key sends it again for the same environment within 10 minutes, it is accepted but not counted again, even after a restart. Without this header every report counts, with one exception: if its `time` is finer than a millisecond, a second report with the same content is a repetition. Pages cannot send this header across origins.',
  schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
};

/** Header of an accepted message of which an entry was left out. */
export const Noted: Header = {
  component: 'Noted',
  description:
    'The first entry that was left out: the code of the note in the ledger, and the path of the entry, if it is known. Names in the path are in ASCII, with other characters as in JSON. A long path is truncated.',
  schema: { type: 'string', pattern: `^(${omissionCodes.join('|')})(; [ -~]{1,${longestPath}})?$` },
};

/** Refusals of every endpoint with a body. @param maxBody maximum length of a body in bytes */
export const intakeRefusals = (maxBody: number) =>
  ({
    ...bodyRefusals,
    body_too_large: tooLarge(maxBody).message,
    rate_limited: 'The sender exceeds its rate limit',
    backpressure: 'Too many messages are waiting for the disk',
    store_unavailable: storeUnavailable.notReady,
  }) as const satisfies Refusals;

/** The examples of a body, or of the answers to it. */
export function examplesOf<E extends { readonly summary: string }>(
  examples: Readonly<Record<string, E>>,
  pick: (example: E) => unknown,
): NonNullable<Media['examples']> {
  const shown = Object.entries(examples).map(([name, example]) => [
    name,
    { summary: example.summary, value: pick(example) },
  ]);
  return Object.fromEntries(shown);
}

/** No application has these keys and this id. */
export const exampleKeys = {
  Frontend: `fm_fe_${'0'.repeat(40)}`,
  Mobile: `fm_mo_${'0'.repeat(40)}`,
  Backend: `fm_be_${'0'.repeat(40)}`,
  instance: `fm_in_${'0'.repeat(72)}`,
} as const;

/** The sender's name in the ledger. SDKs identify themselves in `UA`; `User-Agent` is often set by their HTTP library. */
export function senderNameOf(request: Request): string | undefined {
  return request.header('ua') ?? request.header('user-agent');
}

/** A key alone or after a scheme, which is case-insensitive (RFC 9110, section 11.1). */
const authorization = /^\s*(?:bearer +)?(\S+)\s*$/i;

export function keyOf(request: Pick<Request, 'header'>): string | undefined {
  return authorization.exec(request.header('authorization') ?? '')?.[1];
}
