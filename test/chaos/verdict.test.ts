import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binaryPath } from '../support/binary.ts';
import { root } from '../support/sources.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { rounds } from './rounds.ts';

const bun = join(root, 'node_modules/.bin/bun');

/** Creates an executable that fails at the given starts of the server. The fault `kill` then reports a violation. */
function failingBinary(folder: string, starts: string): string {
  const file = join(folder, 'flagmeter');
  const count = `echo >> ${join(folder, 'starts')}; case $(wc -l < ${join(folder, 'starts')}) in ${starts}) exit 1;; esac`;
  writeFileSync(file, `#!/bin/sh\nif [ "$1" = serve ]; then ${count}; fi\nexec ${binaryPath} "$@"\n`, { mode: 0o755 });
  return file;
}

interface EndCase {
  readonly name: string;
  /** Numbers of the starts at which the server fails. */
  readonly starts: string;
  /** Ends the run after it has found a violation. */
  readonly end?: (pid: number) => void;
}

/** Sends every signal that ends a run. A signal that the run does not handle would kill the run. */
function sendSignals(pid: number): void {
  process.kill(pid, 'SIGHUP');
  process.kill(pid, 'SIGTERM');
  process.kill(-pid, 'SIGINT');
}

const endings: readonly EndCase[] = [
  { name: 'completes its rounds', starts: '2' },
  { name: 'fails with an exception', starts: '[2-9]' },
  { name: 'receives SIGHUP, SIGTERM, and SIGINT with its whole process group', starts: '2', end: sendSignals },
];

rounds.each(endings)('a run with a violation exits with code 1 if it $name', async ({ starts, end }) => {
  const folder = temporaryDirectory();
  const binary = failingBinary(folder, starts);
  const args = ['--alone', '--only', 'kill', '--rounds', '1', '--folder', folder, '--binary', binary];
  const run = spawn(bun, [join(root, 'chaos/main.ts'), ...args], { detached: true });
  const closed = once(run, 'close');
  let stdout = '';
  let stderr = '';
  let isEnded = false;
  run.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  run.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (isEnded || !stderr.includes('VIOLATION')) return;
    isEnded = true;
    end?.(run.pid!);
  });
  expect({ code: (await closed)[0], stderr }).toEqual({ code: 1, stderr: expect.stringContaining('VIOLATION') });
  expect(stdout).toMatch(/^[1-9]\d* violations\n {2}round 1: kill could not be carried out/m);
  expect(stdout).toContain(end === undefined && starts === '2' ? ', 1 rounds,' : ', incomplete,');
});

describe.each([
  { found: 'a violation', code: 1, say: "journal.violation('seeded');" },
  { found: 'no violation', code: 2, say: '' },
])('a run that has found $found', ({ code, say }) => {
  it.each([
    ['its event loop is empty', ''],
    ['other code exits with 0', 'process.exit(0);'],
    ['an exception is not caught', "setTimeout(() => { throw new Error('seeded'); });"],
    ['a rejection is not handled', "void Promise.reject(new Error('seeded'));"],
    ['its parent process has gone', 'verdict.endWith(process.stdin); setInterval(() => {}, 60_000);'],
  ])('a run exits with the code of its result although %s', (_, end) => {
    const folder = temporaryDirectory();
    const program = `
      import { Journal } from '${join(root, 'chaos/journal.ts')}';
      import { Verdict } from '${join(root, 'chaos/verdict.ts')}';
      const journal = new Journal('${folder}');
      const verdict = new Verdict(journal, 'seed 7');
      ${say}
      ${end}`;
    const { status, stdout } = spawnSync(bun, ['-e', program], { encoding: 'utf8', input: '' });
    expect({ status, stdout }).toEqual({ status: code, stdout: expect.stringMatching(/^seed 7, incomplete, /) });
  });
});
