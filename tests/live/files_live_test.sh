#!/bin/sh
# files_live_test.sh: the catalogue of files, and jobs that read from it: two catalogues, a customer, two providers and a web server, all of
# them real processes. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
for tool in b2sum curl python3; do
  command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not here" && exit; }
done
umask 077
. "$BERTH_SOURCE/tests/common/says.sh"

# start NAME COMMAND...: it runs until `stop NAME`; what it prints goes to NAME.up and NAME.err.
start() {
  name=$1
  shift
  : >"$name.up" # or what the one before has said is read
  "$@" >"$name.up" 2>>"$name.err" &
  echo $! >"$name.pid"
  pids="$pids $!"
}
stop() { # NAME [SIGNAL]
  kill "-${2:-TERM}" "$(cat "$1.pid")"
  wait "$(cat "$1.pid")" 2>/dev/null
}
is_up() { grep -q 'is up' "$1.up"; }
hash_of() { printf 'sha256:%s' "$(sha256sum "$1" | cut -c1-64)"; }
here="unix:$work/state/matchmaker.sock" there="unix:$work/other/matchmaker.sock"
matchmaker() { start "$1" "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/$1" && soon is_up "$1"; }

matchmaker state
matchmaker other
url=$(sed -n 's/.*is up: //p' state.up)
holds 'two matchmakers are up, each with a catalogue' [ -n "$url" ]
for file in state/customer near/provider far/provider keeper/provide; do
  mkdir -p $file
  case $file in near/* | far/*) subject=machine/${file%/*} ;; *) subject=alice ;; esac
  "$berth" token create --subject "$subject" --scope 'ad:read ad:write claim match job:submit job:own' --lifetime 1d --out $file/token >/dev/null
done

# ------------------------------------------------------------------------------------------------------------ one catalogue

mkdir -p se1 books www
printf 'a ship\nanother ship\n' >books/sea.txt
echo 'a road' >books/land.txt
sed "s|/srv/berth-data|$work/se1|" "$BERTH_SOURCE/examples/data/store.ad" >store.ad
start store "$berth" provide --state "$work/keeper" store.ad
holds 'a store is an ad in the pool' soon listed 'ads -c Type=="Storage"' 'len(rows) == 1'
run "$berth" files
expect 'at first the catalogue is empty' 0 ''
run "$berth" files add books/sea.txt books/sea.txt --store se1
expect 'a file is put into a store and entered' 0 'books/sea.txt: 20 bytes in se1'
holds 'it lies in the store under its logical name' cmp books/sea.txt se1/books/sea.txt
run "$berth" files --prefix books/ --format 'Name Size Hash'
expect 'and is listed with its size and hash' 0 "books/sea.txt 20 $(hash_of books/sea.txt)"
run "$berth" files show books/sea.txt
says 'and shown with its replicas' 0 "books/sea.txt
*size*20
*hash*$(hash_of books/sea.txt)
*owner*
*in*se1*file://$work/se1/books/sea.txt" ''
run "$berth" files get books/sea.txt -o got.txt
holds 'and fetched' cmp books/sea.txt got.txt
run "$berth" files add books/sea.txt file://"$work"/books/land.txt --store se2
says 'a replica that is another file is refused, with the name' 2 '' "*books/sea.txt: the catalogue has it with the size 20, and this replica has 7"
printf 'A ship\nanother ship\n' >same-size.txt
run "$berth" files add books/sea.txt file://"$work"/same-size.txt --store se2
says 'also when it is as long' 2 '' '*books/sea.txt: the catalogue has it with the hash sha256:*'
run "$berth" files add books/sea.txt books/land.txt --store se1
expect 'another file is not put in its place' 2 '' 'berth: books/sea.txt: the catalogue has another file of that name; `berth files rm` forgets it'
holds 'so what lies there stays' cmp books/sea.txt se1/books/sea.txt
run "$berth" files add ../x books/sea.txt --store se1
says 'a name leads nowhere else' 2 '' '*../x: the name of a file has*'
run "$berth" files add x books/sea.txt --store nowhere
says 'a store that is not there is named' 2 '' '*nowhere: there is no such store in the pool*'
run "$berth" files show books/none.txt
expect 'a file that is not there is told' 1 '' 'berth: books/none.txt: there is no such file in the catalogue'
run "$berth" files check
says 'one catalogue has nothing to be compared with' 2 '' '*one catalogue alone*'
run "$berth" files show books/sea.txt --token state/customer/token --pool "$url"
holds 'others may read' [ $status = 0 ]
run "$berth" files rm books/sea.txt --token state/customer/token --pool "$url"
says 'but do not remove what is not theirs' 2 '' "*this file is *'s"
run "$berth" files add books/sea.txt "file://$work/books/sea.txt" --store se2 --token state/customer/token --pool "$url"
says 'nor say that there is another replica of it' 2 '' "*this file is *'s: its replicas are entered by its owner, by who has entered it, and by administrators"
run "$berth" files show books/sea.txt --json
json 'it stays as it was' 0 '[row["Store"] for row in rows[0]["Replicas"]] == ["se1"]'
holds 'and the log says who was refused' grep -q 'event=audit.refused .*route=replicas.add status=403 subject=alice name=books/sea.txt' state.err
"$berth" token create --subject alice/pilot-1 --scope 'ad:read ad:write claim' --lifetime 1d --out pilot.token >/dev/null
run "$berth" files add hers "file://$work/books/sea.txt" --store se1 --token state/customer/token --pool "$url"
run "$berth" files add hers "file://$work/same.txt" --size 20 --hash "$(hash_of books/sea.txt)" --store se2 --token pilot.token --pool "$url"
expect 'an agent that the owner has delegated to adds one to what is hers' 0 'hers: 20 bytes in se2'
run "$berth" files add hers "file://$work/other.txt" --size 20 --hash "$(hash_of books/sea.txt)" --store se1 --token pilot.token --pool "$url"
says 'and changes none' 2 '' "*this file is alice's: *"
run "$berth" files add hers "file://$work/same.txt" --size 20 --hash "$(hash_of books/sea.txt)" --store se2 --token near/provider/token --pool "$url"
expect 'what is there may be told again' 0 'hers: 20 bytes in se2'
run "$berth" files rm hers

# metric NAME VALUE: the matchmaker counts so many.
metrics() { curl -s --unix-socket state/matchmaker.sock http://x/metrics; }
metric() { metrics | grep -qxF "$1 $2"; }
holds 'the files are counted' metric berth_catalogue_files 1
holds 'and their replicas' metric berth_catalogue_replicas 1
run "$berth" files add books/sea.txt "file://$work/se1/books/sea.txt" --store se9
holds 'one by one' metric berth_catalogue_replicas 2
run "$berth" files rm books/sea.txt --store se9
holds 'up and down' metric berth_catalogue_replicas 1
missing=$(metrics | sed -n 's/^berth_catalogue_questions_total{result="missing"} //p')
run "$berth" files show books/none.txt
holds 'so are questions that found nothing' metric 'berth_catalogue_questions_total{result="missing"}' $((missing + 1))
holds 'and changes that were refused' metric 'berth_catalogue_changes_total{result="refused"}' 3

# ------------------------------------------------------------------------------------------------------ names that are kept

"$berth" token create --subject mallory --scope 'ad:read ad:write claim' --lifetime 1d --out mallory.token >/dev/null
# enters WHO NAME [OPTION...]: with that token, a file of that name.
enters() {
  who=$1 name=$2
  shift 2
  run "$berth" files add "$name" "file://$work/books/sea.txt" --store se1 --token "$who" --pool "$url" "$@"
}
enters mallory.token '~alice/in.dat'
says 'nobody sits on a name that is kept for a user' 2 '' "*this file is another's: names that begin with '~' are entered by the user whose they are, *"
enters mallory.token '~alice/in.dat' --owner alice
says 'nor by saying that it is hers' 2 '' "*this file is another's: names that begin with '~' are entered by the user whose they are, *"
enters near/provider/token '~alice/in.dat' --owner alice
says 'nor does a machine that has run nothing of hers' 2 '' "*this file is another's: names that begin with '~' are entered by the user whose they are, *"
forged=$(printf '[Claim="00000000000000c1";Gang="00000000000000c1";Agent="00000000000000a1";Offer="00000000000000a1";Account="alice";Weight=1000;Seal="%064d"]' 0 |
  base64 -w 0 | tr '+/' '-_' | tr -d =)
"$berth" token create --subject mallory --scope 'ad:read ad:write claim' --lifetime 1d --no-delegation >mallory.plain
bearer=$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' mallory.plain)
code=$(curl -s -m 20 -o answer -w '%{http_code}' -H "Authorization: Bearer $bearer" -H "Berth-Receipt: $forged" \
  -d "[Store = \"se1\"; Url = \"file:///x\"; Size = 7; Hash = \"$(hash_of books/land.txt)\"; Owner = \"alice\"]" "$url/v1/files/~alice%2Fin.dat/replicas")
holds 'nor who shows a receipt that no matchmaker has made' [ "$code" = 403 ]
enters state/customer/token '~alice/in.dat' --owner mallory
says 'she gives it to nobody else' 2 '' "*Owner: '~alice/in.dat' is a name of another user"
enters state/customer/token '~alice/in.dat'
expect 'the user herself enters it' 0 '~alice/in.dat: 20 bytes in se1'
run "$berth" files show '~alice/in.dat' --json
json 'it is hers' 0 'rows[0]["Owner"] == "alice"'
enters pilot.token '~alice/pilots.dat'
expect 'so does who acts for her' 0 '~alice/pilots.dat: 20 bytes in se1'
run "$berth" files rm '~alice/pilots.dat' --token state/customer/token --pool "$url"
holds 'and what that has entered is hers as well' [ "$status" = 0 ]
enters mallory.token '~mallory/in.dat'
expect 'each has names like that' 0 '~mallory/in.dat: 20 bytes in se1'
run "$berth" files rm '~alice/in.dat' --token mallory.token --pool "$url"
says 'and not those of others' 2 '' "*this file is alice's"
for name in '~alice/in.dat' '~mallory/in.dat'; do "$berth" files rm "$name"; done

# A wish for copies is carried out with the rights of the file's owner, so it has to come from the owner.
# asks METHOD NAME BODY: mallory asks for that; it leaves the status of the answer in $code.
asks() { code=$(curl -s -m 20 -o answer -w '%{http_code}' -X "$1" -H "Authorization: Bearer $bearer" -H 'Content-Type: application/classad' -d "$3" "$url/v1/files/$2"); }
theirs="Size = 7; Hash = \"$(hash_of books/land.txt)\"; Owner = \"alice\"; Replicas = {[Store = \"x\"; Url = \"http://mallory.example.org/x\"]}"
asks PUT hers "[$theirs; Copies = 1; CopiesAt = {\"se1\"}]"
holds 'nobody has copies made by the customer of somebody else' [ "$code" = 403 ]
holds 'which is said' grep -q "this file is alice's: its owner says how many copies are kept" answer
run "$berth" files show hers
holds 'and such a file is not entered' [ "$status" = 1 ]
asks PUT hers "[$theirs]"
holds 'one without that wish is' [ "$code" = 201 ]
asks PATCH hers '[Copies = 1; CopiesAt = {"se1"}]'
holds 'but who has entered it does not say how many copies there are to be' [ "$code" = 403 ]
asks PUT hers "[$theirs; Copies = 1]"
holds 'not in its place either' [ "$code" = 403 ]
run "$berth" files keep hers 1 se1 --token state/customer/token --pool "$url"
expect 'its owner does' 0 'hers: 1 copy is kept'
asks PUT hers "[${theirs%; Owner*}; Copies = 2]"
holds 'and nobody changes her number' [ "$code" = 403 ]
run "$berth" files rm hers

# ------------------------------------------------------------------------------------------- killed between write and answer

entry="Size = 7; Hash = \"$(hash_of books/land.txt)\""
# tell CATALOGUE NAME STORE: the status of the answer, if there is one.
tell() {
  curl -s -m 20 -o /dev/null -w '%{http_code}\n' --unix-socket "$work/$1/matchmaker.sock" -d "[Store = \"$3\"; Url = \"file://$work/books/land.txt\"; $entry]" "http://x/v1/files/$2/replicas"
}
(i=0 && while [ ! -e enough ]; do i=$((i + 1)) && [ "$(tell other "k$i" se1)" = 201 ] && echo "k$i" >>acknowledged || break; done) &
writer=$!
some() { [ "$(wc -l <acknowledged)" -ge 40 ]; }
soon some
stop other KILL
touch enough
wait $writer
matchmaker other
"$berth" files --pool "$there" --format Name | sort >have
sort acknowledged >want
holds 'of what a killed catalogue has acknowledged nothing is lost' [ -z "$(comm -13 have want)" ]
sed -i 's|^|DELETE |' have
while read -r verb name; do curl -s -o /dev/null -X "$verb" --unix-socket other/matchmaker.sock "http://x/v1/files/$name"; done <have
run "$berth" files --pool "$there" --json
expect 'and all can be forgotten again' 0 ''

# ------------------------------------------------------------------------------------------------------------ two of them

export BERTH_CATALOGUES="$here,$there"
run "$berth" files check
expect 'two catalogues are compared: what one lacks is told' 1 "NAME           DISAGREEMENT
books/sea.txt  $work/other/matchmaker.sock does not have it"
run "$berth" files repair
says 'and brought over' 0 'NAME *REPAIRED
books/sea.txt *yes' ''
run "$berth" files check --json
expect 'then they agree' 0 ''
run "$berth" files add books/land.txt books/land.txt --store se1
run "$berth" files show books/land.txt --pool "$there"
holds 'what is entered is in both' [ $status = 0 ]
tell state only-here se1 >/dev/null && tell other only-there se1 >/dev/null
tell other books%2Fland.txt se2 >/dev/null && tell state books%2Fland.txt se3 >/dev/null
tell state clash se1 >/dev/null
entry="Size = 20; Hash = \"$(hash_of books/sea.txt)\"" && tell other clash se1 >/dev/null
run "$berth" files check --json
json 'every disagreement is listed, in both directions' 1 '[row["name"] for row in rows] == ["books/land.txt", "clash", "only-here", "only-there"] and "other/matchmaker.sock has no replica in se3" in rows[0]["disagreement"] and "state/matchmaker.sock has no replica in se2" in rows[0]["disagreement"] and "size is 7 and 20" in rows[1]["disagreement"] and "other/matchmaker.sock does not have it" in rows[2]["disagreement"] and "state/matchmaker.sock does not have it" in rows[3]["disagreement"]'
run "$berth" files --format Name
says 'a list has all of them, and says that they disagree' 0 'books/land.txt
books/sea.txt
clash
only-here
only-there' '*disagree about 4 of the files*'
run "$berth" files show clash
says 'which of two hashes is right nobody guesses' 1 '' '*clash: the catalogues disagree: its size is 7 and 20; its hash is *'
run "$berth" files show books/land.txt
says 'replicas that one of them has are shown' 0 'books/land.txt
*size*
*hash*
*owner*
*in*se1*
*in*se2*
*in*se3*' '*disagree*'
run "$berth" files repair --json
json 'all is repaired but what only a person can decide' 1 '{row["name"]: row["repaired"] for row in rows} == {"books/land.txt": "yes", "clash": "no", "only-here": "yes", "only-there": "yes"}'
run "$berth" files check --json
json 'that stays' 1 'len(rows) == 1 and rows[0]["name"] == "clash"'
run "$berth" files rm clash
run "$berth" files check --json
expect 'until it is removed' 0 ''

stop other
run "$berth" files get books/land.txt -o got.txt
says 'with one of them down files are read from the other, and that is told' 0 '' "*no matchmaker runs there: $work/other/matchmaker.sock
*only the catalogue $work/state/matchmaker.sock was asked"
run "$berth" files add late books/land.txt --store se1
says 'what is entered then is told to be missing in the other' 1 'late: 7 bytes in se1' "*no matchmaker runs there*
*late: the catalogue $work/other/matchmaker.sock lacks it*"
run "$berth" files check
says 'they cannot be compared' 3 '' '*no matchmaker runs there*'
matchmaker other
run "$berth" files check --json
json 'when it is back the check shows it' 1 'len(rows) == 1 and rows[0]["name"] == "late" and "other/matchmaker.sock does not have it" in rows[0]["disagreement"]'
run "$berth" files repair
run "$berth" files rm late
run "$berth" files check --json
expect 'and it is repaired' 0 ''

start third "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/third" --set Tls=on
soon is_up third
"$berth" token create --state "$work/third" --subject alice --scope 'ad:read ad:write' --lifetime 1d --out third.token >/dev/null
third=$(sed -n 's/.*is up: //p' third.up)
run env BERTH_CATALOGUES="$here,$third" "$berth" files check
says 'a catalogue of another pool is not trusted without a token of that pool' 3 '' '*certificate*'
printf '[ Catalogues = { "%s", "%s" }; CatalogueTokens = { "-", "%s/third.token" } ]\n' "$here" "$third" "$work" >third.ad
run env -u BERTH_CATALOGUES "$berth" files repair --config third.ad
holds 'which the setting CatalogueTokens names' [ $status = 0 ]
run env -u BERTH_CATALOGUES "$berth" files check --config third.ad --json
expect 'then it is asked, encrypted, as any other' 0 ''

# ---------------------------------------------------------------------------------------------------------- jobs with data

(cd www && exec python3 -u -m http.server --bind 127.0.0.1 0) >web.up 2>web.err &
pids="$pids $!"
web=$!
soon grep -q Serving web.up
port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' web.up)
export BERTH_STORE_FOLDERS="$work/se1"
start customer "$berth" customer
start near "$berth" provider --state "$work/near" --set AgentName=near --set CloseStorage=se1
sed "s|^\[|[ CloseStorage = { \"web\" };|" third.ad >far.ad # and it asks a third catalogue, by a token
start far env -u BERTH_CATALOGUES "$berth" provider --config far.ad --state "$work/far" --set AgentName=far
holds 'machines say which stores are near' soon listed 'ads -c Type=="Machine" --select Name,CloseStorage' \
  'sorted((row["Name"], row["CloseStorage"]) for row in rows) == [("far", ["web"]), ("near", ["se1"])]'
soon listed status 'rows'

# job NUMBER: it ends well, within a minute.
job() { timeout 60 "$berth" wait "$1"; }
run "$berth" files rm books/land.txt --store se2
run "$berth" files rm books/land.txt --store se3
run "$berth" submit "$BERTH_SOURCE/examples/data/count.ad"
expect 'a job that reads files of the catalogue is submitted' 0 '1 job submitted: 1'
holds 'and runs' job 1
run "$berth" logs 1
says 'with its files, from a store in a folder' 0 ' *2 sea.txt
 *1 land.txt
 *3 total' ''
run "$berth" job 1 --json
json 'its ad says which stores have all of them' 0 'rows[0]["Replicas"] == ["se1"] and rows[0]["InputBytes"] == 27'
cp -r books www
for file in sea land; do
  run "$berth" files add books/$file.txt "http://127.0.0.1:$port/books/$file.txt" --store web --size "$(stat -c %s books/$file.txt)" --hash "$(hash_of books/$file.txt)"
done
printf 'a pier\n' >www/pier
run "$berth" files add pier "http://127.0.0.1:$port/pier" --store web
expect 'a replica behind a URL is measured' 0 'pier: 7 bytes in web'
run "$berth" files show pier --format Hash
expect 'by its bytes' 0 "$(hash_of www/pier)"
run "$berth" files get pier
holds 'and fetched from there' cmp pier www/pier
# only_in STORE NAME NUMBER: the job of that number reads a file that is in that store alone, and has it.
only_in() {
  "$berth" files add "$2" "$(case $1 in web) echo "http://127.0.0.1:$port/$2" ;; *) echo "file://$work/se1/$2" ;; esac)" --store "$1" --size 7 --hash "$(hash_of books/land.txt)" >/dev/null &&
    sed "s|Args = .*;|Args = {\"$2\"};|; s|InputData = .*;|InputData = {\"$2\"};|; s|\"wc\"|\"cat\"|" "$BERTH_SOURCE/examples/data/count.ad" >"$2.ad" &&
    "$berth" submit "$2.ad" && job "$3" && [ "$("$berth" logs "$3")" = 'a road' ]
}
cp books/land.txt www/inweb && cp books/land.txt se1/inse1
holds 'a job whose file is in a web store gets it' only_in web inweb 2
holds 'and one whose file is in a folder' only_in se1 inse1 3
# ran_on NUMBER MACHINE
ran_on() { "$berth" job "$1" | grep -q "machine  *$2"; }
holds 'the first ran near the web store, by its Rank' ran_on 2 far
holds 'and the second near the folder' ran_on 3 near
holds 'the first machine asks a catalogue of another pool too, which does not have that file' grep -q "event=data.catalogue name=inweb why=\"$third does not have it" far.err

run "$berth" files keep inweb 1 web
expect 'copies that are to be kept are told to both catalogues' 0 'inweb: 1 copy is kept'
kept_at() { "$berth" files show inweb --pool "$1" | grep -qx '  copies 1 at web'; }
holds 'the one has it' kept_at "$here"
holds 'and the other' kept_at "$there"
run "$berth" files keep inweb 0
expect 'until nobody wants that any more' 0 'inweb: no number of copies is kept any more'
run "$berth" files keep inweb
says 'a number is wanted for it' 2 '' '*files keep wants the name of a file, and how many copies of it: 0 to 32'
run "$berth" files keep none 2
says 'and a file that is there' 1 '' '*none: there is no such file in the catalogue'

# ------------------------------------------------------------------------------------------------------------- datasets

run "$berth" files dataset shore --prefix books/ pier
expect 'a dataset is a name for many files' 0 'shore: 3 files'
run "$berth" files show shore
says 'which it tells, those that were named first' 0 'shore
  owner *
  file *pier
  file *books/land.txt
  file *books/sea.txt' ''
run "$berth" files show shore --json
json 'it is an entry without a size' 0 'len(rows) == 1 and rows[0]["Files"] == ["pier", "books/land.txt", "books/sea.txt"] and "Size" not in rows[0]'
run "$berth" files --prefix shore --pool "$there" --format 'Name Stores'
expect 'both catalogues have it' 0 'shore (3 files)'
run "$berth" files check
expect 'and agree' 0 ''
echo '[ Cmd = "cat"; Args = {"land.txt", "pier"}; InputData = { "shore" }; Outputs = {}; Constraint = other.Type == "Machine"; RequestMemory = 16M; RequestDisk = 16M ]' >shore.ad
run "$berth" submit shore.ad
expect 'a job names it in InputData' 0 '1 job submitted: 4'
holds 'and runs' job 4
run "$berth" logs 4
says 'with its files' 0 'a road
a pier' ''
run "$berth" job 4 --json
json 'its ad says which those are, how large they are together, and which store has all of them' 0 'rows[0]["InputData"] == ["pier", "books/land.txt", "books/sea.txt"] and rows[0]["InputBytes"] == 34 and rows[0]["Replicas"] == ["web"]'
sed 's|{ "shore" }|{ "books/sea.txt", "shore", "books/land.txt" }|' shore.ad >both.ad
run "$berth" submit both.ad
holds 'a file that is named beside its dataset is one file' job 5
run "$berth" job 5 --json
json 'in the place where it was named first' 0 'rows[0]["InputData"] == ["books/sea.txt", "pier", "books/land.txt"]'
run "$berth" files get shore
says 'a dataset is not fetched as a file' 2 '' '*shore is a dataset; *'
run "$berth" files add shore books/land.txt --store se1
says 'nor gets one in its place' 2 '' '*shore: the catalogue has another file of that name*'
run "$berth" files add shore "file://$work/se1/x" --store se1 --size 7 --hash "$(hash_of books/land.txt)"
says 'nor a replica' 2 '' '*shore: the catalogue has a dataset of that name
*shore: the catalogue has a dataset of that name'
run "$berth" files dataset pier books/sea.txt
says 'nor is a file replaced by one' 2 '' '*pier: the catalogue has a file of that name*'
run "$berth" files dataset coast shore
says 'a dataset has files, and no datasets' 2 '' '*shore is a dataset; a dataset has files'
run "$berth" files dataset coast books/none.txt
says 'of the catalogue' 1 '' '*books/none.txt: there is no such file in the catalogue'
run "$berth" files dataset coast --prefix none/
says 'at least one' 1 '' "*coast: no file in the catalogue has a name that begins with 'none/'"
curl -s -o /dev/null --unix-socket state/matchmaker.sock -X PUT -d '[Files = {"shore"}]' http://x/v1/files/nested
curl -s -o /dev/null --unix-socket other/matchmaker.sock -X PUT -d '[Files = {"shore"}]' http://x/v1/files/nested
sed 's|"shore"|"nested"|' shore.ad >nested.ad
run "$berth" submit nested.ad
says 'one that has a dataset in it all the same is refused to jobs' 2 '' "*InputData: 'nested': 'shore' in it is a dataset as well, and no file"
run "$berth" files rm nested
run "$berth" files dataset twins books/land.txt
curl -s -o /dev/null --unix-socket state/matchmaker.sock -X PUT -d '[Files = {"books/land.txt", "x/land.txt"}]' http://x/v1/files/twins
curl -s -o /dev/null --unix-socket other/matchmaker.sock -X PUT -d '[Files = {"books/land.txt", "x/land.txt"}]' http://x/v1/files/twins
sed 's|"shore"|"twins"|' shore.ad >twins.ad
run "$berth" submit twins.ad
says 'and one with a file that is nowhere' 2 '' "*InputData: 'x/land.txt': there is no such file in the catalogue"
run "$berth" files add x/land.txt "http://127.0.0.1:$port/books/land.txt" --store web
run "$berth" submit twins.ad
says 'or with two that would be one' 2 '' "*the dataset 'twins': InputData: 'books/land.txt' and 'x/land.txt' would be the same file in the job's folder"
run "$berth" files rm x/land.txt
run "$berth" files dataset twins books/sea.txt
expect 'another list takes the place of the first' 0 'twins: 1 file'
curl -s -o /dev/null --unix-socket other/matchmaker.sock -X PUT -d '[Files = {"books/land.txt"}]' http://x/v1/files/twins
run "$berth" files check
says 'catalogues that know others by that name are told' 1 'NAME *DISAGREEMENT
twins *the files of the dataset are others' ''
run "$berth" submit twins.ad
says 'and no job gets either' 2 '' "*InputData: 'twins': the catalogues call different files so*"
run "$berth" files rm twins
run "$berth" files rm shore
run "$berth" files rm books/none.txt
says 'it is forgotten like a file' 1 '' '*no such file*'
run "$berth" job 4 --json
json 'jobs keep their files' 0 'len(rows[0]["InputData"]) == 3'

# resource: an entry as a resource: a tag, a time, links to what the caller may do, and its events
one() { path=$1 && shift && curl -s -m 60 -D head -o answer -w '%{http_code} %{time_total}\n' --unix-socket state/matchmaker.sock "$@" "http://x/v1/files/$path"; }
one books%2Fland.txt >code
tag=$(sed -n 's/^[Ee][Tt][Aa][Gg]: \("[^"]*"\).*/\1/p' head)
holds 'an entry has a tag, and says when it was changed' eval '[ -n "$tag" ] && grep -qi "^last-modified: .* GMT" head && grep -qi "^cache-control: private, no-cache" head'
holds 'and links to what may be done to it' grep -qi '^link: </v1/files/books%2Fland.txt>; rel="self", </v1/files>; rel="collection".*rel="edit"; method="PUT".*/replicas>; rel="replica"; method="POST".*rel="keep"; method="PATCH"' head
curl -s -m 20 -D head -o answer -H "Authorization: Bearer $bearer" "$url/v1/files/books%2Fland.txt"
holds 'of which others have none' eval 'grep -qi "^link: .*rel=.self" head && ! grep -q "method=" head'
one 'books%2Fland.txt?wait=25' -H "If-None-Match: $tag" >waited &
one_waits=$!
curl -s -o /dev/null --unix-socket state/matchmaker.sock -X PATCH -d '[Copies = 1]' http://x/v1/files/books%2Fland.txt
wait $one_waits
holds 'who waits for another tag is answered when the entry changes' awk '$1 != 200 || $2 >= 24 { exit 1 }' waited
curl -s -o /dev/null --unix-socket state/matchmaker.sock -X PATCH -d '[Copies = 0]' http://x/v1/files/books%2Fland.txt
holds 'and with 304 when nothing has happened' eval 'one "books%2Fland.txt" >code && tag=$(sed -n "s/^[Ee][Tt][Aa][Gg]: \(\"[^\"]*\"\).*/\1/p" head) && one "books%2Fland.txt?wait=1" -H "If-None-Match: $tag" | grep -q "^304 "'

# many: ninety datasets of 1000 long names, in one of the catalogues
python3 -c 'print("[Files = {%s}]" % ", ".join("\"%s/%d\"" % ("x" * 190, i) for i in range(1000)))' >many
many() { curl -s -o /dev/null -w '%{http_code}\n' --unix-socket state/matchmaker.sock "$@" 'http://x/v1/files/many%2F[1-90]'; }
holds 'ninety large datasets are taken' [ "$(many -X PUT -d @many | sort | uniq -c | tr -s ' ')" = ' 90 201' ]
curl -s -D head -o list --unix-socket state/matchmaker.sock 'http://x/v1/files?prefix=many/'
holds 'a list of them ends where it is long enough, and says where it goes on' eval 'grep -qi "^link:.*next" head && [ "$(stat -c %s list)" -lt 18000000 ]'
run "$berth" files --prefix many/ --pool "$here" --format Name
holds 'so all are read' [ "$(sort -u out | wc -l)" = 90 ]
many -X DELETE >/dev/null
run "$berth" files dataset shore --prefix many/
says 'and forgotten' 1 '' '*no file in the catalogue*'
dataset_of() { curl -s -o answer -w '%{http_code}' --unix-socket state/matchmaker.sock -X PUT -d "[Files = {$(seq -s, -f '"f%g"' "$1")}]" http://x/v1/files/sized; }
holds 'a dataset has no more files than a job reads' [ "$(dataset_of 1001)$(dataset_of 1000)" = 400201 ]
curl -s --unix-socket state/matchmaker.sock -X DELETE http://x/v1/files/sized
start small "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/small" --set FilesPerIdentity=5
soon is_up small
enter() { curl -s -o answer -w '%{http_code} ' --unix-socket small/matchmaker.sock -X PUT -d "[$2]" "http://x/v1/files/$1"; }
enter set 'Files = {"a", "b", "c", "d", "e"}' >codes
enter set 'Files = {"a", "b", "c", "d"}' >>codes
enter one "$entry" >>codes
enter set 'Files = {"a", "b", "c"}' >>codes
enter one "$entry" >>codes
enter set 'Files = {"a", "b", "c", "d"}' >>codes
holds 'among the files of an identity it counts as many as it has, and one' [ "$(cat codes)" = '429 201 429 200 201 429 ' ]
stop small

# Files that are too large for the provider's loop to copy: one of the catalogue, and one that comes with the job.
head -c 5000000 /dev/urandom >se1/large
head -c 40000000 /dev/urandom >own.dat
part=near/provider/cache/$(b2sum -l 256 own.dat | cut -c1-64).part # most of which has come before
head -c 36000000 own.dat >"$part"
"$berth" files add large "file://$work/se1/large" --store se1 >/dev/null
echo '[ Cmd = "sha256sum"; Args = {"large", "own.dat"}; Inputs = {"own.dat"}; InputData = {"large"}; RequestMemory = 16M; RequestDisk = 64M; Outputs = {};
  Constraint = other.Name == "near" ]' >large.ad
run "$berth" submit large.ad
holds 'a job with large files runs' job 6
"$berth" logs 6 >out
holds 'and has all of them' [ "$(cut -c1-64 out | tr '\n' ' ')" = "$(sha256sum se1/large own.dat | cut -c1-64 | tr '\n' ' ')" ]

# ------------------------------------------------------------------------------------------------------- what goes wrong

printf 'a raft\n' >se1/inboth && cp books/land.txt www/inboth
"$berth" files add inboth "file://$work/se1/inboth" --store se1 --size 7 --hash "$(hash_of books/land.txt)" >/dev/null
rm -f near/provider/cache/data-* far/provider/cache/data-*
near_only() { sed "s|Args = .*;|Args = {\"$1\"};|; s|InputData = .*;|InputData = {\"$1\"};|; s|\"wc\"|\"cat\"|; s|other.Type == \"Machine\"|other.Name == \"near\"|" "$BERTH_SOURCE/examples/data/count.ad" >"$1.ad"; }
near_only inboth
run "$berth" submit inboth.ad
holds 'a job whose only replica has the wrong contents does not run' eval '! job 7'
run "$berth" job 7
holds 'and says which, and why' eval 'grep -q "InputData .inboth.: se1: its contents are not those that the catalogue says" out'
holds 'and not what lies there instead, which is perhaps not for that user' eval '! grep -q "$(sha256sum <se1/inboth | cut -c1-16)" out'
run "$berth" rm 7
"$berth" files add inboth "http://127.0.0.1:$port/inboth" --store web --size 7 --hash "$(hash_of books/land.txt)" >/dev/null
run "$berth" submit inboth.ad
holds 'with a second replica it is fetched from that one' job 8
run "$berth" logs 8
expect 'and is the right one' 0 'a road'
holds 'the near one was tried first' grep -q 'event=data.replica .*name=inboth store=se1' near.err
sed 's|books/land.txt|books/lost.txt|; s|land.txt|lost.txt|' "$BERTH_SOURCE/examples/data/count.ad" >lost.ad
run "$berth" submit lost.ad
says 'a name that no catalogue has is refused at once' 2 '' "*InputData: 'books/lost.txt': there is no such file in the catalogue"
echo '[ Cmd = "true"; InputData = { "a/x", "b/x" } ]' >twice.ad
run "$berth" submit twice.ad
says 'and two files that would be one' 2 '' "*InputData: 'a/x' and 'b/x' would be the same file in the job's folder"
cat >slow.py <<'SLOW'
import http.server, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"a")
        self.wfile.flush()
        open("asked", "w")
        time.sleep(600)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
SLOW
start slow python3 slow.py
soon test -s slow.up
near_only slow
"$berth" files add slow "http://127.0.0.1:$(cat slow.up)/slow" --store web --size 7 --hash "$(hash_of www/pier)" >/dev/null
run "$berth" submit slow.ad
soon test -e asked
coming() { ls near/provider/cache | grep -q new; }
nothing() { ! coming; }
soon coming
"$berth" rm 9 >/dev/null
holds 'of a job that is removed while its data comes nothing stays' soon nothing
run "$berth" files frob
says 'what files cannot do is told with what it can' 2 '' "*files: there is no command 'frob'; the commands are list, show, add, get, rm, dataset, keep, copies, check and repair"
run "$berth" files show
says 'and what a verb wants' 2 '' '*files show wants the name of a file'
kill $web
wait $web 2>/dev/null
rm -f near/provider/cache/data-*
cp books/land.txt se1/gone
near_only gone
"$berth" files add gone "http://127.0.0.1:$port/gone" --store web --size 7 --hash "$(hash_of books/land.txt)" >/dev/null
"$berth" files add gone "file://$work/books/land.txt" --store se2 --size 7 --hash "$(hash_of books/land.txt)" >/dev/null
run "$berth" submit gone.ad
holds 'stores that are down, and folders that are not for jobs, give nothing' eval '! job 10'
run "$berth" job 10
holds 'and both are named' eval 'grep -q "InputData .gone.: .*se2: .*web: " out'
run "$berth" rm 10
"$berth" files add gone "file://$work/se1/gone" --store se1 --size 7 --hash "$(hash_of books/land.txt)" >/dev/null
stop other
run "$berth" submit gone.ad
holds 'with one catalogue down jobs go on' job 11
stop state
run "$berth" submit gone.ad
holds 'with none of them a job is not taken' [ $status = 3 ]
holds 'and it is said why' grep -q "InputData: 'gone': no catalogue answers: catalogue $work/state/matchmaker.sock: does not answer; catalogue $work/other/matchmaker.sock: does" err

echo "1..$count"
[ $failures = 0 ]
