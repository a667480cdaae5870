# SPDX-License-Identifier: MIT
# flame.sh: seam flame: the page in a browser (flame_page.py), the picture as XML, what is said when it cannot be done.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
data=$here/../data/gcc_d/perf.data

"$SEAM" flame "$data" -o a.html 2>err && "$SEAM" flame "$data" -o b.html 2>err || fail "flame: $(cat err)"
cmp -s a.html b.html || fail "equal recordings give unequal pages"
grep -qE 'https?://' a.html && fail "the page names something outside itself: $(grep -oE 'https?://[^ ]*' a.html | head -1)"
"$SEAM" flame "$data" -o a.svg 2>err || fail "svg: $(cat err)"
same "the picture is XML, its root cell is all" "all, 100.00%" "$(python3 -c '
import xml.etree.ElementTree as E
names = [e.text for e in E.parse("a.svg").iter("{http://www.w3.org/2000/svg}title")]
print(", ".join(names[0].split(", ")[:2]))')"
"$SEAM" flame "$data" -o "$data" 2>err && fail "writes over the recording"
says err 'another file than the recording'
"$SEAM" flame "$data" -e nothing -o c.html 2>err
same "an event that is not there: usage" 2 $?
says err 'it has:'

command -v chromedriver >/dev/null 2>&1 || { [ "$failures" -eq 0 ] && skip "chromedriver is not installed (scripts/setup browser)"; done_testing; }
can_record
record_page 0.8 200 0.5 400
python3 "$here/flame_page.py" "$SEAM" "$T" ${SEAM_PICTURES:+"$SEAM_PICTURES"} || fail "the page"
done_testing
