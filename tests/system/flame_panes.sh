# SPDX-License-Identifier: MIT
# flame_panes.sh: each pane of the page of seam flame in every state, in a browser (flame_panes.py). Beside flame.sh, whose page
# has longer recordings.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v chromedriver >/dev/null 2>&1 || skip "chromedriver is not installed (scripts/setup browser)"
can_record
record_page 0.5 10 0.3 300
python3 "$here/flame_panes.py" "$SEAM" "$T" ${SEAM_PICTURES:+"$SEAM_PICTURES"} || fail "the panes"
done_testing
