# SPDX-License-Identifier: MIT
# perfetto.sh: what seam export writes for Perfetto is what protoc reads by Perfetto's schema (perfetto.proto, perfetto.py).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v protoc >/dev/null 2>&1 || skip "protoc is not installed (scripts/setup test)"

for what in units deep hostile; do
	python3 "$here/../golden/made" $what >$what.data || fail "made $what"
done
for name in gcc_d multi_group attach_p; do
	cp "$here/../data/$name/perf.data" $name.data
done
python3 "$here/perfetto.py" "$SEAM" "$here" units deep hostile gcc_d multi_group attach_p || fail "perfetto.py"
done_testing
