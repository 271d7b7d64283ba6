import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearestKnown } from '../contract/nearest.ts';
import type { Option } from '../contract/shapes/option.ts';

/** An error in the usage of a command: exit code 2, with the message on standard error. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type KnownOption = Pick<Option, 'name' | 'value' | 'formerly'>;

/** An option with its name, or an operand without a name. */
interface Argument {
  /** Name without the dashes. */
  readonly name?: string;
  /** Value; empty for a switch. */
  readonly value: string;
  /** True for an argument with a single dash, such as `-x`. It is never an option, and an operand only after `--`. */
  readonly dashed?: true;
}

/**
 * Parses arguments one by one: `--name value`, `--name=value`, `--switch`, operands, and only operands after `--`.
 * @param command name of the command as an argument of `flagmeter help`
 * @throws {UsageError} for an unknown option, or a missing value
 */
export function* readArguments(
  argv: readonly string[],
  known: readonly KnownOption[],
  command?: string,
): Generator<Argument> {
  const types = known.flatMap(({ name, formerly = name, value }) =>
    [name, formerly].map((each) => [each, { type: value === undefined ? 'boolean' : 'string' }]),
  );
  // Strict parsing would quote values in its messages, and a value might be a secret. Errors are detected here instead.
  const options = Object.fromEntries(types) as ParseArgsConfig['options'] & {};
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') yield { value: token.value };
    else if (token.kind === 'option') yield readOption(token, argv, known, command);
  }
}

function readOption(
  { name, rawName, index, value, inlineValue }: OptionToken,
  argv: readonly string[],
  known: readonly KnownOption[],
  command?: string,
): Argument {
  if (!rawName.startsWith('--')) return { value: argv[index] ?? rawName, dashed: true };
  const option = known.find((each) => each.name === name || each.formerly === name);
  if (option === undefined) throw new UsageError(describeUnknownOption(name, known, command));
  if (option.value === undefined) {
    if (inlineValue) throw new UsageError(`--${name} does not take a value`);
    return { name: option.name, value: '' };
  }
  if (value === undefined || (!inlineValue && value.startsWith('--')))
    throw new UsageError(`--${name} requires a value`);
  return { name: option.name, value };
}

interface OptionToken {
  readonly name: string;
  /** Name with its dashes. */
  readonly rawName: string;
  readonly index: number;
  readonly value?: string | undefined;
  /** True if the value followed `=` in the same argument. */
  readonly inlineValue?: boolean | undefined;
}

/**
 * Parses arguments that must all be options. If an option is repeated, its last value is used.
 * @returns option name without dashes → value; empty for a switch
 * @throws {UsageError} for an unknown option, a missing value, or an operand
 */
export function readOptions(argv: readonly string[], known: readonly KnownOption[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, value } of readArguments(argv, known)) {
    if (name === undefined) {
      const taken = known.length === 0 ? 'this command takes no arguments' : 'only options (--name value) are accepted';
      throw new UsageError(`Cannot use the argument '${value}': ${taken}`);
    }
    found.set(name, value);
  }
  return found;
}

/** Omits the value of an unknown option, and the part of its name after a space, because each might be a secret. */
function describeUnknownOption(given: string, known: readonly KnownOption[], command?: string): string {
  const [name = ''] = given.split(/\s/, 1);
  if (known.length === 0) return `Unknown option --${name}; this command takes no options`;
  const help = command === undefined ? '' : `; flagmeter help ${command} lists them`;
  const names = known.map((option) => option.name);
  const usual = name === 'port' ? names.find((each) => each === 'listen') : undefined;
  if (usual !== undefined) return `Unknown option --port; use --${usual} HOST:PORT, such as --${usual} :8080`;
  return `Unknown option --${name}${nearestKnown(name, names, '--') || help}`;
}

/** @param word the given word, if any */
export function unknownWord(command: string, word: string | undefined, words: readonly string[]): UsageError {
  const all = `use one of ${words.join(', ')}`;
  if (word === undefined) return new UsageError(`Cannot use ${command} alone: ${all}`);
  const near = nearestKnown(word, words, `${command} `);
  return new UsageError(`Unknown command ${command} ${word}${near || `: ${all}`}`);
}
