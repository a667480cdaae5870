# SPDX-License-Identifier: MIT
# flame_keys.sh: the page of seam flame by keys alone, and as a screen reader is told of it, in a browser (flame_keys.py).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v chromedriver >/dev/null 2>&1 || skip "chromedriver is not installed (scripts/setup browser)"
can_record
record_page 0.5 10 0.3 300
python3 "$here/flame_keys.py" "$SEAM" "$T" ${SEAM_PICTURES:+"$SEAM_PICTURES"} || fail "the keys"
done_testing
