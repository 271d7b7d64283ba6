import { nearestKnown } from './nearest.ts';

/** The caller asked for something that does not exist or cannot be: exit code 2, with the message on stderr. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The flags of a command, by their names without the dashes. */
export interface KnownFlags {
  /** Flags that take a value: `--name value` or `--name=value`. */
  readonly values: readonly string[];
  /** Flags that stand alone. */
  readonly switches?: readonly string[];
  /** What they belong to, as `flagmeter help` takes it. */
  readonly command?: string;
}

/** One argument of a command: a flag, or without a name what is no flag. */
export interface Argument {
  /** Without the dashes. */
  readonly name?: string;
  /** Empty for a switch. */
  readonly value: string;
}

/**
 * Reads a command's arguments one after the other.
 * @throws {UsageError} for an unknown flag, or a missing value
 */
export function* readArguments(argv: readonly string[], known: KnownFlags): Generator<Argument> {
  const rest = argv[Symbol.iterator]();
  for (const argument of rest) {
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name === undefined) {
      yield { value: argument };
    } else if (known.switches?.includes(name)) {
      if (inline !== undefined) throw new UsageError(`Cannot use --${name} with a value: it takes none`);
      yield { name, value: '' };
    } else if (known.values.includes(name)) {
      yield { name, value: inline ?? following(name, rest) };
    } else {
      throw new UsageError(unknownFlag(name, known));
    }
  }
}

/**
 * Reads a command's arguments, which are flags only; of a flag given twice the last one counts.
 * @returns flag name without dashes → value; a switch's value is empty
 * @throws {UsageError} for an unknown flag, a missing value, or an argument that is no flag
 */
export function readFlags(argv: readonly string[], known: KnownFlags): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, value } of readArguments(argv, known)) {
    if (name === undefined) {
      const taken =
        namesOf(known).length === 0 ? 'there are none here' : 'only flags (--name value) are taken';
      throw new UsageError(`Cannot use the argument '${value}': ${taken}`);
    }
    found.set(name, value);
  }
  return found;
}

function following(name: string, rest: Iterator<string>): string {
  const { value, done } = rest.next();
  if (done || value.startsWith('--')) throw new UsageError(`Cannot use --${name} alone: a value must follow`);
  return value;
}

/** The value that came with an unknown flag is not repeated, nor what follows a space in it: it may be a secret. */
function unknownFlag(given: string, known: KnownFlags): string {
  const [name = ''] = given.split(/\s/, 1);
  const names = namesOf(known);
  if (names.length === 0) return `Unknown flag --${name}; there are none here`;
  const help = known.command === undefined ? '' : `; flagmeter help ${known.command} says which there are`;
  return `Unknown flag --${name}${nearestKnown(name, names, '--') || help}`;
}

function namesOf({ values, switches = [] }: KnownFlags): string[] {
  return [...values, ...switches];
}

/**
 * The error for a command that takes one of these words next.
 * @param word what was given instead, if anything
 */
export function unknownWord(command: string, word: string | undefined, words: readonly string[]): UsageError {
  const all = `say ${words.join(', ')}`;
  if (word === undefined) return new UsageError(`Cannot use ${command} alone: ${all}`);
  const near = nearestKnown(word, words, `${command} `);
  return new UsageError(`Unknown command ${command} ${word}${near || `: ${all}`}`);
}
