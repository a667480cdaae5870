#!/bin/sh
# SPDX-License-Identifier: MIT
# A process of another user made code, named it in its perf map, and has ended when the recording is read: the map is believed
# because the recording says whose the process was. A stranger's map never is, and a jitdump that is gone hides no map.
set -u
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root records another user's process"
command -v setpriv >/dev/null || skip "no setpriv"
[ "$(uname -m)" = x86_64 ] || skip "the code it makes is x86_64's"
command -v cc >/dev/null || skip "no cc"
can_record
nobody=65534 stranger=65533
chmod 755 "$T"
mkdir -m 1777 dumps
cat >mapped.c <<'END_OF_C'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "work.h"
/* push rbp; mov rbp,rsp; mov ecx,edi; loop: dec ecx; jnz loop; pop rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
/* DUMP: it maps a jitdump, too, as runtimes that tell both do, in which nothing is told. */
int main(int argc, char **argv)
{
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[256], line;
	FILE *f;

	if (argc > 1) {
		snprintf(path, sizeof(path), "%s/jit-%d.dump", argv[1], getpid());
		f = fopen(path, "w+");
		fwrite("DTiJ\1\0\0\0(\0\0\0>\0\0\0\0\0\0\0", 20, 1, f);
		fwrite(&(int){ getpid() }, 4, 1, f);
		fwrite((char[16]){ 0 }, 16, 1, f);
		fflush(f);
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
		unlink(path);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx %zx told_in_the_map\n", (unsigned long)at, sizeof(code));
	fclose(f);
	memcpy(at, code, sizeof(code));
	puts("ready");
	fflush(stdout);
	(void)!read(0, &line, 1); /* until its input is closed */
	for (uint64_t end = work_until(700); work_goes_on(end);)
		((void (*)(int))at)(work_loops(1000000));
	return 0;
}
END_OF_C
cc -O1 -o mapped mapped.c || skip "cc does not work"

named() { "$SEAM" script -F ip,sym,dso -i "$1" 2>err | grep -c 'told_in_the_map'; }
# nobodys NAME [DUMPS]: records nobody's process by its number, as NAME.data, and waits for its end; its number is in $pid
nobodys() {
	name=$1
	shift
	rm -f input output
	mkfifo input
	setpriv --reuid=$nobody --regid=$nobody --clear-groups ./mapped "$@" <input >output &
	pid=$!
	exec 3>input
	until_true "the program is ready" grep -qs ready output
	"$SEAM" record -v -F 999 --call-graph fp -p $pid -o "$name.data" 2>err 3>&- &
	recorder=$!
	attached err
	sleep 0.3
	exec 3>&-
	wait $pid $recorder
	map=/tmp/perf-$pid.map
	maps="${maps:-} $map"
}
trap 'rm -f ${maps:-}; cd /; rm -rf "$T"' EXIT

nobodys one
same "whose the map is" $nobody "$(stat -c %u "$map")"
atleast "frames with a name of the map" 100 "$(named one.data)"
"$SEAM" report -i one.data --no-children -g none >text 2>err
says text 'told_in_the_map'
same "words on its owner" 0 "$(grep -c 'its owner' text err | awk -F: '{ n += $2 } END { print n }')"

echo "# what is converted, and what is packed, says it as well"
"$SEAM" convert -q one.data -o classic.data 2>err || fail "convert: $(cat err)"
atleast "frames with a name of the map, converted" 100 "$(named classic.data)"
"$SEAM" archive -q one.data -o one.tar.zst 2>err || fail "archive: $(cat err)"

echo "# a stranger's"
chown $stranger "$map"
same "frames with a stranger's names" 0 "$(named one.data)"
"$SEAM" report -i one.data --no-children -g none >text 2>err
says text "its owner is neither root, nor you, nor the process's"
atleast "frames with a name of the map, packed before" 100 \
	"$("$SEAM" script -F ip,sym,dso -i one.data --archive one.tar.zst 2>err | grep -c told_in_the_map)"

echo "# a jitdump that is gone"
nobodys two "$T/dumps"
same "the dumps that are left" 0 "$(find dumps -type f | grep -c .)"
atleast "frames with a name of the map" 100 "$(named two.data)"

echo "# a stream, whose features stand before its records: perf refuses one that it does not know there"
setpriv --reuid=$nobody --regid=$nobody --clear-groups ./mapped </dev/null >output &
pid=$!
maps="$maps /tmp/perf-$pid.map"
"$SEAM" record -q -F 999 --call-graph fp -p $pid -o - >stream.data 2>err
wait $pid
if command -v perf >/dev/null; then
	perf script -F ip,sym -i - <stream.data >text 2>err || fail "perf cannot read the stream: $(cat err)"
	atleast "frames with a name of the map, by perf" 100 "$(grep -c told_in_the_map text)"
	same "complaints of perf" 0 "$(grep -c 'invalid' err)"
fi
judge one.data
done_testing
