# Prints what zsh offers for command lines: one candidate a line, and a NUL after each command line. Another zsh runs at a terminal of
# its own, where Tab is pressed.
# $1: the file with the completion script. $2…: the command lines.
zmodload zsh/zpty
zpty shell zsh -f -i
# What is offered stands between two lines with a NUL, which nothing else has. Nothing is listed after them.
zpty -w shell "PS1=; unset zle_bracketed_paste; unsetopt auto_list beep; autoload -U compinit; compinit -u -D; source $1; bindkey '^I' complete-word
mark() { print -r - \$'\\0' }
before() { mark; compprefuncs=(before) }
after() { mark; comppostfuncs=(after) }
compprefuncs=(before); comppostfuncs=(after)
compadd() {
  [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] && { builtin compadd \"\$@\"; return }
  local -a offered
  builtin compadd -A offered \"\$@\"
  print -rl -- \$offered
}
print REA''DY"
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
for command in "${@:2}"; do
  # The line of the command before is killed first.
  zpty -w -n shell $'\C-u'"$command"$'\t'
  marks=0
  while zpty -r shell line; do
    line=${line%%[[:space:]]#}
    if [[ $line == *$'\0'* ]]; then
      (( ++marks == 2 )) && break
    elif (( marks == 1 )); then
      print -r -- $line
    fi
  done
  print -n '\0'
done
