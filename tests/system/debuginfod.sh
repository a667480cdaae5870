#!/bin/sh
# SPDX-License-Identifier: MIT
# --debuginfod: a stripped program gets its names and inlined calls from a server, and only when that is asked for.
set -u
. "$(dirname "$0")/lib.sh"
for tool in cc objcopy readelf python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1 || skip "no libdebuginfod.so.1"
can_record

cat >work.c <<'END'
#include "work.h"
static inline __attribute__((always_inline)) unsigned expanded(unsigned v) { return v * 2654435761u ^ v >> 7; }
__attribute__((noinline)) static unsigned hidden_name(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += expanded(s ^ i);
	return s;
}
int main(void)
{
	unsigned s = 0;
	for (uint64_t end = work_until(400); work_goes_on(end);) s += hidden_name(work_loops(1000000));
	return s == 1;
}
END
cc -g -O1 -fno-omit-frame-pointer -Wl,--build-id -o work work.c || skip "cc does not work"
id=$(readelf -n work | sed -n 's/.*Build ID: //p')
mkdir -p "served/$id"
objcopy --only-keep-debug work "served/$id/debuginfo"
objcopy --strip-all work

# What the protocol needs: /buildid/ID/debuginfo. Each request is noted.
cat >server.py <<'END'
import http.server, os, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("requests", "a") as f: f.write(self.path + "\n")
        part = self.path.strip("/").split("/")
        path = os.path.join("served", part[1], part[2]) if len(part) == 3 and ".." not in part else ""
        if not os.path.isfile(path): return self.send_error(404)
        body = open(path, "rb").read()
        if os.path.exists("stall"): # says more than it sends, and a byte now and then
            self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
            try:
                for i in range(600):
                    self.wfile.write(body[i:i + 1]); self.wfile.flush(); time.sleep(0.1)
            except OSError: pass
            return
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
: >requests
python3 server.py >port &
server=$!
trap 'kill $server; cd /; rm -rf "$T"' EXIT
grown port 0
url=http://127.0.0.1:$(cat port)
DEBUGINFOD_CACHE_PATH=$T/cache XDG_CACHE_HOME=$T/xdg
export DEBUGINFOD_CACHE_PATH XDG_CACHE_HOME
unset DEBUGINFOD_URLS

record -F 500 --call-graph fp -o work.data -- ./work
"$SEAM" script -i work.data >without 2>/dev/null
same "names without asking" 0 "$(grep -c hidden_name without)"
same "requests without asking" 0 "$(wc -l <requests)"
"$SEAM" script --debuginfod -i work.data >/dev/null 2>err
same "status without a server" 2 $?
says err DEBUGINFOD_URLS
"$SEAM" script --debuginfod="$url" -i work.data >with 2>err
atleast "names from the server" 10 "$(grep -c ' hidden_name+.*work)' with)"
atleast "inlined calls from the server" 10 "$(grep -c ' expanded+.*(inlined)' with)"
same "asked for the file once" 1 "$(grep -c "/buildid/$id/debuginfo" requests)"

same "progress where there is no terminal" 0 "$(grep -c 'debuginfod' err)"

# The config file can ask, for every command; --no-debuginfod and --archive do not.
config() { rm -rf cache xdg; : >requests; printf '[debuginfod]\n%s\n' "$1" >config.ini; }
config "urls = $url"
SEAM_CONFIG=config.ini "$SEAM" script -i work.data >with 2>err
atleast "names from a server of the config file" 10 "$(grep -c ' hidden_name+.*work)' with)"
config "urls = $url"
SEAM_CONFIG=config.ini "$SEAM" script --no-debuginfod -i work.data >with 2>err
same "requests with --no-debuginfod" 0 "$(wc -l <requests)"
SEAM_CONFIG='' "$SEAM" archive -q -o work.tar.zst work.data 2>err
SEAM_CONFIG=config.ini "$SEAM" script --archive work.tar.zst -i work.data >with 2>err
same "requests with --archive" 0 "$(wc -l <requests)"
config "use = false
urls = $url"
SEAM_CONFIG=config.ini "$SEAM" script -i work.data >with 2>err
same "requests when it is not to be used" 0 "$(wc -l <requests)"
config "use = yes"
SEAM_CONFIG=config.ini "$SEAM" script -i work.data >with 2>err
same "status without a server in the config file" 0 $?
says err DEBUGINFOD_URLS
DEBUGINFOD_URLS=$url SEAM_CONFIG=config.ini "$SEAM" script -i work.data >with 2>err
atleast "names with servers of the environment" 10 "$(grep -c ' hidden_name+.*work)' with)"
config "urls = $url
limit = soon"
SEAM_CONFIG=config.ini "$SEAM" script -i work.data >with 2>err
same "status with a limit that is none" 2 $?
says err 'config.ini:3: debuginfod.limit'

# A server that does not get done: names go without, after the limit, and that is said once.
rm -rf cache xdg
: >stall
"$SEAM" script --debuginfod="$url" --debuginfod-limit=1 -i work.data >late 2>err
same "status with a slow server" 0 $?
rm stall
same "the limit is said" 1 "$(grep -c 'no more is asked for after 1 s' err)"
same "names from half a file" 0 "$(grep -c hidden_name late)"
same "samples all the same" "$(grep -c '^[^[:space:]].*:' without)" "$(grep -c '^[^[:space:]].*:' late)"

# A file of another build-id is not believed.
other=$(printf '%s' "$id" | tr 0-9a-f a-f0-9)
printf '\n' >>work.c && cc -g -O1 -Wl,--build-id=0x"$other" -o other work.c
objcopy --only-keep-debug other "served/$id/debuginfo"
rm -rf cache xdg
"$SEAM" script --debuginfod="$url" -i work.data >wrong 2>err
same "names from a wrong file" 0 "$(grep -c hidden_name wrong)"
done_testing
