import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it as test } from 'vitest';
import { UsageError } from '../../src/cli/flags.ts';
import { commandGroups, commandTable, isCommand } from '../../src/commands/command-table.ts';
import { completion } from '../../src/commands/completion.ts';
import { testContext } from '../cli/fixture.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';

function scriptFor(shell: string): string {
  const context = testContext();
  expect(completion([shell], context)).toBe(0);
  return context.output.out;
}

const commands = Object.values(commandTable).flatMap((entry) => entry.commands);

/** What a shell offers for the last word of a command line. */
const shells = {
  bash: (directory: string, words: readonly string[]) => {
    const set = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))';
    const run = `source ./script; ${set}; _flagmeter; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return runIn(directory, 'bash', '-c', run, 'bash', 'flagmeter', ...words);
  },
  fish: (directory: string, words: readonly string[]) => {
    const run = 'source ./script; complete -C "$argv"';
    const said = runIn(directory, 'fish', '--no-config', '-c', run, '--', ['flagmeter', ...words].join(' '));
    return said.map((line) => line.split('\t', 1)[0]!);
  },
  zsh: (directory: string, words: readonly string[]) => {
    const script = join(import.meta.dirname, 'complete.zsh');
    const said = runIn(directory, 'zsh', '-f', script, './script', ['flagmeter', ...words].join(' '));
    return said.map((line) => line.trim().replaceAll('\\ ', ' '));
  },
};

function runIn(directory: string, program: string, ...args: readonly string[]): string[] {
  const options = { cwd: directory, encoding: 'utf8', env: { ...process.env, HOME: directory } } as const;
  return execFileSync(program, args, options)
    .split('\n')
    .filter((line) => line.trim() !== '');
}

describe.each(['bash', 'fish', 'zsh'] as const)('the script for %s at work', (shell) => {
  const { it } = shell === 'bash' ? { it: test } : needing(shell);
  function withScript(): string {
    const directory = temporaryDirectory();
    writeFileSync(`${directory}/script`, scriptFor(shell));
    writeFileSync(`${directory}/a file`, '');
    return directory;
  }

  it('is valid in the shell', () => {
    expect(runIn(withScript(), shell, '-n', './script')).toEqual([]);
  });

  it.each<[string[], string[]]>([
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
    [['nothing', ''], []],
  ])('offers after %j: %j', (words, offers) => {
    expect(shells[shell](withScript(), words).sort()).toEqual(offers.toSorted());
  });
});

test('every command of the client can print JSON', () => {
  const client = commandGroups.find(({ title }) => title === 'Use a server')?.names ?? [];
  const silent = client
    .filter(isCommand)
    .flatMap((name) => commandTable[name].commands)
    .filter(({ flags }) => !flags.some(({ name }) => name === 'json'))
    .map(({ name }) => name);
  expect(silent).toEqual(['login', 'logout']);
});

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  test('has every command and every flag', () => {
    const script = scriptFor(shell);
    for (const { name, flags } of commands) {
      expect(script).toContain(name);
      for (const flag of flags)
        expect(script).toContain(shell === 'fish' ? `-l ${flag.name}` : `--${flag.name}`);
    }
  });
});

describe('completion', () => {
  test.each([[[]], [['tcsh']], [['bash', 'zsh']]])('refuses %j', (argv) => {
    expect(() => completion(argv, testContext())).toThrow(UsageError);
  });
});
