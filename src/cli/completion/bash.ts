import { type FlagValue, groupPattern, type Place, quoted, valueArms } from './places.ts';

/** The completion script for bash 3.2 and later. */
export function bashScript(places: readonly Place[]): string {
  return `# Completion of flagmeter for bash: source <(flagmeter completion bash)
_flagmeter() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} place= words= IFS=$'\\n'
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    place=\${COMP_WORDS[1]}
    case $place in
      ${groupPattern(places)}) if ((COMP_CWORD > 2)); then place+=" \${COMP_WORDS[2]}"; fi ;;
    esac
  fi
  case "$place:$previous" in
${valueArms(places, actionOf)}  esac
  case $place in
${places.map(placeCase).join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _flagmeter flagmeter
`;
}

function actionOf({ kind, words }: FlagValue): string {
  if (kind === 'words') return `COMPREPLY=($(compgen -W ${lines(words)} -- "$current")); return`;
  if (kind === 'anything') return 'return';
  return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return';
}

function placeCase({ words, choices }: Place): string {
  return `    ${quoted(words.join(' '))}) words=${lines(choices.map(({ word }) => word))} ;;\n`;
}

function lines(words: readonly string[]): string {
  return `$${quoted(words.join('\\n'))}`;
}
