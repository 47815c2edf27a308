# Completion of tarcil in bash: its verbs, commands and options, as their --help lists them; else files.
# `cmake --install` puts it where bash finds it; without: source cli/completion.bash

_tarcil() {
  local word help
  if [[ ${COMP_WORDS[COMP_CWORD-1]} == --color ]]; then
    mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "${COMP_WORDS[COMP_CWORD]}")
    return
  fi
  local -a command=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    "${COMP_WORDS[0]}" "${command[@]}" "$word" --help >/dev/null 2>&1 || break
    command+=("$word")
  done
  help=$("${COMP_WORDS[0]}" "${command[@]}" --help 2>/dev/null)
  local -a listed
  if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
    # Those of `tarcil --help` go with every command.
    help+=$'\n\n'$("${COMP_WORDS[0]}" --help 2>/dev/null)
    mapfile -t listed < <(sed -nE '/^Options:/,/^$/ s/^  (-., )?(--[a-z-]+).*/\2/p' <<<"$help" | sort -u)
  else
    # Each heading with commands below it ends with a colon; Options and what follows are none.
    mapfile -t listed < <(sed -nE '/^(Arguments|Options|Examples):/q; s/^  ([a-z][a-z-]*) .*/\1/p' <<<"$help")
  fi
  mapfile -t COMPREPLY < <(compgen -W "${listed[*]}" -- "${COMP_WORDS[COMP_CWORD]}")
}

complete -o default -F _tarcil tarcil
