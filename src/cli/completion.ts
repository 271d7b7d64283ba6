import type { Entry, Syntax } from './command.ts';

/** A word that completion can offer. */
interface Choice {
  readonly word: string;
  readonly description: string;
}

/** A position on the command line, given by the preceding words: no word, `apps`, or `apps create`. */
interface Place {
  readonly words: readonly string[];
  /** True if the words are a complete command. Its options and operand can follow in any order. */
  readonly isCommand: boolean;
  readonly choices: readonly Choice[];
  readonly options: readonly OptionValue[];
}

interface OptionValue {
  /** Name with its dashes. */
  readonly option: string;
  readonly kind: 'words' | 'file' | 'anything';
  readonly words: readonly string[];
}

/** @param table the commands by their first word */
export function listPlaces(table: Readonly<Record<string, Entry<Syntax>>>): readonly Place[] {
  const first = Object.entries(table).map(([word, { summary }]) => ({ word, description: summary }));
  const groups = Object.entries(table).flatMap(([word, { commands }]) =>
    commands.some(({ name }) => name !== word) ? [groupPlace(word, commands)] : [],
  );
  const all = Object.values(table).flatMap((entry) => entry.commands.map(commandPlace));
  const helped = groups.map((group) => ({ ...group, words: ['help', ...group.words] }));
  // A word such as `backup` can be both a command and the first word of another command.
  const withWords = all.map((place) => {
    const group = groups.find(({ words: [word] }) => place.words.join(' ') === word);
    return group === undefined ? place : { ...place, choices: [...group.choices, ...place.choices] };
  });
  const alone = groups.filter(({ words: [word] }) => all.every(({ words }) => words.join(' ') !== word));
  return [{ words: [], isCommand: false, choices: first, options: [] }, ...alone, ...withWords, ...helped];
}

function groupPlace(word: string, commands: readonly Syntax[]): Place {
  const choices = commands
    .filter(({ name }) => name !== word)
    .map(({ name, summary }) => ({ word: name.slice(word.length + 1), description: summary }));
  return { words: [word], isCommand: false, choices, options: [] };
}

function commandPlace({ name, operand, options }: Syntax): Place {
  const operands = (operand?.values ?? []).map((word) => ({ word, description: operand?.description ?? '' }));
  const choices = options.map((option) => ({ word: `--${option.name}`, description: option.description }));
  return {
    words: name.split(' '),
    isCommand: true,
    choices: [...operands, ...choices],
    options: options
      .filter(({ value }) => value !== undefined)
      .map(({ name, values, file }) => ({
        option: `--${name}`,
        kind: values ? 'words' : file ? 'file' : 'anything',
        words: values ?? [],
      })),
  };
}

/** Returns the branches of a shell `case` statement on `PLACE:OPTION`, which complete the value of an option. */
function valueArms(places: readonly Place[], then: (value: OptionValue) => string): string {
  const arms = new Map<string, string[]>();
  for (const { words, options } of places) {
    for (const value of options) {
      const patterns = arms.get(then(value)) ?? [];
      arms.set(then(value), [...patterns, quoted(`${words.join(' ')}:${value.option}`)]);
    }
  }
  return Array.from(arms, ([action, patterns]) => `    ${patterns.join('|')}) ${action} ;;\n`).join('');
}

/** Returns a shell pattern of the first words of all two-word commands. */
function groupPattern(places: readonly Place[]): string {
  const groups = places.filter(({ words }) => words.length === 2).map(({ words: [first] }) => first);
  return [...new Set(groups)].join('|');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns the script for bash 3.2 and later. */
export function bashScript(places: readonly Place[]): string {
  return `# Completion of flagmeter for bash: source <(flagmeter completion bash)
_flagmeter() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} place= words= IFS=$'\\n'
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    place=\${COMP_WORDS[1]}
    case $place in
      ${groupPattern(places)}) if ((COMP_CWORD > 2)) && [[ \${COMP_WORDS[2]} != -* ]]; then place+=" \${COMP_WORDS[2]}"; fi ;;
    esac
  fi
  case "$place:$previous" in
${valueArms(places, bashAction)}  esac
  case $place in
${places.map(bashCase).join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _flagmeter flagmeter
`;
}

function bashAction({ kind, words }: OptionValue): string {
  if (kind === 'words') return `COMPREPLY=($(compgen -W ${lines(words)} -- "$current")); return`;
  if (kind === 'anything') return 'return';
  return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return';
}

function bashCase({ words, choices }: Place): string {
  return `    ${quoted(words.join(' '))}) words=${lines(choices.map(({ word }) => word))} ;;\n`;
}

function lines(words: readonly string[]): string {
  return `$${quoted(words.join('\\n'))}`;
}

/** Returns the script for zsh. It can also be installed as a file in `fpath`. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef flagmeter
# Completion of flagmeter for zsh: source <(flagmeter completion zsh)
_flagmeter() {
  local place=
  local -a choices
  if ((CURRENT > 2)); then
    place=$words[2]
    case $place in
      ${groupPattern(places)}) if ((CURRENT > 3)) && [[ $words[3] != -* ]]; then place+=" $words[3]"; fi ;;
    esac
  fi
  case "$place:$words[CURRENT-1]" in
${valueArms(places, zshAction)}  esac
  case $place in
${places.map(zshCase).join('')}  esac
  _describe -t choices flagmeter choices
}
if [ "$funcstack[1]" = _flagmeter ]; then _flagmeter "$@"; else compdef _flagmeter flagmeter; fi
`;
}

function zshAction({ kind, words }: OptionValue): string {
  if (kind === 'words') return `compadd -- ${words.map(quoted).join(' ')}; return`;
  return kind === 'file' ? '_files; return' : 'return';
}

function zshCase({ words, choices }: Place): string {
  const described = choices.map(({ word, description }) => quoted(`${word.replaceAll(':', '\\:')}:${description}`));
  return `    ${quoted(words.join(' '))}) choices=(${described.join(' ')}) ;;\n`;
}

export function fishScript(places: readonly Place[]): string {
  return `# Completion of flagmeter for fish: flagmeter completion fish > ~/.config/fish/completions/flagmeter.fish
# True if the words before the cursor are these, or begin with them.
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

function placeLines({ words, isCommand, choices, options }: Place): string {
  // The operand of a command without options is the next and the last word.
  const where = isCommand && choices.some(({ word }) => word.startsWith('--')) ? '__flagmeter_in' : '__flagmeter_at';
  const condition = `-n ${fishQuoted(`${where} ${words.join(' ')}`.trim())}`;
  return choices
    .map(({ word, description }) => {
      const value = options.find(({ option }) => option === word);
      const what = word.startsWith('--') ? `-l ${word.slice(2)}${takes(value)}` : `-a ${fishQuoted(word)}`;
      return `complete -c flagmeter ${condition} ${what} -d ${fishQuoted(description)}\n`;
    })
    .join('');
}

function takes(value: OptionValue | undefined): string {
  if (value === undefined) return '';
  if (value.kind === 'words') return ` -x -a ${fishQuoted(value.words.join(' '))}`;
  return value.kind === 'file' ? ' -r -F' : ' -x';
}

/** Quotes a text with the escapes of fish. */
function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
