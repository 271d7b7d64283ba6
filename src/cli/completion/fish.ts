import type { FlagValue, Place } from './places.ts';

/** The completion script for fish. */
export function fishScript(places: readonly Place[]): string {
  return `# Completion of flagmeter for fish: flagmeter completion fish > ~/.config/fish/completions/flagmeter.fish
# Whether the words before the cursor are these, or begin with them.
function __flagmeter_at
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
function __flagmeter_in
    set -l words (commandline -opc)
    string match -q -- "$argv *" "$words[2..-1] "
end
complete -c flagmeter -f
${places.map(placeLines).join('')}`;
}

function placeLines({ words, isCommand, choices, flags }: Place): string {
  // Without flags the operand is the next word, and nothing follows it.
  const where =
    isCommand && choices.some(({ word }) => word.startsWith('--')) ? '__flagmeter_in' : '__flagmeter_at';
  const condition = `-n ${quoted(`${where} ${words.join(' ')}`.trim())}`;
  return choices
    .map(({ word, description }) => {
      const value = flags.find(({ flag }) => flag === word);
      const what = word.startsWith('--') ? `-l ${word.slice(2)}${takes(value)}` : `-a ${quoted(word)}`;
      return `complete -c flagmeter ${condition} ${what} -d ${quoted(description)}\n`;
    })
    .join('');
}

function takes(value: FlagValue | undefined): string {
  if (value === undefined) return '';
  if (value.kind === 'words') return ` -x -a ${quoted(value.words.join(' '))}`;
  return value.kind === 'file' ? ' -r -F' : ' -x';
}

/** A text in single quotes. fish has its own escapes. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
