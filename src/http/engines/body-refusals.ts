import { Refusal } from '../../errors.ts';

/** What both engines have against a body. */
export function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', `A body may have ${limit} bytes at most`);
}

/** Its sender holds on to what has come of it. */
export function tooSlow(): Refusal {
  return new Refusal('body_too_slow', 'Send at 2 KiB a second at least');
}
