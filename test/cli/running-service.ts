import { beforeAll } from 'vitest';
import { type TestClock, testClock } from '../accounts/fixture.ts';
import { type LocalService, startLocal } from '../support/service.ts';

/** A service that runs for the tests of a file. */
export interface RunningService {
  /** Stands still. */
  readonly clock: TestClock;
  readonly service: LocalService;
  readonly url: string;
}

/** Starts one before the tests of a file, with more arguments of `serve`, and stops it after them. */
export function runService(...args: string[]): RunningService {
  const clock = testClock();
  let service: LocalService | undefined;
  const started = () => {
    if (service === undefined) throw new Error('the service is not started yet');
    return service;
  };
  beforeAll(async () => {
    service = await startLocal({ clock, args });
  });
  return {
    clock,
    get service() {
      return started();
    },
    get url() {
      return `http://${started().http}`;
    },
  };
}
