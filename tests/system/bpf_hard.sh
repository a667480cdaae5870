# SPDX-License-Identifier: MIT
# User stacks by BPF where they are hard to take: pages that are not in memory, signal stacks, many
# threads, processes that come and go, tasks that sleep for ever, deep recursion.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/bpf/stacks.sh"

stacks "" -F 997 -- ./work pages 1
all "dropped pages" pages_leaf pages_thread 100
atleast "dropped pages: deferred" 50 "$n_stitched"
same "dropped pages: lost" 0 "$n_record_lost"
stacks =never -F 997 -- ./work pages 1
counts=$(whole pages_leaf pages_thread)
atmost "dropped pages without deferral: whole" "$((${counts% *} / 2))" "${counts#* }"

stacks "" -F 997 -- ./work signals 1
all "handler on its own stack" signals_work signals 20
all "recursion" signals_descend main 20

stacks "" -F 997 -- ./work threads 300
all "threads" threads_one start_thread 50

stacks "" -F 997 -- ./work churn 200
all "churn" churn_child main 20

stacks "" -F 997 -- ./work deep 1
all "300 frames" spin main 50
atleast "300 frames: deferred" 50 "$n_stitched"

# Until all sleep, and are left asleep.
cat >asleep.sh <<'E2'
./work asleep $1 &
pid=$!
echo $pid >asleep.pid
asleep() { cat /proc/$pid/task/*/stat 2>/dev/null | grep -c ') S '; }
until [ "$(asleep)" -gt $1 ] && sleep 0.5 && [ "$(asleep)" -gt $1 ]; do sleep 0.1; kill -0 $pid || exit 1; done
E2
stacks =always -F 20000 -- sh asleep.sh 200
kill "$(cat asleep.pid)"
atleast "asleep: read where they sleep" 150 "$(figure 'read asleep')"
same "asleep: still owed" 0 "$n_still_in_kernel"
all "asleep" asleep_poll asleep_thread 200

# As many tasks as fell asleep while they were sampled; nobody else may be owed a stack for ever.
stacks =always -F 4000 -- ./work naps 1
atleast "naps: samples" 100 "$n_samples"
same "naps: still owed" 0 "$n_still_in_kernel"
same "naps: lost" 0 "$n_record_lost"
all "naps" read_zeros naps_one 50

stacks =always -F 997 -- ./work migrate 1
all "migrating" migrate_here main 3
same "migrating: still owed" 0 "$n_still_in_kernel"

# Many samples of one system call share one stack.
stacks =always -F 4000 -- ./work longsys 1
all "long system calls" read_zeros main 100
atleast "long system calls: shared" "$((n_samples / 2))" "$(figure 'samples shared one')"

# What is pending for a system call is not walked again at each of its samples.
stacks "" -F 4000 -- ./work deepsys 1
all "deep system calls" read_zeros main 100
atleast "deep system calls: shared" "$((n_samples / 2))" "$(figure 'samples shared one')"
atmost "deep system calls: walked at once" "$((n_samples / 2))" "$(figure 'walked at once')"

if ./work uring 0.01; then
	stacks "" -F 997 -- ./work uring 1
	atleast "io workers: without a user stack" 20 "$(ended no_user)"
	same "io workers: with one" 0 "$(awk -v RS= '/^ *iou-wrk/ && /\((\/|\[vdso)/ { n++ } END { print n + 0 }' f.txt)"
	atleast "io workers: seen" 20 "$(grep -c '^ *iou-wrk' f.txt)"
fi

done_testing
