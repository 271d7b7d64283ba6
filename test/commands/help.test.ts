import { describe, expect, it } from 'vitest';
import { readGiven, secondWords, type Terminal } from '../../src/cli/command.ts';
import { UsageError } from '../../src/cli/options.ts';
import { commandNames as commands } from '../../src/commands/command-files.ts';
import { commandTable } from '../../src/commands/command-table.ts';
import { help, helpText } from '../../src/commands/help.ts';
import { settings } from '../../src/contract/config-schema.ts';

function run(...argv: string[]): { code: number; out: string } {
  let out = '';
  const terminal: Terminal = {
    out: (text) => {
      out += text;
    },
    interactive: false,
    err: () => {},
    env: {},
    readFile: () => '',
  };
  return { code: help(argv, terminal), out };
}

describe('the help text', () => {
  it('help lists every command', () => {
    const { code, out } = run();
    expect(code).toBe(0);
    for (const command of commands) expect(out).toMatch(new RegExp(`^ {2}${command} +\\w`, 'm'));
  });

  it('help serve lists every option with its variable and default', () => {
    const { out } = run('serve');
    for (const { option, variable, schema } of settings) {
      expect(out).toContain(`  --${option} ${schema.value} `);
      expect(out).toMatch(new RegExp(` ${variable}$`, 'm'));
    }
    expect(out).toContain(' 64 to 1GiB, default: 64KiB, FLAGMETER_MAX_BODY');
    expect(out).toContain(' 0 to 2000000000, default: twice --rate, FLAGMETER_BURST');
    expect(out).toContain(' 1 or more, default: 4096, FLAGMETER_BATCH_PACKETS');
    expect(out).toContain(' 1 to 64, default: 1, FLAGMETER_WORKERS');
  });

  it.each(commands)('help %s lists all its commands and options', (name) => {
    const text = helpText(name);
    for (const command of commandTable[name].commands) {
      if (name !== 'serve') expect(text).toMatch(new RegExp(`^flagmeter ${command.name}( |$)`, 'm'));
      for (const option of command.options)
        expect(text).toMatch(new RegExp(`^  --${option.name}${option.value ? ' ' : '$|  '}`, 'm'));
    }
  });

  it.each(commands)('help %s describes each option once', (name) => {
    const described = Array.from(helpText(name).matchAll(/^ {2}(--[\w-]+)/gm), ([, option]) => option);
    expect(described.filter((option, at) => described.indexOf(option) !== at)).toEqual([]);
  });

  it.each(commands.flatMap((name) => secondWords(commandTable[name]).map((word) => [name, word])))(
    'help %s %s covers only that command',
    (name = '', word = '') => {
      const { code, out } = run(name, word);
      expect(code).toBe(0);
      expect(out.match(/^flagmeter .*$/gm)).toHaveLength(1);
      expect(out).toMatch(new RegExp(`^flagmeter ${name} ${word}( |$)`, 'm'));
      for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
    },
  );

  it.each([undefined, ...commands])('the lines of help %s have at most 100 columns', (command) => {
    for (const line of helpText(command).split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
  });

  it('the help text starts with the command that needs no set-up', () => {
    expect(run().out).toMatch(/^Start here: flagmeter demo\n/);
  });

  const all = commands.flatMap((name) => commandTable[name].commands);

  it.each(all)('the examples of the command $name can be run', (command) => {
    expect(command.examples).not.toEqual([]);
    for (const example of command.examples) {
      const [line = ''] = example.split(' < ');
      const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)?.map((word) => word.replaceAll(/['"]/g, '')) ?? [];
      const name = command.name.split(' ');
      expect(words.slice(0, name.length)).toEqual(name);
      expect(() => readGiven(command, words.slice(name.length)), example).not.toThrow();
    }
  });

  it.each(all)('the help of the command $name lists the values of every enumeration', ({ name, operand, options }) => {
    const [first = '', word] = name.split(' ');
    const text = run(first, ...(word === undefined ? [] : [word])).out.replaceAll(/\s+/g, ' ');
    const values = [...options, ...(operand ? [operand] : [])].flatMap((each) => each.values ?? []);
    for (const value of values) expect(text).toContain(value);
  });

  it('help refuses an unknown command', () => {
    expect(() => run('sevre')).toThrow(new UsageError('Unknown command sevre; the nearest known one is serve'));
    expect(() => run('constructor')).toThrow(UsageError);
  });

  it.each([
    [['keys', 'crate'], 'Unknown command keys crate; the nearest known one is keys create'],
    [['keys', 'constructor'], 'Unknown command keys constructor: use one of list, show, create, rotate, delete, adopt'],
    [['serve', 'init'], "Unknown argument 'init': serve takes no subcommand"],
    [['keys', 'create', 'now'], "Cannot use the argument 'now': help takes one command"],
  ])('help refuses the arguments %j', (argv, message) => {
    expect(() => run(...argv)).toThrow(new UsageError(message));
  });
});
