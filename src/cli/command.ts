import type { Operand, Option } from '../contract/shapes/option.ts';
import { readArguments, UsageError, unknownWord } from './options.ts';

/** The functions and data of the process that commands can use. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True if a person reads standard error. */
  readonly interactive: boolean;
  readonly outIsTerminal?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file; `-` is standard input. Throws as `readTextFile` does. */
  readonly readFile: (path: string) => string;
}

export interface Syntax {
  /** One or two words, such as `login` or `apps create`. */
  readonly name: string;
  /** Former name, which is still accepted. */
  readonly formerly?: string;
  readonly summary: string;
  readonly operand?: Operand;
  readonly options: readonly Option[];
  /** Commands for the help text, without `flagmeter`: `apps create Shop`. */
  readonly examples: readonly string[];
}

export interface Command extends Syntax {
  /** Additional help text, in lines of at most 100 columns. */
  readonly notes?: string;
  /** @param argv the arguments after the name of the command @returns exit code */
  run(argv: readonly string[], terminal: Terminal): Promise<number>;
}

/** Commands that begin with the same word after `flagmeter`. */
export interface Entry<Each extends Syntax = Command> {
  readonly summary: string;
  readonly commands: readonly Each[];
  readonly notes?: string;
}

type Run = (given: Arguments, terminal: Terminal) => number | Promise<number>;

/** A command whose code is loaded only when it runs. The help needs only its declaration. */
export function command({ load, ...declared }: Omit<Command, 'run'> & { readonly load: () => Promise<Run> }): Command {
  const run = async (argv: readonly string[], terminal: Terminal) => {
    const given = readGiven(declared, argv);
    return (await load())(given, terminal);
  };
  return { ...declared, run };
}

/** @throws {UsageError} for an unknown command, and wrong arguments */
export async function runEntry(
  name: string,
  entry: Entry,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [word, ...rest] = argv;
  const chosen = entry.commands.find((each) => [each.name, each.formerly].includes(`${name} ${word}`));
  if (chosen !== undefined) return chosen.run(rest, terminal);
  const [first] = entry.commands;
  if (first?.name === name) return first.run(argv, terminal);
  throw unknownWord(name, word, secondWords(entry));
}

/** Returns the second words of an entry's commands, such as `list` and `show` of `apps`. */
export function secondWords({ commands }: Entry<Syntax>): readonly string[] {
  return commands.flatMap(({ name }) => name.split(' ').slice(1));
}

export interface Arguments {
  /** The operand; empty without an operand. */
  readonly operand: string;
  has(option: string): boolean;
  /** The value of an option; the last value if the option is repeated. */
  value(option: string): string | undefined;
  /** Every value of a repeatable option. */
  all(option: string): readonly string[];
}

/**
 * Reads the arguments of a command. After `--`, an operand may begin with a dash.
 * @throws {UsageError} for an unknown option, a value that is not allowed, and a missing or surplus argument
 */
export function readGiven(command: Syntax, argv: readonly string[]): Arguments {
  const operands: string[] = [];
  const options = new Map<string, string[]>();
  for (const { name, value, dashed } of readArguments(argv, command.options, command.name)) {
    if (dashed) throw new UsageError(`Cannot use the argument '${value}': ${dashes}`);
    if (name === undefined) operands.push(value);
    else options.set(name, [...(options.get(name) ?? []), asListed(value, findValues(command, name))]);
  }
  const operand = readOperand(command, operands);
  for (const option of command.options) checkOption(command, option, options);
  return {
    operand,
    has: (option) => options.has(option),
    value: (option) => options.get(option)?.at(-1),
    all: (option) => options.get(option) ?? [],
  };
}

const dashes = 'options begin with two dashes, other arguments with none';

function findValues({ options }: Syntax, name: string): readonly string[] | undefined {
  return options.find((option) => option.name === name)?.values;
}

/** Returns the listed value that equals the given one except for case and hyphens; otherwise the given value. */
function asListed(value: string, values: readonly string[] = []): string {
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '-');
  return values.find((each) => plain(each) === plain(value)) ?? value;
}

function checkOption(
  command: Syntax,
  { name, values, required, excludes = [] }: Option,
  options: ReadonlyMap<string, readonly string[]>,
): void {
  const given = options.get(name);
  if (given === undefined) {
    if (required) throw new UsageError(`Cannot use ${command.name} without --${name}`);
    return;
  }
  const other = excludes.find((each) => options.has(each));
  if (other !== undefined) throw new UsageError(`Cannot use --${name} with --${other}`);
  const wrong = values && given.find((value) => !values.includes(value));
  if (wrong !== undefined) throw new UsageError(`Cannot use --${name} ${wrong}: must be ${either(values)}`);
}

function readOperand({ name, operand }: Syntax, given: readonly string[]): string {
  const [typed = '', surplus] = operand === undefined ? ['', ...given] : given;
  const value = asListed(typed, operand?.values);
  if (surplus !== undefined) {
    const taken = operand === undefined ? 'options only' : `one argument, ${operand.name}`;
    throw new UsageError(`Cannot use the argument '${surplus}': ${name} takes ${taken}`);
  }
  if (operand === undefined || (operand.optional && given.length === 0)) return value;
  if (operand.optional && value === '') throw new UsageError(`Cannot use ${name} with an empty ${operand.name}`);
  const must = operand.values ? `: must be ${either(operand.values)}` : '';
  if (value === '') throw new UsageError(`Cannot use ${name} without ${operand.name}${must}`);
  if (operand.values?.includes(value) === false) throw new UsageError(`Cannot use ${name} with ${value}${must}`);
  return value;
}

function either(values: readonly string[] = []): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(values);
}
