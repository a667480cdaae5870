#!/bin/sh
# SPDX-License-Identifier: MIT
# For whom threads work, read with each sample: OpenTelemetry's thread context (OTEP 4947) of a writer by the text, in an
# executable and in libraries by every way to a thread's variable, and the labels of Go's goroutines. The programs say in which
# function they are, so a sample's label can be held against its stack. Then what is made of them: rows, filters, text, other
# tools' formats; a recorder that is killed; and what an enemy may write.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"

cc_() { gcc -O1 -g -I "$HERE/context" "$@" -lpthread -ldl || { fail "gcc $*"; done_testing; }; }
cc_ -rdynamic -o writer "$HERE/context/writer.c" "$HERE/context/variable.c"
cc_ -rdynamic -o opener "$HERE/context/writer.c"
cc_ -shared -fPIC -mtls-dialect=gnu2 -o descriptor.so "$HERE/context/variable.c"
cc_ -shared -fPIC -o dynamic.so "$HERE/context/variable.c"
cc_ -shared -fPIC -Wl,-Bsymbolic -o bound.so "$HERE/context/variable.c"
cc_ -shared -fPIC '-DMODEL=__attribute__((tls_model("initial-exec")))' -o initial.so "$HERE/context/variable.c"

# judged WHAT FILE: what the labels are worth
judged() {
	"$SEAM" script -F comm,tid,event,label,ip,sym -i "$2" 2>script.err | python3 "$HERE/context/check.py" >said
	read -r right wrong missing <said
	echo "# $1: $right right, $wrong wrong, $missing missing"
	atleast "$1: right" 30 "$right"
	same "$1: wrong" 0 "$wrong"
	atmost "$1: missing, of a thousand" 5 $((missing * 1000 / (right + missing + 1)))
}

# of_writer WHAT FILE PROGRAM [LIBRARY]: recorded while it runs, and it runs on until all is read
of_writer() {
	"$3" 100000 ${4:+"$4"} &
	pid=$!
	record -q -F 997 -e cpu-clock -p $pid -o "$2" -- sh "$AWAIT" "${ms:-300}" $pid
	same "$1: status" 0 $status
	kill $pid
	wait $pid 2>/dev/null
	judged "$1" "$2"
}

ms=800 of_writer "an executable" f.data ./writer
of_writer "a library's descriptor" d.data ./opener ./descriptor.so
of_writer "a library's module" m.data ./opener ./dynamic.so
of_writer "a library's bound module" b.data ./opener ./bound.so
of_writer "a library's static place" i.data ./opener ./initial.so

echo "# what is made of them"
"$SEAM" report -i f.data --stdio --by function -s label,sym --no-children -g none >r 2>/dev/null
says r ' alpha  *\[\.\] alpha'
"$SEAM" report -i f.data --stdio -s label --no-children -g none --label 'http.route=/c*,function=alpha' >r 2>/dev/null
says r 'function=alpha http.route=/cart service.name=shop'
same "other labels are left out" 0 "$(grep -c 'function=beta' r)"
"$SEAM" report -i f.data --json -s trace,span,label >r.json 2>/dev/null
python3 - >r <<'END'
import json
rows = json.load(open("r.json"))["rows"]
ok = all(len(r["trace"]) == 32 and len(r["span"]) == 16 and r["trace"][16:24] == r["span"][:8] for r in rows if r["trace"])
print("ids agree", ok, len({r["trace"] for r in rows}) > 10)
END
says r "ids agree True True"
for format in folded firefox json; do
	"$SEAM" export -f $format -s trace,span,label -o f.$format f.data 2>err || fail "export: $(cat err)"
done
python3 "$HERE/context/exports.py" r.json f >r || fail "exports.py"
says r "^0 wrong"
"$SEAM" export -f callgrind -s label f.data >r 2>&1 && fail "callgrind takes labels"
says r "has no place for labels"
if command -v go >/dev/null; then
	"$SEAM" export -f pprof -s label -o f.pb.gz f.data 2>err || fail "export: $(cat err)"
	go tool pprof -tags f.pb.gz >r 2>/dev/null
	says r 'alpha$'
	says r '/cart$'
fi
"$SEAM" convert -q -o c.data f.data 2>/dev/null || "$SEAM" convert -o c.data f.data 2>err || fail "convert: $(cat err)"
judged "after seam convert" c.data
if command -v perf >/dev/null && perf script -F comm,ip,sym -i c.data >perf.txt 2>perf.err; then
	same "perf has no word about it" 0 "$(grep -ci 'ksymbol\|unknown event\|unprocess' perf.err)"
fi
"$SEAM" record -q -F 997 -e cpu-clock -o - -- ./writer 150 2>err | "$SEAM" script -F comm,tid,event,label,ip,sym - 2>/dev/null >s
says s 'trace_id=ab'

echo "# a recorder that is killed"
./writer 100000 &
pid=$!
"$SEAM" record -q -F 997 -e cpu-clock -p $pid -o k.data 2>/dev/null &
recorder=$!
until_true "samples are in the file" sh -c '[ "$("$1" script -F label -i k.data 2>/dev/null | grep -c trace_id)" -gt 40 ]' - "$SEAM"
kill -9 $recorder
wait $recorder 2>/dev/null
kill $pid
wait $pid 2>/dev/null
judged "killed" k.data

echo "# an enemy"
./writer 100000 hostile &
pid=$!
record -F 997 -e cpu-clock -p $pid -o h.data -- sh "$AWAIT" 300 $pid
same "status" 0 $status
kill $pid
wait $pid 2>/dev/null
says err 'samples lack labels: there are more than are read'
"$SEAM" script -F label -i h.data >h.txt 2>/dev/null
same "no label of a record that is not valid" 0 "$(grep -c 'function=alpha' h.txt)"
same "no control character" 0 "$(tr -d '\n' <h.txt | grep -c '[[:cntrl:]]')"

echo "# Go"
if command -v go >/dev/null &&
	GOCACHE=$T/cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=0 go build -o labels "$HERE/context/labels.go" 2>go.err; then
	ms=600 of_writer "goroutines" g.data ./labels
	"$SEAM" report -i g.data --stdio --by function,route -s label --no-children -g none >r 2>/dev/null
	says r 'inherited,/cart'
	"$SEAM" script -F label -i g.data 2>/dev/null | grep -q 'key19=19' && echo "ok: a map of several buckets" || fail "no key19"
	"$SEAM" script -F label -i g.data 2>/dev/null | grep -o 'long=x[^ }]*' | sort -u >r
	same "a text that is longer than is read ends with a character, and says so" "long=x$(printf '\303\244%.0s' $(seq 125))..." "$(cat r)"
	GOCACHE=$T/cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=1 go build -ldflags '-s -w' -o foreign "$HERE/context/labels.go" \
		"$HERE/context/foreign.go" || fail "go build, with C"
	ms=600 of_writer "goroutines beside C, without symbols" n.data ./foreign
	printf faraway >text
	record -q -F 997 -e cpu-clock -o u.data -- ./labels 40 text
	"$SEAM" script -F event,label,ip,sym -i u.data 2>/dev/null | awk '!NF { said = 0 } /function=faraw}/ { said = 1 }
		/main.unread$/ { n += said } END { print n + 0 }' >r
	atleast "samples of a label that nobody else reads" 1 "$(cat r)"
else
	echo "# no go, or it cannot build: $(cat go.err 2>/dev/null)"
fi
done_testing
