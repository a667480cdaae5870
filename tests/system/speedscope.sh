# SPDX-License-Identifier: MIT
# speedscope.sh: speedscope itself opens what seam export writes for it (speedscope_page.py).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v chromedriver >/dev/null 2>&1 || skip "chromedriver is not installed (scripts/setup browser)"
npm=$("$here/../../scripts/npm-consumers") || skip "npm's packages cannot be had"

data=$here/../data/gcc_d/perf.data
"$SEAM" export -f speedscope --symfs /nonexistent "$data" -o profile.json || fail "speedscope"
"$SEAM" export -f folded --symfs /nonexistent "$data" -o folded || fail "folded"
python3 "$here/speedscope_page.py" "$npm/node_modules/speedscope/dist/release" profile.json folded ${SEAM_PICTURES:+"$SEAM_PICTURES"} ||
	fail "speedscope's page"
done_testing
