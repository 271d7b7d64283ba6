import { Refusal } from '../../errors.ts';

/** Why both engines refuse a body. */
export function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', `A body may have ${limit} bytes at most`);
}

export function tooSlow(): Refusal {
  return new Refusal('body_too_slow', 'Send at 2 KiB a second at least');
}
