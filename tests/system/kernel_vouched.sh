#!/bin/sh
# SPDX-License-Identifier: MIT
# By what a recording without a kernel's build-id may say that it is of the kernel that runs here:
# its release, the path of one of its modules, or the place that the kernel chose at boot for _text.
# Each alone is enough for names, and each that says another thing is not. /proc/kallsyms is a made
# one, so that the kernel here has chosen a place, whatever it did.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
chosen=ffffffff9c200000
cat >kallsyms <<END
$chosen T _text
ffffffff9c205000 T made_function
ffffffff9c206000 T made_other
ffffffff9d000000 T _etext
END
NAMES=
for ns in "unshare -m" "unshare -rm"; do
	$ns sh -c 'mount --bind kallsyms /proc/kallsyms' 2>/dev/null && NAMES=$ns && break
done
[ "$NAMES" ] || skip "no rights to put another list over /proc/kallsyms"
XDG_CACHE_HOME=$T/cache # names of the true kernel are kept
export XDG_CACHE_HOME

cat >make_it.py <<'END'
import os
import sys
tests = os.path.dirname(os.environ["TESTS"])
sys.path[:0] = [os.path.join(tests, "golden", "broken"), os.path.join(tests, "system")]
import make
import made
out, text, release, module = sys.argv[1], int(sys.argv[2], 16), sys.argv[3], sys.argv[4]
features = {k: v for k, v in make.features().items() if k not in (3, 4)}
if release:
    features[4] = make.string(release)
records = [make.comm(1), made.kernel_mmap(text, 0xE00000)]
if module:
    records.append(made.kernel_mmap(0xFFFFFFFFC0500000, 0x8000, name=module, pgoff=0))
records.append(made.sample(2000, (made.KERNEL, text + 0x5010, text + 0x6010), text + 0x5010))
with open(out, "wb") as f:
    f.write(make.file_with(records=records, features=features))
END
export TESTS

# shows TEXT RELEASE MODULE: what a report says of a recording that says these
shows() {
	python3 make_it.py made.data "$@" || fail "the recording was not made"
	rm -rf cache
	$NAMES sh -c 'mount --bind kallsyms /proc/kallsyms && exec "$SEAM" report -i made.data --no-children -g none -s sym' >report 2>&1
}
named() {
	what=$1
	shift
	shows "$@"
	same "$what: the function has its name" 1 "$(grep -c '100.00%  \[k\] made_function' report)"
	same "$what: nothing is said to be missing" 0 "$(grep -c 'which kernel it was' report)"
}
unsaid="nothing in the recording says which kernel it was"
nameless() { # WHAT REASON TEXT RELEASE MODULE
	what=$1 why=$2
	shift 2
	shows "$@"
	same "$what: no name" 0 "$(grep -c made_ report)"
	says report "$why"
}
export SEAM
usual=ffffffff81000000
release=$(uname -r)
nameless "nothing" "$unsaid" $usual "" ""
named "the release" $usual "$release" ""
nameless "another release" "recorded elsewhere" $usual 6.99.1-made ""
nameless "another release in this kernel's place" "recorded elsewhere" $chosen 6.99.1-made ""
named "a module's path" $usual "" "/lib/modules/$release/kernel/fs/made.ko"
named "a module's path below /usr" $usual "" "/usr/lib/modules/$release/kernel/fs/made.ko.xz"
nameless "a module of another release" "$unsaid" $usual "" /lib/modules/6.99.1-made/kernel/fs/made.ko
nameless "a module of a release that begins so" "$unsaid" $usual "" "/lib/modules/$release-made/kernel/fs/made.ko"
nameless "a module somewhere" "$unsaid" $usual "" "/home/x/lib/modules/$release/made.ko"
named "the place of _text" $chosen "" ""
nameless "another place of _text" "$unsaid" ffffffff9c400000 "" ""
# One that every kernel has which chooses none says nothing, though it is the same.
sed "s/^ffffffff9c/ffffffff81/; s/^ffffffff8120/ffffffff8100/" kallsyms >list && mv list kallsyms
nameless "the usual place of _text" "$unsaid" $usual "" ""
done_testing
