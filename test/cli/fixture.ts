import { randomBytes } from 'node:crypto';
import type { Context } from '../../src/cli/context.ts';
import { type TestClock, testClock } from '../accounts/fixture.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** The environment of a command that runs in a test. It records the effects of the command. */
export interface TestContext extends Context {
  readonly clock: TestClock;
  /** Output to standard output and to standard error. */
  readonly output: { out: string; err: string };
  /** All questions that were asked, without the answers. */
  readonly questions: readonly string[];
  /** Path of the file with the tokens. */
  readonly credentialsFile: string;
}

export interface ContextOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Texts of the files that the command can read, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Answers of the user. Without answers, the terminal is not interactive. */
  readonly answers?: readonly string[];
  readonly clock?: TestClock;
  readonly openBrowser?: (url: string) => void;
  /** The configuration folder; by default a new one. */
  readonly folder?: string;
}

/** Creates a context whose clock advances only when the command sleeps. */
export function testContext(options: ContextOptions = {}): TestContext {
  const { env = {}, files = {}, clock = testClock(), folder = temporaryDirectory(), openBrowser } = options;
  const output = { out: '', err: '' };
  const questions: string[] = [];
  const answers = [...(options.answers ?? [])];
  const ask = async (question: string) => {
    questions.push(question);
    return answers.shift() ?? '';
  };
  return {
    out: (text) => {
      output.out += text;
    },
    interactive: false,
    err: (text) => {
      output.err += text;
    },
    env: { XDG_CONFIG_HOME: folder, ...env },
    readFile(path) {
      const text = files[path];
      if (text === undefined) throw new Error('ENOENT: no such file');
      return text;
    },
    clock,
    randomBytes,
    fetch: (url, init) => fetch(url, init),
    // Lets concurrent work run.
    sleep: async (ms) => {
      clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    person: options.answers === undefined ? undefined : { ask, askSecret: ask },
    styled: false,
    width: undefined,
    drained: async () => {},
    openBrowser: (url) => {
      openBrowser?.(url);
      return openBrowser !== undefined;
    },
    output,
    questions,
    credentialsFile: `${folder}/flagmeter/credentials.json`,
  };
}
