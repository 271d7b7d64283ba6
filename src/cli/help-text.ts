import type { Flag, Operand } from '../contract/shapes/option.ts';
import type { Syntax } from './command.ts';

/** The column where descriptions begin, and the longest line. */
const descriptionColumn = 30;
const width = 100;
const indent = '    ';

/** The usage of a command, in lines that fit the terminal. */
export function usageText({ name, operand, flags }: Syntax): string {
  const words = [`flagmeter ${name}`, ...(operand ? [operandWord(operand)] : []), ...flags.map(flagWord)];
  return `${filled(words, width - indent.length).join(`\n${indent}`)}\n`;
}

/** Words in lines of at most `max` characters, except for a longer word. */
function filled(words: readonly string[], max: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= max) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The descriptions of the operands and flags of commands, each once. Those of several commands come last. */
export function flagsText(commands: readonly Syntax[]): string {
  const operands = commands.flatMap(({ operand }) => (operand ? [entryText(operand.name, operand)] : []));
  const flags = commands.flatMap((command) => command.flags.map((flag) => entryText(valued(flag), flag)));
  const isShared = (text: string) => flags.indexOf(text) !== flags.lastIndexOf(text);
  const shared = flags.filter(isShared);
  return [...new Set([...operands, ...flags.filter((text) => !isShared(text)), ...shared])].join('');
}

/** One entry of a list: its head and its description. */
export function entryText(
  head: string,
  { description, more }: { readonly description: string; readonly more?: string },
): string {
  const texts = more === undefined ? [description] : [description, more];
  const lines = texts.flatMap((text) => filled(text.split(' '), width - descriptionColumn));
  const first = `  ${head}`.padEnd(descriptionColumn - 1);
  return `${first} ${lines.join(`\n${' '.repeat(descriptionColumn)}`)}\n`;
}

/** Up to three values are listed in place of the placeholder. */
function operandWord({ name, optional, values = [] }: Operand): string {
  if (values.length > 0 && values.length <= 3) return values.join('|');
  return optional ? `[${name}]` : name;
}

function flagWord(flag: Flag): string {
  const word = flag.many ? `${valued(flag)} …` : valued(flag);
  return flag.required ? word : `[${word}]`;
}

function valued({ name, value }: Flag): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}
