import { describe, expect, it } from 'vitest';
import { readGiven, type Syntax } from '../../src/cli/command.ts';
import { UsageError } from '../../src/cli/options.ts';

const simple: Syntax = {
  name: 'apps list',
  summary: '',
  examples: [],
  options: [
    { name: 'url', value: 'URL', description: '' },
    { name: 'json', description: '' },
  ],
};

const rich: Syntax = {
  name: 'users create',
  summary: '',
  examples: [],
  operand: { name: 'TYPE', description: '', values: ['Frontend', 'Backend', '-odd'] },
  options: [
    { name: 'name', value: 'NAME', required: true, description: '' },
    { name: 'role', value: 'ROLE', values: ['Admin', 'User'], description: '' },
    { name: 'team', value: 'TEAM', many: true, description: '' },
  ],
};

const optional: Syntax = {
  name: 'use',
  summary: '',
  examples: [],
  operand: { name: 'APP', optional: true, description: '' },
  options: [],
};

describe('readGiven', () => {
  it('readGiven reads an operand and options in any order', () => {
    const given = readGiven(rich, ['--team', 'a', 'Backend', '--name=x=y', '--team', 'b', '--name', 'z']);
    expect(given.operand).toBe('Backend');
    expect(given.value('name')).toBe('z');
    expect(given.all('team')).toEqual(['a', 'b']);
    expect([given.has('team'), given.has('role'), given.value('role')]).toEqual([true, false, undefined]);
  });

  it.each(['Frontend', 'frontend', 'FRONTEND'])('readGiven matches a listed value whatever its case: %s', (typed) => {
    const given = readGiven(rich, [typed, '--name', 'aDmin', '--role', 'aDmin']);
    expect([given.operand, given.value('name'), given.value('role')]).toEqual(['Frontend', 'aDmin', 'Admin']);
  });

  it('readGiven accepts an operand that begins with a dash after --', () => {
    expect(readGiven(rich, ['--name', 'n', '--', '-odd']).operand).toBe('-odd');
  });

  it.each<[Syntax, string[], string]>([
    [simple, ['x'], "Cannot use the argument 'x': apps list takes options only"],
    [simple, ['--jason'], 'Unknown option --jason; the nearest known one is --json'],
    [simple, ['--json=yes'], '--json does not take a value'],
    [simple, ['--url'], '--url requires a value'],
    [rich, ['--name', 'n'], 'Cannot use users create without TYPE: must be Frontend, Backend or -odd'],
    [rich, [], 'Cannot use users create without TYPE: must be Frontend, Backend or -odd'],
    [rich, ['', '--name', 'n'], 'Cannot use users create without TYPE: must be Frontend, Backend or -odd'],
    [rich, ['Backend'], 'Cannot use users create without --name'],
    [optional, [''], 'Cannot use use with an empty APP'],
    [simple, ['--frobnicate'], 'Unknown option --frobnicate; flagmeter help apps list lists them'],
    [rich, ['front', '--name', 'n'], 'Cannot use users create with front: must be Frontend, Backend or -odd'],
    [rich, ['Backend', '--name', 'n', '--role', 'root'], 'Cannot use --role root: must be Admin or User'],
    [
      rich,
      ['Backend', 'Frontend', '--name', 'n'],
      "Cannot use the argument 'Frontend': users create takes one argument, TYPE",
    ],
    [rich, ['-n', 'Backend'], "Cannot use the argument '-n': options begin with two dashes, other arguments with none"],
  ])('readGiven refuses wrong arguments with the error $2', (command, argv, message) => {
    expect(() => readGiven(command, argv)).toThrow(new UsageError(message));
  });
});
