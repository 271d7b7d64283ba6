import type { Flag, Operand } from '../contract/shapes/option.ts';
import { readArguments, UsageError } from './flags.ts';

export interface Command {
  /** One word, or two: `login`, `apps create`. */
  readonly name: string;
  readonly summary: string;
  readonly operand?: Operand;
  readonly flags: readonly Flag[];
}

/** The arguments of a command. */
export interface Given {
  /** Empty if the command has no operand. */
  readonly operand: string;
  has(flag: string): boolean;
  /** The value of a flag; the last one if it is repeated. */
  value(flag: string): string | undefined;
  /** Every value of a repeatable flag. */
  all(flag: string): readonly string[];
}

/**
 * Parses the arguments of a command. After `--` an operand may begin with a dash.
 * @throws {UsageError} for an unknown flag, a value that is not allowed, and a missing or surplus argument
 */
export function readGiven(command: Command, argv: readonly string[]): Given {
  const operands: string[] = [];
  const flags = new Map<string, string[]>();
  for (const { name, value, dashed } of readArguments(argv, command.flags, command.name)) {
    if (dashed) throw new UsageError(`Cannot use the argument '${value}': ${dashes}`);
    if (name === undefined) operands.push(value);
    else flags.set(name, [...(flags.get(name) ?? []), asListed(value, valuesOf(command, name))]);
  }
  const operand = readOperand(command, operands);
  for (const flag of command.flags) checkFlag(command, flag, flags);
  return {
    operand,
    has: (flag) => flags.has(flag),
    value: (flag) => flags.get(flag)?.at(-1),
    all: (flag) => flags.get(flag) ?? [],
  };
}

const dashes = 'flags begin with two dashes, other arguments with none';

function valuesOf({ flags }: Command, name: string): readonly string[] | undefined {
  return flags.find((flag) => flag.name === name)?.values;
}

/** A value with the capitals and hyphens of the listed one. */
function asListed(value: string, values: readonly string[] = []): string {
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '-');
  return values.find((each) => plain(each) === plain(value)) ?? value;
}

function checkFlag(
  command: Command,
  { name, values, required, excludes = [] }: Flag,
  flags: ReadonlyMap<string, readonly string[]>,
): void {
  const given = flags.get(name);
  if (given === undefined) {
    if (required) throw new UsageError(`Cannot use ${command.name} without --${name}`);
    return;
  }
  const other = excludes.find((each) => flags.has(each));
  if (other !== undefined) throw new UsageError(`Cannot use --${name} with --${other}`);
  const wrong = values && given.find((value) => !values.includes(value));
  if (wrong !== undefined) throw new UsageError(`Cannot use --${name} ${wrong}: must be ${either(values)}`);
}

function readOperand({ name, operand }: Command, given: readonly string[]): string {
  const [typed = '', surplus] = operand === undefined ? ['', ...given] : given;
  const value = asListed(typed, operand?.values);
  if (surplus !== undefined) {
    const taken = operand === undefined ? 'flags only' : `one argument, ${operand.name}`;
    throw new UsageError(`Cannot use the argument '${surplus}': ${name} takes ${taken}`);
  }
  if (operand === undefined || (operand.optional && value === '')) return value;
  const must = operand.values ? `: must be ${either(operand.values)}` : '';
  if (value === '') throw new UsageError(`Cannot use ${name} without ${operand.name}${must}`);
  if (operand.values?.includes(value) === false)
    throw new UsageError(`Cannot use ${name} with ${value}${must}`);
  return value;
}

function either(values: readonly string[] = []): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(values);
}
