import type { Entry, Syntax } from '../command.ts';

/** A word that may follow. */
export interface Choice {
  readonly word: string;
  readonly description: string;
}

/** A position on the command line, by the words before it: none, `apps`, `apps create`. */
export interface Place {
  readonly words: readonly string[];
  /** Whether the words are a whole command, which its flags and operand follow in any order. */
  readonly isCommand: boolean;
  readonly choices: readonly Choice[];
  readonly flags: readonly FlagValue[];
}

/** The value of a flag. */
export interface FlagValue {
  /** With its dashes. */
  readonly flag: string;
  readonly kind: 'words' | 'file' | 'anything';
  readonly words: readonly string[];
}

/** Every position of a command line. @param table the commands by their first word */
export function placesOf(table: Readonly<Record<string, Entry<Syntax>>>): readonly Place[] {
  const first = Object.entries(table).map(([word, { summary }]) => ({ word, description: summary }));
  const groups = Object.entries(table).flatMap(([word, { commands }]) =>
    commands.some(({ name }) => name !== word) ? [groupPlace(word, commands)] : [],
  );
  const commands = Object.values(table).flatMap((entry) => entry.commands.map(commandPlace));
  const helped = groups.map((group) => ({ ...group, words: ['help', ...group.words] }));
  return [{ words: [], isCommand: false, choices: first, flags: [] }, ...groups, ...commands, ...helped];
}

function groupPlace(word: string, commands: readonly Syntax[]): Place {
  const choices = commands.map(({ name, summary }) => ({
    word: name.slice(word.length + 1),
    description: summary,
  }));
  return { words: [word], isCommand: false, choices, flags: [] };
}

function commandPlace({ name, operand, flags }: Syntax): Place {
  const operands = (operand?.values ?? []).map((word) => ({ word, description: operand?.description ?? '' }));
  const choices = flags.map((flag) => ({ word: `--${flag.name}`, description: flag.description }));
  return {
    words: name.split(' '),
    isCommand: true,
    choices: [...operands, ...choices],
    flags: flags
      .filter(({ value }) => value !== undefined)
      .map(({ name: flag, values, file }) => ({
        flag: `--${flag}`,
        kind: values ? 'words' : file ? 'file' : 'anything',
        words: values ?? [],
      })),
  };
}

/**
 * The arms of a POSIX shell's `case` on `PLACE:FLAG`, for what follows a flag.
 * @param then the action for a flag
 */
export function valueArms(places: readonly Place[], then: (value: FlagValue) => string): string {
  const arms = new Map<string, string[]>();
  for (const { words, flags } of places) {
    for (const value of flags) {
      const patterns = arms.get(then(value)) ?? [];
      arms.set(then(value), [...patterns, quoted(`${words.join(' ')}:${value.flag}`)]);
    }
  }
  return Array.from(arms, ([action, patterns]) => `    ${patterns.join('|')}) ${action} ;;\n`).join('');
}

/** The first words of commands of two words, as a pattern of a POSIX shell. */
export function groupPattern(places: readonly Place[]): string {
  const groups = places.filter(({ words }) => words.length === 2).map(({ words: [first] }) => first);
  return [...new Set(groups)].join('|');
}

/** A text in single quotes of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
