import { type Syntax, secondWords, type Terminal } from '../cli/command.ts';
import { UsageError, unknownWord } from '../cli/options.ts';
import { groups, type Setting, settings } from '../contract/config-schema.ts';
import { nearestKnown } from '../contract/nearest.ts';
import type { Operand, Option } from '../contract/shapes/option.ts';
import { showSize } from '../runtime/size.ts';
import { type CommandName, commandGroups, commandNamed } from './command-files.ts';
import { commandTable } from './command-table.ts';

export function unknownCommand(name: string): UsageError {
  const near = nearestKnown(name, Object.keys(commandTable));
  return new UsageError(`Unknown command ${name}${near || '; flagmeter help lists all commands'}`);
}

/** @throws {UsageError} for an unknown command, or more than two words */
export function help(argv: readonly string[], terminal: Terminal): number {
  const [first, word, ...surplus] = argv;
  if (surplus.length > 0) throw new UsageError(`Cannot use the argument '${surplus[0]}': help takes one command`);
  const name = first === undefined ? undefined : commandNamed(first);
  if (first !== undefined && name === undefined) throw unknownCommand(first);
  if (name === undefined || word === undefined) terminal.out(helpText(name));
  else terminal.out(formatHelp([findCommand(name, word)]));
  return 0;
}

/** @throws {UsageError} if no command has these words */
function findCommand(name: CommandName, word: string): Syntax {
  const entry = commandTable[name];
  const found = entry.commands.find((command) => command.name === `${name} ${word}`);
  if (found !== undefined) return found;
  const words = secondWords(entry);
  if (words.length === 0) throw new UsageError(`Unknown argument '${word}': ${name} takes no subcommand`);
  throw unknownWord(name, word, words);
}

/** Returns the overview, or the help of one command. Lines have at most 100 columns. */
export function helpText(name?: CommandName): string {
  if (name === undefined) return overview();
  if (name === 'serve') return serveText();
  const { commands, summary, notes } = commandTable[name];
  return formatHelp(commands, summary, notes);
}

function formatHelp(commands: readonly Syntax[], summary = commands[0]?.summary, notes = ''): string {
  const options = optionsText(commands);
  const text = `${commands.map(usageText).join('')}\n${summary}.\n${notes}${options && `\n${options}`}`;
  return `${text}\n${examplesText(commands)}`;
}

function examplesText(commands: readonly Syntax[]): string {
  const examples = commands.flatMap((each) => each.examples);
  return `${examples.length === 1 ? 'Example' : 'Examples'}\n${examples.map(exampleText).join('')}`;
}

/** Formats an example. Continues on the next line where it is too long, but not within quotes. */
function exampleText(example: string): string {
  const words = `flagmeter ${example}`.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return `  ${filled(words, width - indent.length - 2).join(` \\\n${indent}`)}\n`;
}

function overview(): string {
  const parts = commandGroups.map(({ title, names }) => {
    const lines = names.map((name) => `  ${name.padEnd(14)}${commandTable[name].summary}\n`);
    return `${title}\n${lines.join('')}`;
  });
  return `Start here: flagmeter demo

flagmeter: OAuth tokens and durable usage telemetry for teams that run feature flags

Usage: flagmeter COMMAND [ARGUMENT] [--option VALUE …]

${parts.join('\n')}
'flagmeter help COMMAND' shows the help of a command, such as 'flagmeter help apps create'.
'flagmeter help serve' lists all settings.

Exit codes
  0   done
  1   failed: see the message on standard error
  2   wrong command, argument or setting, or a value that the server does not accept (400)
  3   not signed in, or the server does not accept the token (401)
  4   not allowed (403)
  5   not found (404)
  6   conflict with existing data (409, 412)
  7   the server is unreachable or busy (429, 502 to 504): try again later
  8   something was found: only with --fail-if-any
  130 interrupted by Ctrl-C
`;
}

function serveText(): string {
  const parts = groups.map((group) => {
    const members = settings.filter(({ schema }) => schema.group === group);
    return `${group}\n${members.map(entry).join('')}`;
  });
  return `flagmeter serve [--option VALUE …]

${commandTable.serve.summary}.
Options override environment variables, which override keys in the --config file.
Sizes may end in KiB, MiB or GiB. When ready, the server prints one line to standard output:
flagmeter ready http=HOST:PORT grpc=HOST:PORT

${parts.join('\n')}
${examplesText(commandTable.serve.commands)}`;
}

function entry({ option, variable, schema }: Setting): string {
  const usual = formatDefault(schema);
  const more = [formatRange(schema), usual && `default: ${usual}`, variable].filter((part) => part !== undefined);
  const { value, description, enum: values } = schema;
  return entryText(`--${option} ${value}`.trimEnd(), describe({ value, description, more: more.join(', '), values }));
}

/** Returns the range of a setting; `undefined` for text. */
export function formatRange({ minimum, maximum, size }: Setting['schema']): string | undefined {
  if (minimum === undefined || maximum === undefined) return undefined;
  const show = size ? showSize : String;
  return maximum === Number.MAX_SAFE_INTEGER ? `${show(minimum)} or more` : `${show(minimum)} to ${show(maximum)}`;
}

/** Returns the default of a setting; `undefined` without a default. */
export function formatDefault(schema: Setting['schema']): string | undefined {
  if (typeof schema.default === 'number' && schema.size) return showSize(schema.default);
  return schema.default === undefined ? schema.defaultText : String(schema.default);
}

/** The column where descriptions begin, and the maximum length of a line. */
const descriptionColumn = 30;
const width = 100;
const indent = '    ';

/** Formats the usage of a command in lines of limited length. */
function usageText({ name, operand, options }: Syntax): string {
  const words = [`flagmeter ${name}`, ...(operand ? [operandWord(operand)] : []), ...options.map(optionWord)];
  return `${filled(words, width - indent.length).join(`\n${indent}`)}\n`;
}

/** Breaks a text into lines of at most `max` characters. A longer word gets its own line. */
function filled(words: readonly string[], max: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= max) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Describes each operand and option of the commands once. Options of several commands come last. */
function optionsText(commands: readonly Syntax[]): string {
  const operands = commands.flatMap(({ operand }) => (operand ? [entryText(operand.name, describe(operand))] : []));
  const uses = commands.flatMap(({ name, options }) => options.map((option) => ({ name, option })));
  const heads = new Set(uses.map(({ option }) => valued(option)));
  const entries = Array.from(heads, (head) => {
    const same = uses.filter(({ option }) => valued(option) === head);
    return { isShared: same.length > 1, text: entryText(head, mergeTexts(same)) };
  });
  const ordered = entries.toSorted((a, b) => Number(a.isShared) - Number(b.isShared));
  return [...new Set(operands), ...ordered.map(({ text }) => text)].join('');
}

/** Describes an option of several commands. A text for some of the commands begins with the names of these commands. */
function mergeTexts(uses: readonly { readonly name: string; readonly option: Option }[]): readonly string[] {
  const words = new Map<string, string[]>();
  for (const { name, option } of uses)
    for (const text of describe(option)) words.set(text, [...(words.get(text) ?? []), name.split(' ').at(-1)!]);
  const label = (text: string, commands: readonly string[]) =>
    commands.length === uses.length ? text : `${commands.join(', ')}: ${text}`;
  return Array.from(words, ([text, commands]) => label(text, commands));
}

interface EntryContent {
  readonly value?: string;
  readonly description: string;
  readonly more?: string;
  readonly values?: readonly string[] | undefined;
}

/** Describes an option or operand. Lists its allowed values, unless the other texts already contain all of them. */
function describe({ value = '', description, more = '', values = [] }: EntryContent): readonly string[] {
  const others = [value, description, more].join(' ');
  const list = values.every((each) => others.includes(each)) ? '' : `one of ${values.join(', ')}`;
  return [description, list, more].filter((text) => text !== '');
}

function entryText(head: string, texts: readonly string[]): string {
  const lines = texts.flatMap((text) => filled(text.split(' '), width - descriptionColumn));
  const first = `  ${head}`.padEnd(descriptionColumn - 1);
  return `${first} ${lines.join(`\n${' '.repeat(descriptionColumn)}`)}\n`;
}

/** Returns the name of an operand, or its values if there are at most three. */
function operandWord({ name, optional, values = [] }: Operand): string {
  if (values.length > 0 && values.length <= 3) return values.join('|');
  return optional ? `[${name}]` : name;
}

function optionWord(option: Option): string {
  const word = option.many ? `${valued(option)} …` : valued(option);
  return option.required ? word : `[${word}]`;
}

function valued({ name, value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}
