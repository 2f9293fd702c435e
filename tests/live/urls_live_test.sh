#!/bin/sh
# urls_live_test.sh: inputs of a job that are URLs are fetched by its machine, within bounds, or the job is held and says why. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
command -v python3 >/dev/null || { echo "1..0 # SKIP python3 is not here" && exit; }
mkdir bin www && "$berth" condor install bin >/dev/null
PATH=$PWD/bin:$PATH
echo sky >www/sky.txt
head -c 3000000 /dev/zero >www/large
cat >server.py <<'END'
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.headers.get("Authorization"):
            open("shown", "w").close()
        place = {"/moved": "/sky.txt", "/round": "/round", "/local": "file:///etc/passwd"}.get(self.path.split("?")[0])
        if not place:
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def do_PUT(self):
        if self.path.startswith("/shut"):
            return self.send_error(403)
        with open("www" + self.path, "wb") as file:
            file.write(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *words: Handler(*words, directory="www"))
print(server.server_address[1], flush=True)
server.serve_forever()
END
python3 server.py >port 2>requests.err &
pids="$pids $!"
soon test -s port
at=http://127.0.0.1:$(cat port)
holds 'a pool is up' serve
held() { [ "$(condor_q "$1" -af JobStatus 2>/dev/null)" = 5 ]; }
reason() { condor_q "$1" -af HoldReason | grep -q "$2"; }
# sub NAME INPUTS WORDS: a submit file of a job that prints what it reads.
sub() {
  printf '%s\n' 'executable = /bin/cat' 'transfer_executable = false' "arguments = $3" "transfer_input_files = $2" "output = $1.out" 'request_disk = 1M' 'queue' >"$1.sub"
}

echo here >here.txt
sub a "here.txt, $at/sky.txt, $at/moved?version=2" 'here.txt sky.txt moved'
run condor_submit -terse a.sub
run timeout 100 "$berth" wait 1
holds 'inputs come from where their URLs say, and from where these lead' [ "$status$(cat a.out)" = '0here
sky
sky' ]
run "$berth" job 1 --json
json 'the job has asked for the network, and its machine fetches such' 0 'rows[0]["Network"] is True and "Fetches" in str(rows[0]["Constraint"])'
holds 'they do not come back as its outputs' [ ! -e sky.txt ]
sub b "$at/none.txt" none.txt
run condor_submit -terse b.sub
holds 'a job whose input is not there is held' soon held 2.0
holds 'and says why' reason 2.0 'Transfer input files failure at the execution point: http://.*/none.txt: .* answers 404'
holds 'with the number of HTCondor' [ "$(condor_q 2.0 -af HoldReasonCode)" = 13 ]
echo late >www/none.txt
"$berth" release 2 >/dev/null
run timeout 100 "$berth" wait 2
holds 'when it is there the job runs' [ "$status$(cat b.out)" = 0late ]
sub c "$at/large" large
run condor_submit -terse c.sub
holds 'one that is larger than its disk is held' soon held 3.0
holds 'for that' reason 3.0 'larger than RequestDisk'
sub d "$at/local" local
run condor_submit -terse d.sub
holds 'a server that sends it to a file of the machine is not obeyed' soon held 4.0
holds 'no token of anybody was shown' [ ! -e shown ]
sub e osdf:///ospool/x x
run condor_submit e.sub
holds 'what no machine fetches is refused when it is submitted' [ "$status" = 1 ]
holds 'and that is why' grep -q 'no machine of the pool fetches osdf://' err
holds 'nothing was submitted' [ -z "$(condor_q 5.0 -af ClusterId)" ]

echo "[ Cmd = \"cat\"; Args = { \"sky.txt\" }; Inputs = { \"$at/sky.txt\" }; Out = \"own.out\"; RequestDisk = 1M ]" >own.ad
run "$berth" submit own.ad
run timeout 100 "$berth" wait 5
holds 'an ad of our own may name a URL among its Inputs' [ "$status$(cat own.out)" = 0sky ]
echo "[ Cmd = \"cat\"; Args = { \"sky.txt\" }; Inputs = { \"$at/sky.txt\" }; Network = false; RequestDisk = 1M ]" >not.ad
run "$berth" submit not.ad
holds 'but not if it does without the network' grep -q 'asks for the network' err
holds 'a file of the machine is one that the job sees there' eval 'sub f file:///nowhere/at/all x; run "$berth" submit --dry-run f.sub; grep -q "other.Visible" out'

# ------------------------------------------------------------------------------------------------------------------ outputs

printf '%s\n' 'executable = /bin/sh' 'transfer_executable = false' "arguments = \"-c 'echo up >up.txt; echo home >home.txt'\"" 'transfer_output_files = up.txt, home.txt' \
  "transfer_output_remaps = \"up.txt = $at/brought.txt\"" 'request_disk = 1M' queue >up.sub
run condor_submit -terse up.sub
run timeout 100 "$berth" wait 6
holds 'an output goes to the URL that is named for it' [ "$status$(cat www/brought.txt)" = 0up ]
holds 'and not home, where the others go' [ ! -e up.txt -a "$(cat home.txt)" = home ]
sed "s|brought.txt|shut/x|" up.sub >shut.sub
run condor_submit -terse shut.sub
run timeout 100 "$berth" wait 7
holds 'one that is not taken there is missing, and the status says so' eval '[ "$status" = 1 ] && grep -q "up.txt: .* answers 403" err'
sed 's|up.txt = .*"|up.txt = root://store/up.txt"|' up.sub >away.sub
run condor_submit away.sub
holds 'where no machine brings outputs to, is refused when it is submitted' [ "$status" = 1 ]
holds 'with the reason' grep -q 'no machine of the pool brings outputs to root://' err
holds 'and nothing was submitted' [ -z "$(condor_q 8.0 -af ClusterId)" ]

# -------------------------------------------------------------------------------------------------- clients of the owner's

kill -s TERM -- "-$pool"
wait "$pool" 2>/dev/null
cat >client <<'END'
#!/bin/sh
# client -q URL FILE
case $2 in
*/sky) id -u >"$3"; ls -d /home /root >>"$3" 2>/dev/null; : ;;
*/large) head -c 9000000 /dev/zero >"$3" ;;
*/good.tar) python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(sys.argv[1], sys.argv[2])' AT/good.tar "$3" ;;
*/slow) sleep 60 ;;
*/link) ln -s /etc/passwd "$3" ;;
*) echo "$2: no such object" >&2; exit 3 ;;
esac
END
python3 "$BERTH_SOURCE/tests/exec/make_image.py" www/good.tar good
sed -i "s|AT/|$at/|" client
chmod 755 client
chmod 755 .
# What a client brings away is in a server of the test's afterwards: it can write nothing of the machine's.
cat >putter <<'END'
#!/bin/sh
# putter -f FILE URL
[ $# = 3 ] || { echo "got $*" >&2; exit 2; }
case $3 in
*/shut*) echo "$3: permission denied" >&2; exit 3 ;;
esac
python3 - "$2" "AT/${3##*/}" "$(id -u) $(ls -d /home /root 2>/dev/null)" <<'PYTHON'
import sys, urllib.request
body = (sys.argv[3] + "\n").encode() + open(sys.argv[1], "rb").read()
urllib.request.urlopen(urllib.request.Request(sys.argv[2], body, method="PUT"))
PYTHON
END
sed -i "s|AT/|$at/|" putter
chmod 755 putter
run env BERTH_URL_PUT_CLIENTS='{"root = putter -f"}' timeout 60 "$berth" provider
holds 'a client is named by its path' eval '[ "$status" != 0 ] && grep -q "UrlPutClients: expected .*SCHEME = /PROGRAM WORDS" err'
BERTH_URL_CLIENTS="{\"osdf = $work/client -q\"}"
BERTH_URL_PUT_CLIENTS="{\"root = $work/putter -f\"}"
export BERTH_URL_CLIENTS BERTH_URL_PUT_CLIENTS
holds 'an owner names a client for other URLs' serve
sub g osdf:///ospool/sky sky
submits() { condor_submit -terse g.sub >id 2>said; } # when the pool knows the machine again
holds 'then they are taken' soon submits
run timeout 100 "$berth" wait "$(sed 's/\..*//' id)"
holds 'it brings the file, in a sandbox where it sees nobody'"'"'s home' [ "$status$(cat g.out)" = 01000 ]
printf '%s\n' 'executable = /bin/cat' 'arguments = /etc/word' 'container_image = osdf:///ospool/good.tar' 'output = image.out' 'request_disk = 100M' queue >image.sub
condor_submit -terse image.sub >id 2>said
run timeout 100 "$berth" wait "$(sed 's/\..*//' id)"
holds 'an image may be such a file' [ "$status$(cat image.out)" = "0of the image" ]
no_image() { [ -z "$(find "$BERTH_STATE" -name 'url-*' -path '*images*')" ]; }
holds 'it is kept for that job alone' soon no_image
for name in large link none; do
  sub "c$name" "osdf:///ospool/$name" "$name"
  condor_submit -terse "c$name.sub" 2>/dev/null | sed 's/ .*//' >"id.$name"
done
holds 'what is larger than the disk of the job is not taken' eval 'soon held "$(cat id.large)" && reason "$(cat id.large)" "larger than RequestDisk"'
holds 'nor what is no file' eval 'soon held "$(cat id.link)" && reason "$(cat id.link)" "has brought no file"'
holds 'and what the client says is told' eval 'soon held "$(cat id.none)" && reason "$(cat id.none)" "client that the owner names says: osdf:///ospool/none: no such object"'

# puts FILE: an output of that name goes away by the client, the number of the job is in id.
puts() {
  printf '%s\n' 'executable = /bin/sh' 'transfer_executable = false' "arguments = \"-c 'umask 077; echo up >./$1; echo home >home.txt'\"" "transfer_output_files = $1, home.txt" \
    "transfer_output_remaps = \"$1 = $2\"" 'request_disk = 1M' queue >away.sub
  condor_submit -terse away.sub 2>said | sed 's/[. ].*//' >id
}
rm -f home.txt
puts up.bin root://store//data/away.bin
run timeout 100 "$berth" wait "$(cat id)"
holds 'a client brings an output away that nobody else may read, in a sandbox where it sees nobody'"'"'s home' [ "$status$(cat www/away.bin)" = '01000 
up' ]
holds 'which does not come home, as the others do' [ ! -e up.bin -a "$(cat home.txt)" = home ]
puts -f root://store/--help
run timeout 100 "$berth" wait "$(cat id)"
holds 'no name is an option of the client' [ "$status$(cat www/--help)" = '01000 
up' ]
puts up.bin root://store/shut
run timeout 100 "$berth" wait "$(cat id)"
holds 'what it says when it fails is why the output is missing' eval '[ "$status" = 1 ] && grep -q "up.bin: the client that the owner names says: root://store/shut: permission denied" err'
holds 'nothing of what was brought away is kept' eval '[ -z "$(find "$BERTH_STATE" -path "*cache/put-*")" ]'
"$berth" ads --long >ads
holds 'the machine says where it brings outputs' grep -q 'Brings = { *"http", *"https", *"root" *}' ads

sub slow osdf:///ospool/slow slow
condor_submit -terse slow.sub >id 2>said
fetches() { pgrep -f "^/bin/sh $work/client -q osdf:///ospool/slow"; }
holds 'one takes its time' soon fetches
kill -s TERM -- "-$pool"
wait "$pool" 2>/dev/null
no_more() { ! fetches; }
holds 'and ends with its machine' soon no_more
holds 'which leaves nothing behind' eval '! grep -q Sanitizer pool.err "$BERTH_STATE"/log/*'
echo "1..$count"
[ $failures = 0 ]
