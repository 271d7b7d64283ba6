# Prints what zsh offers for a command line, one candidate a line. Another zsh runs at a terminal of its own, where Tab is pressed.
# $1: the file with the completion script. $2: the command line.
zmodload zsh/zpty
zpty shell zsh -f -i
# What is offered stands between two lines with a NUL, which nothing else has.
zpty -w shell "PS1=; unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; source $1; bindkey '^I' complete-word
mark() { print -r - \$'\\0' }
compprefuncs=(mark); comppostfuncs=(mark exit)
compadd() {
  [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] && { builtin compadd \"\$@\"; return }
  local -a offered
  builtin compadd -A offered \"\$@\"
  print -rl -- \$offered
}
print REA''DY"
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -w shell "$2"$'\t'
marks=0
while zpty -r shell line; do
  line=${line%%[[:space:]]#}
  if [[ $line == *$'\0'* ]]; then
    (( ++marks == 2 )) && break
  elif (( marks == 1 )); then
    print -r -- $line
  fi
done
