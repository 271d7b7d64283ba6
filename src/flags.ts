import { closest } from 'fastest-levenshtein';

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
}

/**
 * Reads a command's arguments, which are flags only; of a flag given twice the last one counts.
 * @returns flag name without dashes → value; a switch's value is empty
 * @throws {UsageError} for an unknown flag, a missing value, or an argument that is no flag
 */
export function readFlags(argv: readonly string[], known: KnownFlags): Map<string, string> {
  const found = new Map<string, string>();
  const rest = argv[Symbol.iterator]();
  for (const argument of rest) {
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name === undefined) {
      throw new UsageError(`Cannot use the argument '${argument}': only flags (--name value) are taken`);
    }
    if (known.switches?.includes(name)) {
      if (inline !== undefined) throw new UsageError(`Cannot use --${name} with a value: it takes none`);
      found.set(name, '');
    } else if (known.values.includes(name)) {
      found.set(name, inline ?? following(name, rest));
    } else {
      throw new UsageError(unknownFlag(name, known));
    }
  }
  return found;
}

function following(name: string, rest: Iterator<string>): string {
  const { value, done } = rest.next();
  if (done || value.startsWith('--')) throw new UsageError(`Cannot use --${name} alone: a value must follow`);
  return value;
}

/** The value that came with an unknown flag is not repeated: it may be a secret. */
function unknownFlag(name: string, known: KnownFlags): string {
  const names = [...known.values, ...(known.switches ?? [])];
  return `Unknown flag --${name}; the nearest known one is --${closest(name, names)}`;
}
