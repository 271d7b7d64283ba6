import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it as test } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { commandGroups } from '../../src/commands/command-files.ts';
import { commandTable, completion } from '../../src/commands/command-table.ts';
import { testContext } from '../cli/fixture.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';

function scriptFor(shell: string): string {
  const context = testContext();
  expect(completion([shell], context)).toBe(0);
  return context.output.out;
}

const commands = Object.values(commandTable).flatMap((entry) => entry.commands);

const joinWords = (words: readonly string[]) => ['flagmeter', ...words].join(' ');

/** Completes the last word of each line. All lines run in one process, because a shell starts slowly. */
const shells = {
  bash: (directory: string, lines: readonly (readonly string[])[]) => {
    const set = `COMP_WORDS=("\${@:2:$1}"); COMP_CWORD=$(($1 - 1)); shift $(($1 + 1))`;
    const one = `${set}; (_flagmeter; printf '%s\\n' "\${COMPREPLY[@]}"); printf '\\0'`;
    const args = lines.flatMap((words) => [`${words.length + 1}`, 'flagmeter', ...words]);
    return runIn(directory, 'bash', '-c', `source ./script; while (($#)); do ${one}; done`, 'bash', ...args);
  },
  fish: (directory: string, lines: readonly (readonly string[])[]) => {
    const run = `source ./script; for line in $argv; complete -C "$line"; printf '\\0'; end`;
    const said = runIn(directory, 'fish', '--no-config', '-c', run, '--', ...lines.map(joinWords));
    return said.replaceAll(/\t.*/g, '');
  },
  zsh: (directory: string, lines: readonly (readonly string[])[]) => {
    const script = join(import.meta.dirname, 'complete.zsh');
    return runIn(directory, 'zsh', '-f', script, './script', ...lines.map(joinWords)).replaceAll('\\ ', ' ');
  },
};

function runIn(directory: string, program: string, ...args: readonly string[]): string {
  const options = { cwd: directory, encoding: 'utf8', env: { ...process.env, HOME: directory } } as const;
  return execFileSync(program, args, options);
}

/** Returns the sorted candidates of each command line. */
function parseCandidates(printed: string): string[][] {
  const all = printed.split('\0').slice(0, -1);
  return all.map((each) =>
    each
      .split('\n')
      .flatMap((line) => line.trim() || [])
      .sort(),
  );
}

/** Command lines, and the completions of their last word. */
const cases: readonly (readonly [words: string[], offers: string[]])[] = [
  [[''], Object.keys(commandTable)],
  [['ap'], ['apps', 'api-keys']],
  [
    ['apps', ''],
    ['list', 'show', 'create', 'update', 'delete'],
  ],
  [
    ['audit', '--ac'],
    ['--action', '--actor'],
  ],
  [['members', 'r'], ['remove']],
  [
    ['usage', '--step', ''],
    ['minute', 'hour', 'day'],
  ],
  [
    ['help', 'keys', ''],
    ['list', 'show', 'create', 'rotate', 'delete', 'adopt'],
  ],
  [['help', 'whoami', ''], []],
  [['keys', 'r'], ['rotate']],
  [
    ['users', 'create', '--'],
    ['--name', '--role', '--team', '--password-file', '--url', '--json'],
  ],
  [
    ['users', 'create', '--role', ''],
    ['Viewer', 'User', 'Admin'],
  ],
  [['users', 'create', '--name', ''], []],
  [['keys', 'create', '--app', 'x', 'F'], ['Frontend']],
  [['login', '--client-secret-file', 'a'], ['a file']],
  [
    ['serve', '--log-level', ''],
    ['debug', 'info', 'warn', 'error'],
  ],
  [
    ['help', 'lo'],
    ['login', 'logout'],
  ],
  [['backup', 'l'], ['list']],
  [['help', 'backup', ''], ['list']],
  [['backup', '--to', 'a file', '--d'], ['--data']],
  [['backup', 'list', '--c'], ['--config']],
  [['nothing', ''], []],
];

describe.each(['bash', 'fish', 'zsh'] as const)('the loaded completion script for %s', (shell) => {
  const { it } = shell === 'bash' ? { it: test } : needing(shell);
  function withScript(): string {
    const directory = temporaryDirectory();
    writeFileSync(`${directory}/script`, scriptFor(shell));
    writeFileSync(`${directory}/a file`, '');
    return directory;
  }

  it('the completion script passes the syntax check of the shell', () => {
    expect(runIn(withScript(), shell, '-n', './script')).toBe('');
  });

  let candidates: string[][] | undefined;
  it.each(cases.map(([words, offers], at) => [words, offers, at] as const))(
    'completion after the words %j offers %j',
    (_words, offers, at) => {
      const lines = cases.map(([words]) => words);
      candidates ??= parseCandidates(shells[shell](withScript(), lines));
      expect(candidates[at]).toEqual(offers.toSorted());
    },
  );
});

test('every command of the client except login and logout can print JSON', () => {
  const client = commandGroups.find(({ title }) => title === 'Use a server')?.names ?? [];
  const silent = client
    .flatMap((name) => commandTable[name].commands)
    .filter(({ options }) => !options.some(({ name }) => name === 'json'))
    .map(({ name }) => name);
  expect(silent).toEqual(['login', 'logout']);
});

describe.each(['bash', 'zsh', 'fish'])('the completion script for %s', (shell) => {
  test('the completion script contains every command and every option', () => {
    const script = scriptFor(shell);
    for (const { name, options } of commands) {
      expect(script).toContain(name);
      for (const option of options)
        expect(script).toContain(shell === 'fish' ? `-l ${option.name}` : `--${option.name}`);
    }
  });
});

describe('completion', () => {
  test.each([[[]], [['tcsh']], [['bash', 'zsh']]])('completion refuses the arguments %j', (argv) => {
    expect(() => completion(argv, testContext())).toThrow(UsageError);
  });
});
