import { type FlagValue, groupPattern, type Place, quoted, valueArms } from './places.ts';

/** The completion script for zsh; it can also be a file of `fpath`. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef flagmeter
# Completion of flagmeter for zsh: source <(flagmeter completion zsh)
_flagmeter() {
  local place=
  local -a choices
  if ((CURRENT > 2)); then
    place=$words[2]
    case $place in
      ${groupPattern(places)}) if ((CURRENT > 3)); then place+=" $words[3]"; fi ;;
    esac
  fi
  case "$place:$words[CURRENT-1]" in
${valueArms(places, actionOf)}  esac
  case $place in
${places.map(placeCase).join('')}  esac
  _describe -t choices flagmeter choices
}
if [ "$funcstack[1]" = _flagmeter ]; then _flagmeter "$@"; else compdef _flagmeter flagmeter; fi
`;
}

function actionOf({ kind, words }: FlagValue): string {
  if (kind === 'words') return `compadd -- ${words.map(quoted).join(' ')}; return`;
  return kind === 'file' ? '_files; return' : 'return';
}

function placeCase({ words, choices }: Place): string {
  const described = choices.map(({ word, description }) =>
    quoted(`${word.replaceAll(':', '\\:')}:${description}`),
  );
  return `    ${quoted(words.join(' '))}) choices=(${described.join(' ')}) ;;\n`;
}
