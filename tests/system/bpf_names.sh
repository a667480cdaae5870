# SPDX-License-Identifier: MIT
# bpf_names.sh: the names of BPF programs: one that was there before the recording, and several that came and went during it,
# with code where the one before them had its own. What the kernel told of each is the judge.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
command -v python3 >/dev/null || skip "there is no python3"
can_record

cat >spin.c <<'C'
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "work.h"

static long bpf(int cmd, union bpf_attr *attr) { return syscall(SYS_bpf, cmd, attr, sizeof(*attr)); }

static int load(const char *name, int value)
{
	static struct bpf_insn code[3002];
	union bpf_attr attr = { 0 };

	code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = value };
	for (int i = 1; i < 3001; i++)
		code[i] = (struct bpf_insn){ .code = BPF_ALU64 | (i % 2 ? BPF_MUL : BPF_XOR) | BPF_K, .dst_reg = 0, .imm = value + 3 };
	code[3001] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 3002;
	attr.license = (uintptr_t)"GPL";
	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
	return (int)bpf(BPF_PROG_LOAD, &attr);
}

/* What the kernel says of it; then a while of running. */
static int run(int fd, const char *name)
{
	struct bpf_prog_info info = { 0 };
	uint64_t address = 0;
	uint32_t length = 0;
	union bpf_attr attr = { 0 };
	unsigned char packet[64] = { 0 };
	unsigned long long end;

	info.jited_ksyms = (uintptr_t)&address;
	info.nr_jited_ksyms = 1;
	info.jited_func_lens = (uintptr_t)&length;
	info.nr_jited_func_lens = 1;
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0 || !address)
		return -1;
	end = work_until(300);
	do {
		memset(&attr, 0, sizeof(attr));
		attr.test.prog_fd = fd;
		attr.test.repeat = work_loops(1000);
		attr.test.data_in = (uintptr_t)packet;
		attr.test.data_size_in = sizeof(packet);
		if (bpf(BPF_PROG_TEST_RUN, &attr) < 0)
			return -1;
	} while (work_goes_on(end));
	printf("%llx %u bpf_prog_", (unsigned long long)address, length);
	for (int i = 0; i < 8; i++)
		printf("%02x", info.tag[i]);
	printf("_%s\n", name);
	fflush(stdout);
	return 0;
}

int main(void)
{
	static const char *const names[] = { "seam_one", "seam_two", "seam_three" };
	int before = load("seam_before", 7), fd;

	if (before < 0 || (fd = load("seam_try", 1)) < 0)
		return 77;
	close(fd);
	fprintf(stderr, "ready\n");
	getchar();
	if (run(before, "seam_before") < 0)
		return 77;
	for (int i = 0; i < 3; i++) {
		fd = load(names[i], 11 + i);
		if (fd < 0 || run(fd, names[i]) < 0)
			return 77;
		close(fd); /* gone, and after a moment its memory is free */
		usleep(100000);
	}
	return 0;
}
C
cc -O1 -o spin spin.c 2>cc.err || skip "the program cannot be made here: $(tail -n 1 cc.err)"
mkfifo go
./spin <go >truth 2>ready &
spin=$!
exec 3>go
for _ in $(seq 300); do grep -q ready ready && break; kill -0 $spin || break; sleep 0.2; done
if ! grep -q ready ready; then exec 3>&-; wait $spin; skip "no BPF program can be loaded here"; fi
"$SEAM" record -v -e cpu-clock -F 999 -o bpf.data -p $spin >out 2>err &
recorder=$!
attached err
# With another recorder beside, which the kernel serves first, it makes the records of programs too long for this one.
"$SEAM" record -v -e cpu-clock -F 10 -o beside.data -p $spin >/dev/null 2>beside.err &
beside=$!
attached beside.err
sleep 0.5
echo >&3
exec 3>&-
wait $spin
status=$?
wait $recorder $beside
[ $status -eq 0 ] || skip "BPF programs cannot be run, or have no code of their own, here"
same "programs that ran" 4 "$(wc -l <truth)"
cat truth
atleast "programs that came, as the kernel told" 3 "$(count bpf.data KSYMBOL)"

"$SEAM" script -i bpf.data -F comm,time,ip,sym >text 2>err
python3 - <<'P' || fail "names of BPF programs"
import re
truth = []
for line in open("truth"):
    address, length, name = line.split()
    truth.append((int(address, 16), int(length), name))
# The leaf of each sample, in order of time.
hits, wrong, head = [], [], False
for line in open("text"):
    frame = re.match(r"\s+([0-9a-f]+) (\S+)", line)
    if frame and head:
        hits.append((int(frame.group(1), 16), frame.group(2).split("+")[0]))
    head = bool(re.match(r"\s*\S+\s+.*:\s*$", line)) if not frame else False
ours = [h for h in hits if any(a <= h[0] < a + n for a, n, _ in truth)]
print("%d samples, %d in the programs, at %d distinct places of code" % (len(hits), len(ours), len({a for a, _, _ in truth})))
order = []
for address, name in ours:
    right = [t for t in truth if t[0] <= address < t[0] + t[1] and t[2] == name]
    if not right:
        wrong.append((hex(address), name))
    elif not order or order[-1] != name:
        order.append(name)
assert not wrong, wrong[:5]
assert len(ours) > 100, len(ours)
# Each once, in the order in which they ran: also where one stands in another's place.
assert order == [t[2] for t in truth], order
P
"$SEAM" report -i bpf.data --no-children -g none --csv -s sym >csv 2>err
for name in before one two three; do says csv "bpf_prog_[0-9a-f]*_seam_$name"; done
done_testing
