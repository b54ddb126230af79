# Bash completion. Commands, options and their choices are asked of the program's own --help, so that none is missing.
_croquis() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word before=
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    # Neither an option nor the FILE of --config FILE, which may also be --config = FILE here.
    if [[ $word == = ]]; then continue; fi
    [[ $word == -* || $before == --config ]] || { command=$word; break; }
    before=$word
  done
  if [[ -z $command && $current != -* && $before != --config ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p')" -- "$current")
    return
  fi
  local help
  help=$("$program" $command --help 2>/dev/null) || return 0
  local choices=
  case $previous in
    # "--input TEXT:{text,model,...}=text", and the choices of an argument: "what TEXT:{methods,...} REQUIRED"
    --*) choices=$(sed -n "s/^  $previous [A-Z]*:{\([^}]*\)}.*/\1/p" <<<"$help") ;;
    list) choices=$(sed -n 's/^  what TEXT:{\([^}]*\)}.*/\1/p' <<<"$help") ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^  (-h,)?--[a-z-]+' <<<"$help" | sed 's/.*--/--/')" -- "$current")
  elif [[ -n $choices ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${choices//,/ }" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _croquis croquis
