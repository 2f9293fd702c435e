#!/bin/bash
# copies_live_test.sh SERVER: a file is kept in a number of stores: its owner's customer makes up for copies that are lost. Real daemons, real HTTP
# servers (SERVER takes files), a folder; stores that are down, that have lost a file or have another, that take nothing, that are somebody else's.
# Prints TAP.
set -u
berth=${BERTH:?the program}
server=$(realpath "${1:?the program that takes files}")
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid
export BERTH_STATE=$work/state BERTH_CONFIG=$work/berth.ad

soon() {
  for _ in $(seq 400); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  return 1
}
start() {
  : >"$1.out"
  setsid "${@:2}" >"$1.out" 2>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
stop() { kill -KILL -- "-$(cat "$1.pid")"; }
# store NAME PORT: an HTTP server on that port (0: a free one, which is in NAME.port then).
store() {
  mkdir -p "$1/data"
  start "$1" "$server" "$work/$1" "$2"
  soon grep -q '^port' "$1.out" || { echo "Bail out! $1 does not start" && exit 1; }
  sed -n 's/^port //p' "$1.out" >"$1.port"
}
# stands NAME COPIES THERE WHY: so the customer says, and so much of the reason.
stands() { "$berth" files copies --format 'Name Copies There Why' | grep -qE "^$1 $2 $3 $4"; }
# whole NAME COPIES THERE
whole() { stands "$1" "$2" "$3" 'undefined$'; }
replicas() { [ "$("$berth" files show "$1" --long | grep -o 'Url = ' | wc -l)" = "$2" ]; }
# metric NAME VALUE, of the customer
metric() { curl -s -m 10 --unix-socket state/customer/customer.sock http://customer/metrics | grep -qxF "$1 $2"; }

# failed: tries that failed are counted.
failed() { ! metric 'berth_copies_total{result="failed"}' 0; }

for name in one two three full; do store $name 0; done
mkdir disk
owner=machine/depot
cat >berth.ad <<A
[ Networks = {"127.0.0.0/8"}; StoreFolders = {"$work/disk"}; StoreOwners = {"$owner"}; TransferPatience = 6; TransferStall = 20; CopiesPeriod = 1 ]
A
common='Type = "Storage"; Constraint = other.Type == "Transfer"; Host = "127.0.0.1"'
for name in one two three; do
  echo "[ Name = \"$name\"; $common; Protocol = \"http\"; Port = $(cat $name.port); Path = \"/data\" ]"
done >stores.ad
cat >>stores.ad <<A
[ Name = "full"; $common; Protocol = "http"; Port = $(cat full.port); Path = "/none" ]
[ Name = "picky"; $common; Protocol = "file"; Path = "$work/disk/picky"; Accepts = other.Size > 1000000 ]
[ Name = "disk"; $common; Protocol = "file"; Path = "$work/disk/a" ]
[ Name = "back"; $common; Protocol = "file"; Path = "$work/disk/b" ]
A
: >full/none # so nothing can be put there
start pool "$berth" pool --listen 127.0.0.1:0
soon grep -q 'To end it' pool.out
(umask 077 && mkdir -p depot/provide elses/provide)
"$berth" token create --subject $owner --scope 'ad:read ad:write claim' --lifetime 1d --out depot/provide/token >/dev/null
"$berth" token create --subject mallory --scope 'ad:read ad:write claim' --lifetime 1d --out elses/provide/token >/dev/null
"$berth" token create --subject mallory --scope 'ad:read ad:write claim' --lifetime 1d --out mallory.token >/dev/null
start depot "$berth" provide --state "$work/depot" stores.ad
there() { [ "$("$berth" ads -c 'Type == "Storage"' --json | wc -l)" = "$1" ]; }
check 'the stores are ads of the pool' soon there 7

# ---- a copy is missing from the beginning
seq 1000 >land.txt
"$berth" files add land land.txt --store one >add.out 2>&1
keep() { "$berth" files keep "$@" >keep.out 2>keep.err; }
check 'copies of a file are asked for, and in which stores' keep land 2 one two three
said() { [ "$(cat keep.out)" = 'land: 2 copies are kept' ]; }
check 'which is said' said
shown() { "$berth" files show land | grep -qx '  copies 2 at one, two, three'; }
check 'and shown with the file' shown
check 'the owner'"'"'s customer makes the copy that is missing' soon whole land 2 2
check 'in the store that was named next' cmp land.txt two/data/land
check 'and not in more' [ ! -e three/data/land ]
check 'the catalogue has it' replicas land 2
check 'the log says where it was put' grep -q "event=copies.made .*name=land store=two url=http://127.0.0.1:$(cat two.port)/data/land" state/log/customer.log
check 'copies that were made are counted' soon metric 'berth_copies_total{result="made"}' 1
check 'and files of which copies are kept' metric berth_copies_files 1
check 'nothing of it is left at the customer' [ -z "$(find state/customer/copies -type f)" ]

# ---- a store is away
stop one
check 'a store that is down is told' soon stands land 2 1 'one: '
check 'with the log' soon grep -q 'event=copies.lacking .*name=land wanted=2 there=1 why="one: ' state/log/customer.log
check 'and not made up for at once: it may only be restarted' [ ! -e three/data/land ]
check 'what lacks copies is counted' soon metric berth_copies_lacking 1
check 'when it is away for long, the next store gets the copy' soon whole land 2 2
check 'from the one that is left' cmp land.txt three/data/land
check 'the catalogue has all three' replicas land 3
store one "$(cat one.port)"
check 'when the first is back there is one too many' soon whole land 2 3
check 'which stays: nobody has asked to delete it' cmp land.txt one/data/land

# ---- a store has lost a file, or has another
rm one/data/land two/data/land
check 'what is gone from its stores is put there again' soon whole land 2 2
again() { cmp land.txt one/data/land || cmp land.txt two/data/land; }
check 'with its bytes' again
check 'and entered no second time' replicas land 3
keep land 3 one two three
check 'more copies are asked for' soon whole land 3 3
head -c 10 land.txt >three/data/land
check 'a file that is cut is found, and put right' soon cmp land.txt three/data/land
cp land.txt land.said
"$berth" files add land.said land.said --store disk >add.out 2>&1
cp land.txt one/data/land.said # of which the server says another hash
"$berth" files add land.said "http://127.0.0.1:$(cat one.port)/data/land.said" --store one >add.out 2>&1
keep land.said 2 disk one back
check 'so is one of which the server tells another hash: it does not count' soon cmp land.txt disk/b/land.said
check 'with it there are enough' soon whole land.said 2 2

# ---- nobody can take it
seq 7 >sea.txt
"$berth" files add sea sea.txt --store one >add.out 2>&1
keep sea 2 one full
check 'a store that does not take it is named, with its answer' soon stands sea 2 1 'full: 127.0.0.1 answers [45]'
check 'a try that failed is counted' failed
keep sea 2 one picky
check 'one that takes no such files is named' soon stands sea 2 1 'the store picky does not take it'
keep sea 2 one nowhere
check 'and one that is not there' soon stands sea 2 1 'the pool knows no store nowhere'
keep sea 2 one disk
check 'a folder serves as well' soon whole sea 2 2
check 'with the file' cmp sea.txt disk/a/sea
rm one/data/sea disk/a/sea
check 'a file of which nothing is left is told' soon stands sea 2 0 '.*'
rm_says() { "$berth" files show sea >show.out && grep -q 'in *one' show.out; }
check 'and its entry stays' rm_says
keep sea 0
gone() { ! "$berth" files copies --format Name | grep -qx sea; }
check 'with 0 nobody looks after it any more' soon gone
wished() { ! "$berth" files show sea | grep -q copies; }
check 'and nothing is shown' wished

# ---- something lies where the copy would go
# lies NAME FILE: that file lies under the name in the store two; a file of 9 bytes is to have a copy there or in three.
lies() {
  cp "$2" two/data/$1
  "$berth" files add $1 rain.txt --store one >add.out 2>&1
  keep $1 2 one two three
}
echo 'rain ...' >rain.txt
echo 'a longer text' >longer.txt
echo 'snow ...' >snow.txt
lies rain longer.txt
check 'another file that lies where a copy would go is told, and the next store gets it' soon whole rain 2 2
check 'with its bytes' cmp rain.txt three/data/rain
check 'what lay there stays' cmp longer.txt two/data/rain
lies snow snow.txt
check 'also where it is as long, and the store does not say what it is' soon whole snow 2 2
check 'with the bytes that are right' cmp rain.txt three/data/snow
check 'and what lay there stays, too' cmp snow.txt two/data/snow
lies hail rain.txt
check 'where the file itself lies already' soon whole hail 2 2
check 'it is entered' [ ! -e three/data/hail ]
check 'and not sent' [ "$(grep -c 'put data/hail' two.out)" = 0 ]
"$berth" files add fog rain.txt --store one >add.out 2>&1
cp longer.txt two/data/fog
keep fog 2 one two
check 'where no other store is named it is said what is in the way' soon stands fog 2 1 'two: another file lies there: it has 14 bytes, not 9'

# ---- a replica that nobody may see
"$berth" files add dew rain.txt --store one >add.out 2>&1
"$berth" files add dew "file:///elsewhere/dew" --size 9 --hash "sha256:$(sha256sum rain.txt | cut -c 1-64)" --store disk >>add.out 2>&1
"$berth" files add mist rain.txt --store one >>add.out 2>&1
"$berth" files add mist rain.txt --store disk >>add.out 2>&1
keep mist 2 one disk
check 'a file is in two stores' soon whole mist 2 2
keep dew 2 one disk three
check 'of another one a replica cannot be seen, as it lies elsewhere than the store says' soon stands dew 2 1 'disk: file:///elsewhere/dew: it is beneath none of StoreFolders'
check 'that is made up for when it has lasted' soon whole dew 2 2
check 'in another store' cmp rain.txt three/data/dew
check 'and says nothing of other files in that store' [ "$(grep -c 'event=copies.lacking .*name=mist' state/log/customer.log)" = 0 ]

# ---- a replica that is there, and is none of the copies
"$berth" files add brook rain.txt --store one >add.out 2>&1
cp rain.txt two/data/brook.elsewhere
"$berth" files add brook "http://127.0.0.1:$(cat two.port)/data/brook.elsewhere" --store nobodys >>add.out 2>&1
keep brook 2 one three
check 'where stores are named, a replica in another one is none of the copies' soon whole brook 2 2
check 'and one is made' cmp rain.txt three/data/brook
mkdir -p full/elsewhere && cp rain.txt full/elsewhere/pond
"$berth" files add pond rain.txt --store one >add.out 2>&1
"$berth" files add pond "http://127.0.0.1:$(cat full.port)/elsewhere/pond" --store two >>add.out 2>&1
keep pond 2 one two
check 'nor is one under the name of such a store, that lies elsewhere than the store keeps files' soon stands pond 2 1 '.*two: its replica lies elsewhere'
keep pond 2 one two three
check 'another of the named stores gets it' soon whole pond 2 2
check 'with its bytes' cmp rain.txt three/data/pond

# ---- the catalogue does not take it
for i in $(seq 31); do echo "[Store = \"x$i\"; Url = \"http://127.0.0.1:$(cat one.port)/data/x$i\"],"; done >many
url=$(sed -n 's/.*\(http[^ ]*127.0.0.1:[0-9]*\).*/\1/p' pool.out | head -n 1)
"$berth" files add ice rain.txt --store one >add.out 2>&1
for i in $(seq 31); do "$berth" files add ice "http://127.0.0.1:$(cat one.port)/data/x$i" --size 9 --hash "sha256:$(sha256sum rain.txt | cut -c 1-64)" --store x$i >>add.out 2>&1; done
keep ice 2
check 'of a file whose entry is full no copy is made' soon stands ice 2 1 'it has 32 replicas, which is as many as an entry has'
nowhere() { ! ls disk/*/$1 two/data/$1 three/data/$1 2>/dev/null; }
check 'not in any store' nowhere ice
mkdir -m 700 -p bobs/customer
"$berth" token create --subject bob --scope 'ad:read ad:write claim match job:submit job:own' --lifetime 1d --out bobs/customer/token >/dev/null
"$berth" token create --subject bob --scope 'ad:read' --lifetime 1d --out bob.reads >/dev/null
"$berth" files add frost rain.txt --store one --owner bob >add.out 2>&1
"$berth" files keep frost 2 --token bobs/customer/token --pool "$url" >keep.out 2>keep.err
BERTH_CATALOGUES=$url BERTH_CATALOGUE_TOKENS=$work/bob.reads start bobs "$berth" customer --state "$work/bobs" --set "Matchmakers={ \"$url\" }"
check 'a customer whose entry is not taken says so' soon grep -q 'event=copies.lacking .*name=frost wanted=2 there=1 why="[a-z]*: catalogue .*(403)' bobs.err
sleep 3
check 'and has put the file into one store: the others do not get it' [ "$(ls disk/*/frost two/data/frost three/data/frost 2>/dev/null | wc -l)" = 1 ]
stop bobs

# ---- somebody else's
echo "[ Name = \"a-store\"; $common; Protocol = \"file\"; Path = \"$work/disk/theirs\" ]" >elses.ad
start elses "$berth" provide --state "$work/elses" elses.ad
check 'anybody may advertise a store' soon there 8
keep land 4 one two three a-store
check 'one of somebody whose stores are not used gets nothing' soon stands land 4 3 'the store a-store is of somebody whose stores are not used here'
check 'not a byte' [ ! -e disk/theirs ]
theirs() { ! "$berth" files keep land 1 --token mallory.token --pool "$(sed -n 's/.*\(http[^ ]*127.0.0.1:[0-9]*\).*/\1/p' pool.out | head -n 1)" 2>keep.err && grep -q "this file is .*'s" keep.err; }
check 'others do not say how many copies there are to be' theirs
keep land 4 one two three
check 'stores that are too few are refused' grep -q 'CopiesAt: 3 stores cannot have 4 copies' keep.err

# ---- datasets; any store
for i in 1 2 3; do seq $i 100 >f$i && "$berth" files add set/f$i f$i --store one >>add.out 2>&1; done
"$berth" files dataset shelf --prefix set/ >>add.out
keep shelf 2
check 'copies of all files of a dataset are asked for' grep -qx 'shelf: 3 files, 2 copies are kept' keep.out
all() { for i in 1 2 3; do whole set/f$i 2 2 || return; done; }
check 'in any store that takes them' soon all
check 'which is the first by its name' cmp f2 disk/b/set/f2

# ---- many stores that take nothing
for i in $(seq -w 40); do echo "[ Name = \"a-bad-$i\"; $common; Protocol = \"http\"; Port = $(cat full.port); Path = \"/none/$i\" ]"; done >bad.ad
(umask 077 && mkdir -p bad/provide && cp depot/provide/token bad/provide/)
start bad "$berth" provide --state "$work/bad" --set AgentName=bad bad.ad
check 'a pool may have many stores that take nothing' soon there 48
"$berth" files add wind rain.txt --store one >add.out 2>&1
keep wind 2
check 'a file is tried in a few of them' soon grep -q 'event=copies.lacking .*name=wind .*why="a-bad-03: ' state/log/customer.log
check 'and in all of them, round by round, until one takes it' soon whole wind 2 2
check 'that is none of those' cmp rain.txt disk/b/wind
check 'and the customer has not ended over it' [ "$(grep -c 'event=started' state/log/customer.log)" = 1 ]

# ---- a customer that is killed
keep land 3 one two three
rm two/data/land
kill -KILL "$(sed -n 's/ *customer *process \([0-9]*\),.*/\1/p' pool.out)"
check 'a customer that is killed goes on after its restart' soon cmp land.txt two/data/land
echo "1..$count"
[ $failures = 0 ]
