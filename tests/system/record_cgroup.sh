#!/bin/sh
# SPDX-License-Identifier: MIT
# record --all-cgroups: groups that were there before the recording and those that come later have names, in seam's
# report and script and in perf's.
. "$(dirname "$0")/lib.sh"
can_record
mount=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
awk '/ - cgroup / && /[, ]perf_event/ { found = 1 } END { exit !found }' /proc/self/mountinfo &&
	mount=$(awk '/ - cgroup / && /[, ]perf_event/ { print $5; exit }' /proc/self/mountinfo)
[ "$mount" ] || skip "no control groups are mounted"
group=$mount/seam-test-$$
mkdir "$group" "$group/be fore" 2>/dev/null || skip "no control group can be made below $mount"
trap 'cd /; rmdir "$group/be fore" "$group/later" "$group" 2>/dev/null; rm -rf "$T"' EXIT
echo "$BUSY" >busy.sh
cat >work.sh <<END
echo \$\$ >"$group/be fore/cgroup.procs"
sh busy.sh
mkdir "$group/later"
echo \$\$ >"$group/later/cgroup.procs"
sh busy.sh
echo \$\$ >"$mount/cgroup.procs"
END
record -a --all-cgroups -F 499 --call-graph fp -o f.data -- sh work.sh
[ "$status" = 0 ] || skip "control groups cannot be recorded here: $(cat err)"
if grep -q "switching off control groups" err; then skip "the kernel does not tell control groups"; fi
base=/${group##*/}
"$SEAM" report -s cgroup --no-children --json f.data >report.json
python3 - report.json "$base" <<'PY' || fail "shares"
import json, sys
rows = {r["cgroup"]: r for r in json.load(open(sys.argv[1]))["rows"]}
print({name: row["self_samples"] for name, row in rows.items()})
base = sys.argv[2]
assert base + "/be fore" in rows and base + "/later" in rows and None not in rows
PY
"$SEAM" script -F cgroup f.data >names
atleast "samples of the group that was there" 50 "$(grep -c " $base/be fore\$" names)"
atleast "samples of the group that came" 50 "$(grep -c " $base/later\$" names)"
same "samples of groups without a name" 0 "$(grep -c unknown names)"
if command -v perf >/dev/null; then # one that old has report's column only
	perf report --stdio -g none --no-children -s cgroup -i f.data 2>/dev/null | sed -n 's/^ *[0-9.]*%  *//p' | sort >theirs
	sort -u names | sed 's/^ *//; s/ *$//' >ours
	sed -i 's/ *$//' theirs
	if diff ours theirs; then echo "ok: perf shows the same groups"; else fail "perf shows other groups"; fi
fi
done_testing
