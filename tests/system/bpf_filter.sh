# SPDX-License-Identifier: MIT
# Who is recorded is chosen in the kernel: a command's tree, processes, threads, users, names, cgroups. What
# must be in the file is, and what belongs to others is not, neither samples nor records about them.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

can_record
"$SEAM" record -q --call-graph dwarf,defer -o probe.data -- true 2>probe.err
grep -q "not walked by BPF" probe.err && skip "$(cat probe.err)"

busy 300 >mine.sh
# A stranger that burns beside what is recorded, under a name of its own.
cp "$(command -v sh)" stranger
./stranger -c 'while :; do :; done' &
stranger=$!
trap 'kill $stranger; cd /; rm -rf "$T"' EXIT

# pids TYPE: of which processes there are such records
pids() { "$SEAM" script --show-task-events --show-mmap-events -F pid,comm f.data 2>/dev/null | grep -c . ; }
# of REGEX: samples whose thread's name fits
of() { "$SEAM" script -F comm,pid f.data 2>/dev/null | awk -v c="$1" '$1 ~ c' | grep -c .; }
mentions() { "$SEAM" dump f.data | grep -v -E 'CMDLINE|cmdline|HEADER' | grep -c "$1"; }
take() { "$SEAM" record -q -F 997 -e cpu-clock --call-graph dwarf,defer -o f.data "$@" 2>err || fail "record $*: $(cat err)"; }

take -- sh -c "sh mine.sh & exec sh mine.sh"
atleast "a command's tree" 50 "$(of '^sh$')"
same "a command's tree: samples" "$(samples f.data)" "$(of '^sh$|^seam-exec$')"

# What the recorder's child does before its exec (it reads a byte, looks for the program along PATH) is not the
# command's: an exec is the first thing that it does.
"$SEAM" record -q -e page-faults -c 1 --call-graph dwarf,defer -o f.data -- env true
same "no page fault before the exec" 0 "$("$SEAM" script -F comm,sym f.data | awk -v RS= '/^ *seam-exec/ && !/execve/' | grep -c .)"
atleast "page faults after it" 20 "$(of '^true$|^env$')"
same "a command's tree: no word of the stranger" 0 "$(mentions stranger)"

take -p $stranger -- sh "$AWAIT" 300 $stranger
atleast "a process" 50 "$(of '^stranger$')"
same "a process: nobody else" "$(samples f.data)" "$(of '^stranger$')"

take -t $stranger -- sh "$AWAIT" 300 $stranger
atleast "a thread" 50 "$(of '^stranger$')"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && chmod 644 mine.sh
	take -u 65534 -- sh -c 'sh mine.sh; setpriv --reuid 65534 --clear-groups sh mine.sh'
	one=$(samples f.data)
	take -- sh -c 'sh mine.sh; setpriv --reuid 65534 --clear-groups sh mine.sh'
	atleast "a user" 30 "$one"
	atmost "a user: less than both" "$(($(samples f.data) * 4 / 5))" "$one"
	take -a -u 65534 -- setpriv --reuid 65534 --clear-groups sh mine.sh
	atleast "a user, of all" 30 "$(of '^sh$')"
	same "a user, of all: no word of the stranger" 0 "$(mentions stranger)"
	atleast "a user, of all: what is mapped" 1 "$(mentions 'MMAP2.*/sh\|MMAP2.*/dash')"
fi

take -a --comm stranger -- sh "$AWAIT" 300 $stranger
atleast "a name" 50 "$(of '^stranger$')"
same "a name: nobody else" "$(samples f.data)" "$(of '^stranger$')"
atleast "a name: what ran already is mapped" 1 "$(mentions 'MMAP2.*/stranger')"

group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$group" ] && mkdir "$group/seam-test-$$" "$group/seam-test-$$/below" 2>/dev/null; then
	trap 'kill $stranger; rmdir "$group/seam-test-$$/below" "$group/seam-test-$$"; cd /; rm -rf "$T"' EXIT
	cat >into.sh <<E2
echo \$\$ >"\$1/cgroup.procs"; exec sh mine.sh
E2
	take -a -G "seam-test-$$" -- sh -c "sh mine.sh & sh into.sh $group/seam-test-$$/below; wait"
	one=$(samples f.data)
	atleast "a cgroup, and below" 30 "$one"
	same "a cgroup: only that" "$one" "$(of '^sh$')"
	same "a cgroup: one process" 1 "$("$SEAM" script -F pid f.data | sort -u | grep -c '[0-9]')"
	same "a cgroup: no word of the stranger" 0 "$(mentions stranger)"
else
	echo "no cgroup2 can be made here: not tried"
fi

"$SEAM" record -q -u no-such-user -o f.data -- true 2>err
same "a wrong user: status" 2 $?
says err "neither a user nor a number"
"$SEAM" record -q --call-graph fp --comm sh -o f.data -- true 2>err
same "frame pointers of the kernel: status" 2 $?
says err "goes with --call-graph dwarf,defer"
"$SEAM" record -q -G no/such/group -o f.data -- true 2>err
same "a wrong cgroup: status" 2 $?
done_testing
