# SPDX-License-Identifier: MIT
# Exactness of user stacks by BPF: depth, registers, uretprobes, 32-bit code, code made at run time, and what is said of each.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/bpf/stacks.sh"

# 510 frames, as the kernel's own deferred stacks may have.
stacks "" -F 997 -- ./work deep 480
all "480 frames" spin main 50
# In the interrupt itself at most 256 of them: the rest is what deferral is for.
"$SEAM" dump f.data 2>/dev/null | awk '/PERF_RECORD_/ { user = 0 }
	/^\.\.\.\.\. / && /PERF_CONTEXT_/ { user = /PERF_CONTEXT_USER\)/; n = 0; next }
	/^\.\.\.\.\. / && user && ++n > most { most = n }
	END { print most + 0 }' >most
atmost "480 frames: at the sample" 256 "$(cat most)"
atleast "480 frames: deferred" 50 "$n_stitched"
stacks "" -F 997 -- ./work deep 100
atleast "100 frames: at once" 50 "$n_immediate"
all "100 frames" spin main 50
stacks "" -F 997 -- ./work deep 700
same "700 frames: as many as are kept" "510 510" "$(frames spin)"
atleast "700 frames: said" 50 "$(ended limit)"
atleast "700 frames: said by the file" "$(ended limit)" "$(in_file limit)"

# Each caller's CFA is in another callee-saved register, which the function below has saved.
stacks "" -F 997 -- ./work registers 1
all "registers" registers_leaf main 50
for register in rbx r12 r13 r14 r15; do
	all "CFA in $register" registers_leaf registers_$register 50
done

# The return addresses of 7 watched functions are the trampoline's on the stack.
if ./work watched 0.01; then
	for mode in "" =always; do
		stacks "$mode" -F 997 -- ./work watched 1
		all "uretprobes $mode" watched_leaf main 50
		same "uretprobes $mode: callers in the stacks" "6 6" "$(occurs spin watched_descend)"
		same "uretprobes $mode: trampolines in the stacks" 0 \
			"$(awk -v RS= '/[ \t]spin[+ ]/ && /uprobes/ { n++ } END { print n + 0 }' f.txt)"
		# In the midst of a return: what is not known at once is on the way out of the kernel.
		stacks "$mode" -F 3989 -- ./work returns 4
		atleast "returns $mode: stacks in the midst" 50 "$(grep -c '\[uprobes\]' f.txt)"
		# But where it is said that the address was in neither place, and in the first moments, which are
		# walked from a copy of the stack.
		atmost "returns $mode: without the caller" "$(($(ended watched) + $(figure 'walked by the recorder')))" \
			"$(awk -v RS= '/\[uprobes\]|[ \t]returns_inner[+ ]|sys_uretprobe/ && !/[ \t]returns_outer[+ ]/ { n++ }
				END { print n + 0 }' f.txt)"
	done
else
	echo "no uretprobes here"
fi

# 32-bit code in a 64-bit program: known as such, and the pc is all that is said.
if ./work compat 0.1; then
	stacks "" -F 997 -- ./work compat 1
	atleast "32-bit code: known" 50 "$(ended compat)"
	same "32-bit code: known to the file" "$(ended compat)" "$(in_file compat)"
	same "32-bit code: frames beside the pc" 0 "$(awk -v RS= '{ n = split($0, l, "\n"); split(l[2], w, " ") }
		length(w[1]) == 8 && n > 2 { wrong++ } END { print wrong + 0 }' f.txt)"
	atleast "32-bit code: pcs" 50 "$(awk 'length($1) == 8 && $2 == "[unknown]" { n++ } END { print n + 0 }' f.txt)"
else
	echo "no 32-bit code runs in a 64-bit program here"
fi

# Code made at run time that leads straight to its return: by the code itself, which is no guess.
${CC:-cc} -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o cases "$HERE/unwind_cases/cases.c" -pthread
stacks "" -F 997 -- ./cases jit 1
# But where a sample hit in that code itself.
# undescribed: how many samples hit in it, or in what each program has of the compiler's own that no table describes.
undescribed() {
	awk -v RS= -F '\n' '{ i = 2; while ($i ~ /\[kernel/) i++
		if ($i ~ /anon|\[unknown\]|[ \t](_init|_fini|frame_dummy|(de)?register_tm_clones|__do_global_dtors_aux)[+ ]/) n++ }
		END { print n + 0 }' f.txt
}
atmost "straight code made at run time: guessed" "$(undescribed)" "$(figure 'with guessed frames')"
same "straight code made at run time: guessed, in the file" "$(figure 'with guessed frames')" "$(in_file guessed)"
all "straight code made at run time" leaf_plain main 50
# With a jump before its return: by frame pointers, and counted.
stacks "" -F 997 -- ./cases bent 1
atleast "code made at run time: guessed" 50 "$(figure 'with guessed frames')"
same "code made at run time: guessed, in the file" "$(figure 'with guessed frames')" "$(in_file guessed)"
all "code made at run time" leaf_plain main 50
stacks "" -F 997 -- ./work registers 1
atmost "code from objects: guessed" "$(undescribed)" "$(figure 'with guessed frames')"

done_testing
