#!/bin/sh
# SPDX-License-Identifier: MIT
# seam archive: a recording of programs that are gone afterwards is read by the archive alone, as it was before; JIT
# code, stack copies, separate debug files, an object without build-id; and what goes wrong leaves nothing behind.
set -u
. "$(dirname "$0")/lib.sh"
for tool in cc objcopy readelf tar zstd; do
	command -v $tool >/dev/null || skip "no $tool"
done
can_record
TMPDIR=$T/tmp XDG_CACHE_HOME=$T/xdg HOME=$T/home
export TMPDIR XDG_CACHE_HOME HOME
mkdir tmp home bin

cat >lib.c <<'END'
unsigned in_library(unsigned n, unsigned (*f)(unsigned))
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++) s += f(i);
	return s;
}
END
cat >work.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "work.h"
unsigned in_library(unsigned n, unsigned (*f)(unsigned));
static inline __attribute__((always_inline)) unsigned expanded(unsigned v) { return v * 2654435761u ^ v >> 7; }
static __attribute__((noinline)) unsigned leaf(unsigned v)
{
	for (unsigned i = 0; i < 3000; i++) v += expanded(v ^ i);
	return v;
}
int main(void)
{
	unsigned s = 0;
	for (uint64_t end = work_until(600); work_goes_on(end);) s += in_library(work_loops(300), leaf);
	return s == 1;
}
END
# The program: its debug information in a file of its own beside it. The library: no build-id at all.
cc -g -O2 -fomit-frame-pointer -shared -fPIC -Wl,--build-id=none -o bin/libwork.so lib.c || skip "cc does not work"
cc -g -O2 -fomit-frame-pointer -Wl,--build-id -o bin/work work.c bin/libwork.so || skip "cc does not work"
objcopy --only-keep-debug bin/work bin/work.debug
objcopy --strip-all --add-gnu-debuglink=bin/work.debug bin/work

record -F 500 --call-graph dwarf --keep-stacks -o work.data -- ./bin/work
"$SEAM" script -F comm,ip,sym,symoff,dso,srcline -i work.data 2>/dev/null >before
"$SEAM" report -i work.data >report.before 2>/dev/null
atleast "unwound to main before" 50 "$(grep -c ' main+' before)"
atleast "inlined before" 50 "$(grep -c ' expanded' before)"
atleast "in the library before" 50 "$(grep -c ' in_library+' before)"

"$SEAM" archive -i work.data 2>err
same "status of archive" 0 $?
says err "seam archive: [0-9]* objects, [1-9][0-9]* debug files"
same "nothing left out" 0 "$(grep -c 'left out:' err)"
id=$(readelf -n bin/work | sed -n 's/.*Build ID: //p')
dir=.build-id/$(printf %.2s "$id")/$(printf %s "$id" | cut -c3-)
tar --zstd -tf work.data.seam.tar.zst >list || fail "tar cannot read it"
same "the program by its build-id" 1 "$(grep -cx "$dir/elf" list)"
same "its debug file" 1 "$(grep -cx "$dir/debug" list)"
same "the library by its path" 1 "$(grep -cx "files$T/bin/libwork.so" list)"
same "two archives alike" "$(cksum <work.data.seam.tar.zst)" \
	"$("$SEAM" archive -q -o again -i work.data && cksum <again)"

"$SEAM" convert -q -i work.data -o classic.before 2>/dev/null
mv bin gone
rm -rf xdg
"$SEAM" convert -q -i work.data -o classic.lost 2>/dev/null
rm -rf xdg
"$SEAM" convert -q --archive work.data.seam.tar.zst -i work.data -o classic.after
same "status of convert by the archive" 0 $?
for n in before lost after; do "$SEAM" script -F comm,time,ip -i classic.$n 2>/dev/null >stacks.$n; done
same "convert by the archive unwinds what it did" "$(cksum <stacks.before)" "$(cksum <stacks.after)"
atleast "lines that it cannot unwind without" 50 "$(($(wc -l <stacks.before) - $(wc -l <stacks.lost)))"
rm -rf xdg
"$SEAM" script -F comm,ip,sym,symoff,dso,srcline -i work.data 2>/dev/null >lost
same "main without files" 0 "$(grep -c ' main+' lost)"
rm -rf xdg
"$SEAM" script -F comm,ip,sym,symoff,dso,srcline --archive work.data.seam.tar.zst -i work.data >after 2>err
same "script by the archive is what it was" "$(cksum <before)" "$(cksum <after)"
rm -rf xdg
"$SEAM" report --archive work.data.seam.tar.zst -i work.data >report.after 2>/dev/null
same "report by the archive is what it was" "$(cksum <report.before)" "$(cksum <report.after)"
"$SEAM" export -f folded --archive work.data.seam.tar.zst -i work.data 2>/dev/null >folded
atleast "folded stacks" 1 "$(grep -c 'main;in_library;leaf' folded)"
"$SEAM" flame --archive work.data.seam.tar.zst --svg -o f.svg work.data 2>/dev/null
atleast "the flame graph" 1 "$(grep -c in_library f.svg)"
same "directories left behind" 0 "$(ls tmp | wc -l)"

mkdir tree && tar --zstd -xf work.data.seam.tar.zst -C tree
"$SEAM" script -F comm,ip,sym,symoff,dso,srcline --archive tree -i work.data 2>/dev/null >after
same "the same from a directory" "$(cksum <before)" "$(cksum <after)"
tar -C tree -cf plain.tar .
"$SEAM" script -F comm,ip,sym,symoff,dso,srcline --archive plain.tar -i work.data 2>/dev/null >after
same "the same from a tar of that" "$(cksum <before)" "$(cksum <after)"

mv gone bin
"$SEAM" archive -q --all --with-recording -o whole.zst -i work.data 2>err
same "status of --all" 0 $?
tar --zstd -tf whole.zst >list.all
atleast "more than the samples hit" "$(($(wc -l <list) + 1))" "$(wc -l <list.all)"
mv bin gone && mv work.data kept.data
"$SEAM" report --archive whole.zst >report.after 2>/dev/null
same "the recording inside is what is read" "$(cksum <report.before)" "$(cksum <report.after)"
mv gone bin && mv kept.data work.data

# Which recording is meant, where none is named: the one inside, the one beside, else perf.data, which is said.
"$SEAM" record -q -o perf.data -- true 2>/dev/null
"$SEAM" report --archive work.data.seam.tar.zst >report.after 2>err
same "the recording beside is what is read" "$(cksum <report.before)" "$(cksum <report.after)"
says err "holds no recording (--with-recording): work.data is read"
cp work.data.seam.tar.zst other
"$SEAM" report --archive other >/dev/null 2>err
same "status with an unrelated recording" 0 $?
says err "other holds no recording (--with-recording): perf.data is read"
mkdir -p strange/.build-id/00 && touch strange/.build-id/00/11 strange/seam-archive
"$SEAM" report --archive strange -i work.data >/dev/null 2>err
says err "strange holds no object that work.data was recorded with"
"$SEAM" report --archive work.data.seam.tar.zst -i work.data >/dev/null 2>err
same "nothing is said of the right one" 0 "$(grep -c -e --archive err)"

# A reader that has had enough, and signals: nothing stays behind.
"$SEAM" script --archive whole.zst 2>/dev/null | head -1 >/dev/null
"$SEAM" script --archive whole.zst >/dev/full 2>/dev/null
mkfifo slow
"$SEAM" report --archive whole.zst -i slow >/dev/null 2>&1 &
pid=$!
unpacked() { [ "$(find tmp -name seam-archive | wc -l)" -gt 0 ]; }
until_true "it is unpacked" unpacked
same "it is unpacked while it is read" 1 "$(ls tmp | wc -l)"
kill -TERM $pid
wait $pid 2>/dev/null
same "directories left behind" 0 "$(ls tmp | wc -l)"

# What cannot be had is said, and nothing half done is left.
head -c 30000 whole.zst >cut.zst
"$SEAM" report --archive cut.zst -i work.data >/dev/null 2>err
same "status of a cut archive" 2 $?
says err "cut short"
"$SEAM" report --archive /etc/passwd -i work.data >/dev/null 2>err
same "status of what is no archive" 2 $?
mkdir -p d/files && ln -s /etc d/files/out && echo x >d/seam-archive && tar -C d -cf link.tar .
"$SEAM" report --archive link.tar -i work.data >/dev/null 2>err
same "status of an archive with a link" 2 $?
says err "neither a file nor a directory"
echo x >outside && mkdir -p d2/a && tar -C d2/a -P -cf up.tar ../../outside
"$SEAM" report --archive up.tar -i work.data >/dev/null 2>err
same "status of an archive that leads up" 2 $?
says err "leads elsewhere"
"$SEAM" archive -i work.data -o /dev/full/x 2>err
same "status when it cannot be written" 1 $?
same "directories left behind" 0 "$(ls tmp | wc -l)"
done_testing
