import { type TestClock, testClock } from '../accounts/fixture.ts';
import { opened } from '../support/opened.ts';
import { type LocalService, startLocal } from '../support/service.ts';

/** A service that runs for the tests of a file. */
export interface RunningService {
  /** A clock that advances only when a test advances it. */
  readonly clock: TestClock;
  readonly service: LocalService;
  readonly url: string;
}

/** Starts a service before the tests of a file, with additional arguments of `serve`. */
export function runService(...args: string[]): RunningService {
  const clock = testClock();
  const service = opened(() => startLocal({ clock, args }));
  return {
    clock,
    service,
    get url() {
      return `http://${service.http}`;
    },
  };
}
