import { beforeAll, beforeEach, expect } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { createApplication, manage, token } from '../support/binary.ts';
import { runCommand } from '../support/run-command.ts';
import { type ContextOptions, testContext } from './fixture.ts';
import { type RunningService, runService } from './running-service.ts';

/** The result of a command. */
export interface CommandResult {
  readonly out: string;
  readonly err: string;
  readonly questions: readonly string[];
}

/** An administrator with an API key, and a new application called Shop for each test. */
export interface Administrator {
  readonly running: RunningService;
  readonly access: string;
  /** The id of the application. */
  readonly application: string;
  /** Runs a command. A `+` in it stands for a space. */
  run(command: string, options?: ContextOptions, others?: Partial<Context>): Promise<CommandResult>;
  /** Returns the response of an API path below `/api/v2`. */
  api(method: string, path: string, expected: number, body?: object): Promise<unknown>;
  /** Returns a name that no other test uses. */
  fresh(): string;
}

/** Starts a service before the tests of a file, and stops it after them. `args` are additional arguments of `serve`. */
export function administrator(...args: string[]): Administrator {
  const running = runService('--api-rate', '0', ...args);
  let access = '';
  let application = '';
  let count = 0;
  beforeAll(async () => {
    access = await token(running.service.http, running.service.credentials);
  });
  beforeEach(async () => {
    application = await createApplication(running.service.http, access, { name: 'Shop' });
  });
  return {
    running,
    get access() {
      return access;
    },
    get application() {
      return application;
    },
    async run(command, options = {}, others = {}) {
      const words = command.split(' ').map((word) => word.replaceAll('+', ' '));
      const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: access, ...options.env };
      const context = testContext({ clock: running.clock, ...options, env });
      const code = await runCommand(words, { ...context, ...others });
      expect(code).toBe(0);
      return { ...context.output, questions: context.questions };
    },
    api: (method, path, expected, body) =>
      manage(running.service.http, access, method, `/api/v2${path}`, expected, body),
    fresh() {
      count += 1;
      return `thing-${count}`;
    },
  };
}
