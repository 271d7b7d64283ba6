import { storeUnavailable } from '../contract/errors.ts';
import { bodyRefusals } from '../http/body.ts';
import type { Parameter, Refusals } from '../http/endpoint.ts';
import { tooLarge } from '../http/engines/body-refusals.ts';

/** What the endpoints that take packets and reports declare alike. */

export const UserAgent: Parameter = {
  component: 'UserAgent',
  name: 'User-Agent',
  in: 'header',
  description: 'Names the sender: its SDK and version.',
  schema: { type: 'string' },
};

export const IdempotencyKey: Parameter = {
  component: 'IdempotencyKey',
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Names the message. What the same application key sends again under this name within 10 minutes, for the same environment, is answered as accepted and not counted again, even after a restart. Without it each report counts, unless its `time` is finer than a millisecond: then a second one with the same content is a repetition. Pages cannot send it across origins.',
  schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
};

/** What every endpoint with a body refuses. @param maxBody maximum length of a body in bytes */
export const intakeRefusals = (maxBody: number) =>
  ({
    ...bodyRefusals,
    body_too_large: tooLarge(maxBody).message,
    rate_limited: 'The sender sends more than its rate allows',
    backpressure: 'Too much is waiting for the disk',
    store_unavailable: storeUnavailable.notReady,
  }) as const satisfies Refusals;

/** Keys, and an instance id, in the examples. No application has them. */
export const exampleKeys = {
  Frontend: `fm_fe_${'0'.repeat(40)}`,
  Mobile: `fm_mo_${'0'.repeat(40)}`,
  Backend: `fm_be_${'0'.repeat(40)}`,
  instance: `fm_in_${'0'.repeat(72)}`,
} as const;
