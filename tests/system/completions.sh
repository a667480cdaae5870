# SPDX-License-Identifier: MIT
# completions.sh: zsh and fish complete seam's words as bash does (golden help_words): commands, options, what an option
# takes, also behind a comma, and files.
. "$(dirname "$0")/lib.sh"
command -v zsh >/dev/null || skip "no zsh (scripts/setup test)"
command -v fish >/dev/null || skip "no fish (scripts/setup test)"

mkdir zsh fish files
"$SEAM" help --completion zsh >zsh/_seam
"$SEAM" help --completion fish >fish/seam.fish
touch files/zeta.data
cd files || exit 1

# zsh on a terminal: a key puts all completions of a line into it, and the command that is then run writes them down.
cat >../zsh/.zshrc <<'END'
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -u -D
zstyle ':completion:all-matches::::' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert yes
zle -C all-matches complete-word _generic
bindkey '^T' all-matches
setopt no_beep
seam() { print -r -- "$*" >>$SAID }
print ready >$SAID
END
cat >../typed.zsh <<'END'
zmodload zsh/zpty zsh/zselect
export TERM=dumb ZDOTDIR=$1 SAID=$2
shift 2
zpty shell zsh -d -i
said=1
for line in '' $*; do
	[[ -z $line ]] || zpty -w -n shell "$line"$'\x14\n'
	# Until it is done; what the terminal shows is taken away meanwhile, so that it never waits.
	for (( i = 0; i < 3000; i++ )); do
		[[ -f $SAID ]] && (( $(wc -l <$SAID) >= said )) && break
		zpty -r -t shell shown && continue
		zselect -t 2
	done
	(( said++ ))
done
zpty -d shell
END
while read -r line; do
	set -- "$@" "$line"
done <<'END'
seam export -f ca
seam export --format pp
seam report -s com
seam report --sort comm,ove
seam report -F over
seam top --sort pi
seam top --so
seam flame --sv
seam re
seam ag
seam dump ze
END
zsh -f ../typed.zsh "$T/zsh" "$T/zsh.said" "$@"
cat >../expected <<'END'
export -f callgrind
export --format pprof
report -s comm
report --sort comm,overhead comm,overhead_children
report -F overhead overhead_children
top --sort pid
top --sort
flame --svg
record recover report
agent
dump zeta.data
END
sed 1d ../zsh.said >../zsh.words
diff ../expected ../zsh.words && echo "ok: zsh completes $# lines" || fail "zsh"

# fish tells what it would complete. The line before the word is as it was.
for line; do
	printf '%s' "${line#seam }" | sed 's/[^ ]*$//'
	HOME=$T XDG_CONFIG_HOME=$T fish -N -c 'source $argv[1]; complete -C $argv[2]' "$T/fish/seam.fish" "$line" | cut -f1 | sort | paste -sd ' '
done >../fish.words
diff ../expected ../fish.words && echo "ok: fish completes $# lines" || fail "fish"
HOME=$T XDG_CONFIG_HOME=$T fish -N -c 'source $argv[1]; complete -C "seam report --sort=comm,ove"' "$T/fish/seam.fish" | cut -f1 >../joined
same "fish behind --sort=" "--sort=comm,overhead --sort=comm,overhead_children" "$(paste -sd ' ' ../joined)"
done_testing
