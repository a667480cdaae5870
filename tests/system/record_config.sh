#!/bin/sh
# SPDX-License-Identifier: MIT
# Defaults from the config file, and that the command line wins.
. "$(dirname "$0")/lib.sh"
can_record

mkdir -p xdg/seam
cat >xdg/seam/config <<'C'
# defaults of this test
[call-graph]
	record-mode = none
[record]
	output = from-config.data
	events = page-faults
C
unset SEAM_CONFIG
XDG_CONFIG_HOME=$T/xdg
export XDG_CONFIG_HOME
record -- true
same "output" yes "$([ -s from-config.data ] && echo yes || echo no)"
same "record-mode" 0 "$("$SEAM" dump from-config.data 2>/dev/null | grep -c 'FP chain')"
atleast "events" 1 "$(samples from-config.data)"
record -o own.data --call-graph fp -e cpu-clock -- sh -c "$BUSY"
atleast "the command line wins" 10 "$("$SEAM" dump own.data 2>/dev/null | grep -c 'FP chain')"

printf '[record]\n\nfreq = often\n' >bad
record --config bad -o x.data -- true
same "a wrong value: status" 2 $status
says err "bad:3: record.freq: 'often'"
printf '[record]\nfrequenzy = 3\n' >bad
SEAM_CONFIG=bad record -o x.data -- true
same "an unknown name: status" 2 $status
says err 'bad:2: .*record.frequenzy'
record --config not-there -o x.data -- true
same "a file that is not there: status" 2 $status

done_testing
