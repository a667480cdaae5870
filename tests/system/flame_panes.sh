# SPDX-License-Identifier: MIT
# flame_panes.sh: each pane of the page of seam flame in every state, in a browser (flame_panes.py). Beside flame.sh, whose page
# has longer recordings.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v chromedriver >/dev/null 2>&1 || skip "chromedriver is not installed (scripts/setup browser)"
can_record
work='import json, time
d = [{"a": i, "b": str(i)} for i in range(1000)]
while time.process_time() < %s: json.loads(json.dumps(d))'
# shellcheck disable=SC2059
"$SEAM" record -q -F 997 -g -o flame.data -- sh -c 'python3 -S -c "$0"; gzip -c "$1" >/dev/null' "$(printf "$work" 0.5)" "$SEAM" 2>err ||
	fail "record: $(cat err)"
# shellcheck disable=SC2059
"$SEAM" record -q -F 997 -g -o other.data -- python3 -S -c "$(printf "$work" 0.3)" 2>err || fail "record: $(cat err)"
if command -v cc >/dev/null; then
	make_code 300
	"$SEAM" record -q -F 997 -g -o code.data -- ./code 2>err || fail "record: $(cat err)"
fi
python3 "$here/flame_panes.py" "$SEAM" "$T" ${SEAM_PICTURES:+"$SEAM_PICTURES"} || fail "the panes"
done_testing
