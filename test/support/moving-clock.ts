import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until it is moved. */
export interface MovingClock extends Clock {
  /** @param ms how far both its times move on */
  advance(ms: number): void;
}

/** @param start Unix ms */
export function createMovingClock(start = Date.UTC(2030, 0, 15, 12)): MovingClock {
  let passed = 0;
  return {
    now: () => start + passed,
    monotonic: () => passed,
    advance(ms) {
      passed += ms;
    },
  };
}
