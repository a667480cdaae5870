# SPDX-License-Identifier: MIT
# archive_split.sh: split DWARF and sources go with an archive: where nothing of it is left, inlined calls, lines and the text of
# annotate are what they were. A name that leads to something else takes nothing along.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
for tool in gcc tar zstd python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
can_record
XDG_CACHE_HOME=$T/xdg
export XDG_CACHE_HOME
mkdir -p made/sub
cat >made/sub/hot.c <<'C'
static inline __attribute__((always_inline)) unsigned expanded(unsigned v)
{
	return v * 2654435761u ^ v >> 7; /* EXPANDED */
}
__attribute__((noinline)) unsigned hot(unsigned n)
{
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++)
		s += expanded(s ^ i);
	return s;
}
C
cat >made/main.c <<'C'
#include "work.h"
unsigned hot(unsigned n);
int main(void)
{
	unsigned s = 0;

	for (uint64_t end = work_until(600); work_goes_on(end);)
		s += hot(work_loops(1000000));
	return s == 1;
}
C
(cd made && gcc -g -O1 -gsplit-dwarf -c sub/hot.c -o sub/hot.o && gcc -g -O1 -gsplit-dwarf -c main.c &&
	gcc -Wl,--build-id -o work sub/hot.o main.o) 2>gcc.err || skip "no split DWARF here: $(cat gcc.err)"
[ -s made/sub/hot.dwo ] || skip "gcc wrote no .dwo"
record -q -e cpu-clock -F 499 -o split.data ./made/work
ask() { rm -rf xdg; "$SEAM" script -F ip,sym,srcline -i split.data "$@" 2>err; }
ask >before
atleast "inlined calls before" 20 "$(grep -c ' expanded' before)"
NO_COLOR=1 "$SEAM" annotate -i split.data hot >annotated.before 2>err
says annotated.before EXPANDED

"$SEAM" archive --sources -o split.tar.zst -i split.data 2>err
same "status of archive" 0 $?
says err "[1-9] source files"
tar --zstd -tf split.tar.zst >list
for name in elf sub/hot.dwo main.dwo; do atleast "$name in the archive" 1 "$(grep -c "^.build-id/.*/$name$" list)"; done
same "the source in the archive" 1 "$(grep -cx "sources$T/made/sub/hot.c" list)"
"$SEAM" archive -q -o without.tar.zst -i split.data
same "sources when not asked for" 0 "$(tar --zstd -tf without.tar.zst | grep -c ^sources)"

"$SEAM" report --json split.data >whole.json 2>err
same "parts missing before" "[]" "$(python3 -c 'import json; print(json.load(open("whole.json"))["partial"])')"
mv made/sub/hot.dwo hot.dwo
rm -rf xdg
for cached in no "what there is"; do # what is not whole is not kept, so it is said again
	"$SEAM" report split.data >report 2>err
	says report "[0-9.]* % of the samples go through code of .*made/work whose inlined calls are not known: sub/hot.dwo was not found"
	says report "hint: .*work.dwp"
done
"$SEAM" report --json split.data >parts.json 2>err
same "parts missing" "1 sub/hot.dwo" "$(python3 -c 'import json
p = json.load(open("parts.json"))["partial"]
print(len(p), p[0]["file"] if p and json.load(open("parts.json"))["samples"] * 0.9 < p[0]["samples"] <= json.load(open("parts.json"))["samples"] else "?")')"
mv hot.dwo made/sub/hot.dwo
rm -rf xdg

mv made gone
ask >lost
same "inlined calls when it is gone" 0 "$(grep -c ' expanded' lost)"
ask --archive split.tar.zst >after
cmp before after && echo "ok: script by the archive is what it was"
cmp -s before after || fail "script by the archive: $(diff before after | head -n 5)"
NO_COLOR=1 "$SEAM" annotate -i split.data --archive split.tar.zst hot >annotated.after 2>err
cmp -s annotated.before annotated.after || fail "annotate by the archive: $(diff annotated.before annotated.after | head -n 5)"
mv gone made

# A .dwo that is none is not taken, whatever names it.
mv made/sub/hot.dwo hot.dwo
echo secret >made/sub/hot.dwo
"$SEAM" archive -o split.tar.zst -i split.data 2>err
same "what is no split DWARF" 0 "$(tar --zstd -tf split.tar.zst | grep -c hot.dwo)"
says err "left out: .*1 of its .dwo files, as sub/hot.dwo"
mv hot.dwo made/sub/hot.dwo

# A package goes along, too; libdw reads it from 0.191 on: here, or that of the peer. binutils' dwp of Debian 12 makes one of DWARF 4.
if command -v dwp >/dev/null; then
	(cd made && gcc -g -gdwarf-4 -O1 -gsplit-dwarf -c sub/hot.c -o sub/hot.o && gcc -g -gdwarf-4 -O1 -gsplit-dwarf -c main.c &&
		gcc -Wl,--build-id -o work sub/hot.o main.o && timeout 20 dwp -e work -o work.dwp) 2>dwp.err || skip "no package here: $(cat dwp.err)"
	record -q -e cpu-clock -F 499 -o split.data ./made/work
	ask >before
	"$SEAM" archive -q -o split.tar.zst -i split.data 2>err
	same "left out beside a package" 0 "$(grep -c 'left out: .*made/work' err)"
	atleast "the package in the archive" 1 "$(tar --zstd -tf split.tar.zst | grep -c '/elf.dwp$')"
	mv made gone
	ask --archive split.tar.zst >after
	peer=${SEAM_CACHE:-$HOME/.cache/seam-tests}/peer/root
	lib=$peer/usr/lib/x86_64-linux-gnu
	if [ "$(grep -c ' expanded' after)" -eq 0 ] && [ -e "$lib/libdw.so.1" ] && [ -x "$peer/lib64/ld-linux-x86-64.so.2" ]; then
		rm -rf xdg
		"$peer/lib64/ld-linux-x86-64.so.2" --library-path "$lib:/usr/lib/x86_64-linux-gnu" "$SEAM" script -F ip,sym,srcline \
			-i split.data --archive split.tar.zst >after 2>err
	fi
	if [ "$(grep -c ' expanded' after)" -eq 0 ] && readelf -d "$SEAM" | grep -q 'libdw' && [ ! -e "$lib/libdw.so.1" ]; then
		echo "not tried: libdw here reads no packages, and there is no newer one"
	else
		atleast "inlined calls in it" 20 "$(grep -c ' expanded' before)"
		same "inlined calls by the package" "$(grep -c ' expanded' before)" "$(grep -c ' expanded' after)"
	fi
fi
done_testing
