import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandGroups, commandTable, isCommand } from '../../src/commands/command-table.ts';
import { completion } from '../../src/commands/completion.ts';
import { UsageError } from '../../src/flags.ts';
import { testContext } from '../cli/fixture.ts';
import { temporaryDirectory } from '../support/temporary.ts';

function scriptFor(shell: string): string {
  const context = testContext();
  expect(completion([shell], context)).toBe(0);
  return context.output.out;
}

const commands = Object.values(commandTable).flatMap((entry) => entry.commands);

describe('the script for bash', () => {
  /** What bash offers for the last word. */
  function offered(...words: string[]): string[] {
    const directory = temporaryDirectory();
    writeFileSync(`${directory}/script`, scriptFor('bash'));
    writeFileSync(`${directory}/a file`, '');
    const set = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))';
    const run = `source ./script; ${set}; _flagmeter; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const argv = ['-c', run, 'bash', 'flagmeter', ...words];
    return execFileSync('bash', argv, { cwd: directory, encoding: 'utf8' }).split('\n').filter(Boolean);
  }

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
      ['list', 'show', 'create', 'delete', 'rotate'],
    ],
    [['help', 'whoami', ''], []],
    [['keys', 'r'], ['rotate']],
    [
      ['users', 'create', '--'],
      ['--name', '--role', '--team', '--password-file', '--url', '--json'],
    ],
    [
      ['users', 'create', '--role', ''],
      ['Admin', 'User'],
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
    expect(offered(...words)).toEqual(offers);
  });
});

it('every command that queries a server can print JSON', () => {
  const client = commandGroups.find(({ title }) => title === 'Use a server')?.names ?? [];
  const silent = client
    .filter(isCommand)
    .flatMap((name) => commandTable[name].commands)
    .filter(({ flags }) => !flags.some(({ name }) => name === 'json'))
    .map(({ name }) => name);
  expect(silent).toEqual(['login', 'logout']);
});

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  it('knows every command and every flag', () => {
    const script = scriptFor(shell);
    for (const { name, flags } of commands) {
      expect(script).toContain(name);
      for (const flag of flags)
        expect(script).toContain(shell === 'fish' ? `-l ${flag.name}` : `--${flag.name}`);
    }
  });
});

describe('completion', () => {
  it.each([[[]], [['tcsh']], [['bash', 'zsh']]])('of %j is refused', (argv) => {
    expect(() => completion(argv, testContext())).toThrow(UsageError);
  });
});
