#!/bin/sh
# pool_cli_test.sh: the commands that talk to a pool, against a real matchmaker: every form of output, by its Unix socket and by
# TCP with tokens, and what is said when there is no pool. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# ------------------------------------------------------------------------------------------------------ without a pool

run "$berth" status
expect 'without a matchmaker the status is 3, and it is said where one was looked for' 3 '' \
  "berth: no matchmaker runs here ($work/state/matchmaker.sock); --pool URL, \$BERTH_POOL or the setting Matchmakers name another"
for command in 'ads' 'ads x' 'agents' 'matches' 'claims' 'users' 'users x' 'users x --factor 2' 'why x' 'query true' 'token create' \
  'token list' 'token code' 'token revoke 00000000000000000000000000000000'; do
  # shellcheck disable=SC2086 # words
  run "$berth" $command --pool http://127.0.0.1:1
  says "$command ends with 3 when the pool cannot be reached" 3 '' 'berth: http://127.0.0.1:1: *'
done
run "$berth" status --pool unix:"$work/none.sock"
expect 'a socket where nobody listens is told by its name' 3 '' "berth: no matchmaker runs there: $work/none.sock"
run "$berth" status --pool ftp://127.0.0.1
says 'a pool is at an address of http, https or unix' 2 '' 'berth: --pool: *http*'
run "$berth" status --pool 'http://127.0.0.1:1/?a=b'
expect 'an address of a pool has no query' 2 '' 'berth: --pool: the address of a pool has no query'
run env BERTH_POOL=nowhere "$berth" status
says 'a bad $BERTH_POOL is named' 2 '' 'berth: BERTH_POOL: *'
mkdir -m 755 open
run timeout 20 "$berth" matchmaker --state "$work/open" --listen 127.0.0.1:0
says 'a state folder that others may enter is refused, and what to do is said' 2 '' "berth: $work/open: others may enter the folder*chmod 700 $work/open"
holds 'nothing was made in it' [ -z "$(ls -A open)" ]
mkdir -m 700 half && mkdir -m 755 half/provider
run timeout 20 "$berth" provider --state "$work/half"
says 'so is a folder of a provider' 2 '' "berth: $work/half/provider: others may enter the folder*chmod 700 $work/half/provider"
run "$berth" join
expect 'join wants a code' 2 '' 'berth: join wants one CODE, as `berth token code` prints it, or --code-file FILE'
printf '  berth-AAAA\n' >code
run "$berth" join --code-file code
says 'a code is read from a file' 2 '' 'berth: *code*'
run "$berth" join --code-file none.code
says 'which must be there' 2 '' 'berth: none.code: the code cannot be read: *'
run "$berth" status --token none.token
says 'a token file that is not there is named' 2 '' 'berth: none.token: *'

# ---------------------------------------------------------------------------------------------------------- wrong usage

run "$berth" status now
expect 'status takes no words' 2 '' 'berth: status takes no arguments, only options'
run "$berth" agents now
expect 'agents takes no words' 2 '' 'berth: agents takes no arguments, only options'
run "$berth" ads --json --long
expect 'two forms at once are refused' 2 '' 'berth: --json and --long cannot be used together'
run "$berth" ads --kind machines
says 'ads are offers or requests' 2 '' "berth: ads: --kind: expected offers or requests, got 'machines' *"
run "$berth" ads --select 'A,,B'
expect 'an attribute has a name' 2 '' 'berth: --select: expected names with commas between'
run "$berth" ads --select a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y
expect 'a table has only so many columns' 2 '' \
  'berth: --select: a table has up to 24 columns; --json and --long have no such limit'
run "$berth" ads x --constraint true
expect 'ids and a constraint exclude each other' 2 '' \
  'berth: ads wants ids or names, or --constraint, --kind and --limit, not both'
run "$berth" ads --limit 0
says 'a limit is at least one' 2 '' "berth: ads: --limit: expected a number from 1 to *, got '0' *"
run "$berth" status --config none.ad
says 'a configuration that is not there is named' 2 '' 'berth: none.ad: *'
run "$berth" users --factor 2
expect 'a factor is one user'\''s' 2 '' 'berth: users wants one NAME at most, and with --factor exactly one'
run "$berth" users a --factor none
says 'a factor is a number' 2 '' "berth: users: --factor: expected a number above 0, got 'none' *"
run "$berth" users a --limit 3
expect 'one user is not limited' 2 '' 'berth: users NAME is one user: --constraint and --limit are for all'
run "$berth" why
expect 'why wants files or an id' 2 '' \
  'berth: why wants -r FILE with the requests and -o FILE with the offers, or the id of one ad in the pool'
run "$berth" why x --now 0
expect 'what is for files alone is refused with an id' 2 '' \
  'berth: why ID asks the pool: --name, --policy, --dialect, --now, --zone and --seed are for -r and -o'
run "$berth" query -d condor true
expect 'a pool has its own dialect and time' 2 '' \
  'berth: a pool evaluates in the classic dialect and at its own time: --dialect, --now, --zone and --seed are for -o'
run "$berth" query --pool http://127.0.0.1:1 -o x true
expect 'query asks a file or a pool' 2 '' 'berth: -o FILE and --pool URL cannot be used together'
run "$berth" query
expect 'query wants an expression' 2 '' 'berth: query wants one expression, and -o FILE with the ads or a pool'
run "$berth" query 'Memory >'
expect 'an expression that does not parse is refused before a pool is asked' 2 '' \
  'expression:1:9: expected an expression, got the end'
run "$berth" token
expect 'token wants to know what to do' 2 '' 'berth: token wants: create, delegate, show, list, revoke or code'
run "$berth" token lst
expect 'token suggests the nearest word' 2 '' "berth: token: there is no command 'lst'; did you mean 'list'?"
run "$berth" token revoke
expect 'token revoke wants ids' 2 '' 'berth: token revoke wants the ids of tokens'
run "$berth" token create --lifetime soon
says 'a lifetime has a unit' 2 '' "berth: token: --lifetime: expected a span such as 90s, 30min, 12h or 7d, got 'soon' *"
run "$berth" token show
expect 'token show wants a token' 2 '' 'berth: there is no token; --token FILE names one'

# -------------------------------------------------------------------------------------------------------------- a pool

# start FOLDER OPTIONS...: a matchmaker; its address is in $url.
start() {
  folder=$1
  shift
  : >"$folder.out" # or what the one before has said is read
  "$berth" matchmaker --state "$work/$folder" --listen 127.0.0.1:0 "$@" >"$folder.out" 2>"$folder.log" </dev/null &
  pids="$pids $!"
  last=$!
  for _ in $(seq 200); do
    grep -q 'A token for' "$folder.out" && break
    sleep 0.1
  done
  url=$(sed -n 's/^Berth matchmaker is up: //p' "$folder.out")
}
start state --name harbour --set CycleInterval=0.05
pool=$url main=$last
holds 'a matchmaker starts' [ -n "$pool" ]

run "$berth" ads
expect 'a pool without ads has none to list' 0 ''
run "$berth" ads -c true
expect 'when something is asked for and not there, the status is 1' 1 ''
run "$berth" matches --json
expect 'there are no matches yet' 0 ''

socket=$work/state/matchmaker.sock
put() { curl -sS --unix-socket "$socket" -o put.out -w '%{http_code}\n' -X PUT "http://localhost$1" -d "$2"; }
me=$(id -un)
{
  put /v1/ads/heron '[ Name = "heron"; Type = "Machine"; Arch = "X86_64"; Memory = 64 * 1024; Constraint = other.Image < Memory ]'
  put /v1/ads/crane '[ Name = "crane"; Type = "Machine"; Arch = "ARM"; Memory = 512; Constraint = false ]'
  put /v1/ads/big '[ Type = "Job"; Name = "big"; Image = 5; Constraint = other.Memory > 1000000 ]'
  put /v1/agents/deck '[ Host = "pier"; Process = "42"; Version = "0.1.0"; Note = "moored" ]'
} >put.codes
holds 'ads are put in by curl' sh -c '! grep -v "^20[01]$" put.codes'

# ------------------------------------------------------------------------------------------------------ by its socket

run "$berth" status
says 'status tells of the matchmaker in words' 0 "Berth matchmaker harbour, version [0-9]*, up for *s
  address        $pool
  pool           ????????????????????????????????
  process        $main, incarnation ????????????????
  agents         2, streams 0
  ads            3
  claims         0
  matches        0 in * cycles
  notifications  0 waiting, 0 given up" ''
run "$berth" status --json
json 'status --json is one object' 0 'len(rows) == 1 and rows[0]["Name"] == "harbour" and rows[0]["Ads"] == 3 and rows[0]["Up"] > 0'
run "$berth" status --long
holds 'status --long is the ad' sh -c 'grep -qx "Type = \"Matchmaker\"" out && grep -qx "Ads = 3" out'

run "$berth" ads
says 'ads prints a row an ad' 0 "ID     NAME   TYPE     OWNER* HEARD
heron  heron  Machine  $me * [0-9]*s
crane  crane  Machine  $me * [0-9]*s
big    big    Job      $me * [0-9]*s" ''
run "$berth" ads --kind offers --select 'Name, Memory'
expect '--select makes its own columns, of values' 0 'NAME   MEMORY
heron   65536
crane     512'
run "$berth" ads -c 'Memory > 1000' --json
json '--json prints the ads themselves, a line each' 0 \
  'len(rows) == 1 and rows[0]["Arch"] == "X86_64" and rows[0]["Memory"] == "\\/Expr(64 * 1024)\\/".replace("\\","")'
run "$berth" ads --kind requests --long --select Name,Image
expect '--long prints them in the long form' 0 'Name = "big"
Image = 5
'
run "$berth" ads --limit 2 --json --select Name
expect '--limit lists so many' 0 '{"Name": "heron"}
{"Name": "crane"}'
run "$berth" ads crane nobody heron --select Name,Arch
expect 'ads are found by their ids; the status is 1 when one is not there' 1 'NAME   ARCH
crane  ARM
heron  X86_64' 'berth: nobody: there is no such ad'
put /v1/ads/0a0a0a0a0a0a0a0a '[ Name = "tern \"two\""; Type = "Machine"; Constraint = false ]' >put.code
run "$berth" ads 'tern "two"'
says 'or else by their names' 0 "ID                NAME        TYPE     OWNER* HEARD
0a0a0a0a0a0a0a0a  tern ?two?  Machine  $me * [0-9]*s" ''
run "$berth" ads 0a0a0a0a0a0a0a0a 'tern "two"' nobody heron --json --select Memory
expect 'of either sort, one after another' 1 '{"AdId": "0a0a0a0a0a0a0a0a"}
{}
{"Memory": "\/Expr(64 * 1024)\/", "AdId": "heron"}' 'berth: nobody: there is no such ad'
run curl -sS --unix-socket "$socket" -X DELETE http://localhost/v1/ads/0a0a0a0a0a0a0a0a
run "$berth" ads 'a/b ?%#'
says 'an id with odd characters is asked for as it is' 1 '' 'berth: a/b ?%#: *'
run "$berth" ads -c 'Memory > 1000000000'
expect 'a constraint that nothing fulfils gives the status 1' 1 ''
run "$berth" ads -c 'Memory >'
expect 'a constraint that does not parse is refused' 2 '' 'berth: constraint: 1:9: expected an expression, got the end'

run "$berth" agents
says 'agents prints the roster' 0 "IDENTITY * NAME  HOST  PROCESS  VERSION  SINCE  HEARD  CONTACT  STREAM  DRAINING  ADS  AGENT             NOTE    REFUSED
$me *s *s * none     false * 3  ????????????????  *
$me * deck  pier  42       0.1.0 *s *s * none     false * 0  ????????????????  moored *" ''
run "$berth" agent deck drain
expect 'an agent that is no provider takes no commands' 1 '' "berth: the pool knows no agent 'deck' that takes commands; \`berth agents\` lists them, and one that has been away since the pool started is named with --identity"
run "$berth" agent deck
expect 'agent wants a command' 2 '' 'berth: agent wants the name of an agent, and drain, resume or status'
run "$berth" agent deck resume --now
expect 'only drain can be at once' 2 '' 'berth: --now is for drain'
run "$berth" commands
says 'commands lists none' 0 '' ''
run "$berth" commands 5
expect 'commands takes no words' 2 '' 'berth: commands takes no arguments, only options'
run "$berth" agents --json -c 'Name == "deck"'
json 'agents --json has spans in seconds' 0 \
  'len(rows) == 1 and rows[0]["host"] == "pier" and 0 <= rows[0]["heard"] <= rows[0]["since"] < 60 and rows[0]["stream"] is False'
run "$berth" agents --long -c 'Name == "deck"'
holds 'agents --long prints all that is known' grep -qx 'Letters = 0' out
run "$berth" agents -c 'Name == "bridge"'
expect 'an agent that is not there gives the status 1' 1 ''

run "$berth" why big
says 'why explains a request that matches nothing' 1 "*: waits for a machine that fits: none of the 2 that are known would, even when idle.
The matchmaker began * ago, and may not have heard of all machines yet.
     alone     left  clause
         0        0  other.Memory > 1000000
No offer satisfies other.Memory > 1000000; without that, 1 would match.
1 offer refuses it:
         1           false  (the state of the offer itself)
It would match
         1           without other.Memory > 1000000" ''
run "$berth" why big --json
json 'why --json is the JSON form' 1 'rows[0]["version"] == 1 and rows[0]["verdict"] == "not-now" and rows[0]["offers"] == 2'
run "$berth" why nobody
expect 'why of an ad that is not there is no' 1 '' 'berth: nobody: there is no such ad'
run "$berth" why crane
holds 'why explains an offer to its owner' sh -c \
  '[ '$status' = 1 ] && head -n 1 out | grep -q ": can never match" && grep -qx "It refuses everybody in its present state." out'

run "$berth" query 'Arch == "ARM"'
expect 'query asks the pool when no file is named' 0 'NAME
crane'
run "$berth" query --json 'other.Memory > 0'
expect 'query --json prints names' 0 '{"name": "heron"}
{"name": "crane"}'
run "$berth" query --long 'Image == 5'
holds 'query --long prints the ads' grep -qx 'Constraint = other.Memory > 1000000' out
run "$berth" query 'Arch == "VAX"'
expect 'a query without an answer has the status 1' 1 ''

curl -sS --unix-socket "$socket" -o put.out -X PUT http://localhost/v1/ads/swan -H 'Content-Type: application/classad; dialect=condor' \
  -d "[ Name = \"swan\"; 'odd name' = 3; Requirements = TARGET.Image =?= 3 ]"
run "$berth" ads --json -c 'Name == "swan"'
json 'ads of the condor dialect are listed with the others' 0 'len(rows) == 1 and rows[0]["odd name"] == 3'
run "$berth" ads swan --json
json 'and found by their ids' 0 'len(rows) == 1 and rows[0]["odd name"] == 3'
curl -sS --unix-socket "$socket" -X DELETE http://localhost/v1/ads/swan

put /v1/ads/small '[ Type = "Job"; Name = "small"; Image = 5; Constraint = other.Memory > 10 ]' >put.codes
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  run "$berth" matches
  [ -s out ] && break
  sleep 0.1
done
says 'matches tells who got what' 0 "REQUEST  OFFER  OWNER* PROVIDER* AGE  CLAIM             PORT  JOB
small    heron  $me * $me *s * ????????????????*" ''
run "$berth" matches --json
json 'matches --json has the ids and the age' 0 \
  'len(rows) == 1 and (rows[0]["request"], rows[0]["offer"]) == ("small", "heron") and 0 <= rows[0]["age"] < 60'
run "$berth" matches --long
holds 'matches --long has the gang too' grep -q '^Gang = "' out
run "$berth" claims
says 'claims tells of those that are expected' 0 "CLAIM * JOB  OWNER* PROVIDER* STATE* REASON  AGE  USED
???????????????? * $me * expected *s * 0s" ''
run "$berth" claims --json -c 'State == "expected"'
json 'claims --json has null for what is not there' 0 'len(rows) == 1 and rows[0]["reason"] is None and rows[0]["owner"] == "'"$me"'"'
run "$berth" claims --long
holds 'claims --long is ads' grep -qx 'State = "expected"' out

run "$berth" users alice --factor 4
expect 'a factor is set, and the user told' 0 'NAME   USAGE  FACTOR  PRIORITY  CLAIMS
alice      0       4         2       0'
run "$berth" users
holds 'users are listed' sh -c '[ "$(wc -l <out)" = 3 ] && grep -q "^NAME  *USAGE  FACTOR  PRIORITY  CLAIMS$" out &&
  grep -q "^alice  *0  *4  *2  *0$" out'
run "$berth" users alice --json
expect 'users --json has numbers' 0 '{"name": "alice", "usage": 0.0, "factor": 4.0, "priority": 2.0, "claims": 0}'
run "$berth" users machine/pier --factor 2 --json
json 'a name may have parts' 0 'rows[0]["name"] == "machine/pier"'
run "$berth" users nobody
expect 'a user of whom nothing is known is no' 1 '' 'berth: nobody: nothing is known of that user'
run "$berth" users alice --long
holds 'users --long is the ad' grep -qx 'Factor = 4.0' out
run "$berth" users alice --factor 1e12
says 'a factor out of bounds is refused by the pool' 2 '' 'berth: alice: Factor: *'

# ---------------------------------------------------------------------------------------------------------------- tokens

run "$berth" token create --subject alice --scope 'ad:read match' --lifetime 1h --out alice.token
says 'token create --out writes a file and tells of it' 0 "subject    alice
scope      ad:read match
role       reader
audience   ????????????????????????????????
pool       $pool
issued     *s ago
expires    in [1-9]* [hmd]*
delegable  yes
id         ????????????????????????????????
file       alice.token" ''
holds 'which only its owner may read' sh -c '[ "$(stat -c %a alice.token)" = 600 ]'
"$berth" token create --scope 'ad:read admin' --no-delegation >admin.token 2>err
chmod 600 admin.token
run "$berth" token show admin.token --json
json 'token create without --out prints the file, of oneself and without a key if so asked' 0 \
  'rows[0]["subject"] == "'"$me"'" and rows[0]["delegable"] is False and rows[0]["scope"] == "ad:read admin" and rows[0]["links"] == 1'
run "$berth" token create --subject bob --out bob.token --json
json 'token create --json tells of it in JSON; its scope is ad:read unless said' 0 \
  'rows[0]["file"] == "bob.token" and rows[0]["scope"] == "ad:read" and 86000 < rows[0]["expires"] - rows[0]["issued"] < 87000'
run "$berth" token create --scope 'ad:eat'
says 'a scope that there is not is refused' 2 '' 'berth: Scope: *'
run "$berth" token create --subject 'a b'
says 'so is a subject that is none' 2 '' 'berth: *'
run "$berth" token create --subject carol --out none/carol.token
says 'and a folder that is not there, before a token is made' 2 '' 'berth: none/carol.token: *'

run "$berth" token delegate --scope ad:read --lifetime 10min --subject-suffix job7 --out narrow.token alice.token
says 'token delegate makes a narrower one, without asking' 0 "subject    alice/job7
scope      ad:read
audience   *
pool       $pool
issued     *s ago
expires    in [1-9]* [hmd]*
delegable  yes
id         ????????????????????????????????
then       ????????????????????????????????
file       narrow.token" ''
run "$berth" token delegate --scope 'ad:read admin' alice.token
says 'but never a wider one' 2 '' 'berth: *'
run "$berth" token delegate --token admin.token
expect 'nor from a token without a key' 2 '' 'berth: this token was made without a key, and cannot be delegated'
run "$berth" token delegate --scope 'ad:eat' alice.token
expect 'nor for a scope that there is not' 2 '' 'berth: --scope: expected names of scopes with blanks between'
"$berth" token delegate --no-delegation alice.token >last.token 2>err
chmod 600 last.token
run "$berth" token show last.token --json
json 'token delegate --no-delegation makes a last one' 0 'rows[0]["links"] == 2 and rows[0]["delegable"] is False'
run "$berth" token show narrow.token
says 'token show tells what a file says' 0 "subject    alice/job7
scope      ad:read
audience   *
pool       $pool
issued     * ago
expires    in [1-9]* [hmd]*
delegable  yes
id         *
then       *
file       narrow.token" ''
cp alice.token open.token
chmod 644 open.token
run "$berth" token show open.token
says 'a token file that others can read is refused' 2 '' 'berth: open.token: *'

run "$berth" token list
holds 'token list prints the tokens that were made' sh -c \
  'head -n 1 out | grep -q "^ID  *SUBJECT  *SCOPE  *ISSUED  EXPIRES  DELEGABLE  BY  *REVOKED  ROLE *$" &&
   grep -q " alice  *ad:read match  [0-9]*s  *[0-9]*[mh][0-9]*[sm]  *true .* false  *reader *$" out && [ "$(wc -l <out)" = 4 ]'
run "$berth" token list --json -c 'Subject == "alice"'
json 'token list --json has times in seconds since 1970' 0 'len(rows) == 1 and rows[0]["expires"] - rows[0]["issued"] == 3600'
alice=$(sed 's/.*"id": "\([0-9a-f]*\)".*/\1/' out)
run "$berth" token list --long -c 'Subject == "bob"'
holds 'token list --long prints ads' grep -qx 'Subject = "bob"' out
run "$berth" token code
says 'token code prints a code alone' 0 'berth-*' ''
run "$berth" token code --json
json 'token code --json says until when' 0 'rows[0]["code"].startswith("berth-") and rows[0]["expires"] > 1e9'

# --------------------------------------------------------------------------------------------------- by TCP, with tokens

run "$berth" status --pool "$pool"
expect 'by TCP a token is needed' 2 '' 'berth: a good token is needed; --token FILE or $BERTH_TOKEN names one'
run "$berth" status --pool "$pool" --token alice.token --json
json '--token shows one' 0 'rows[0]["Url"] == "'"$pool"'"'
run env BERTH_POOL="$pool" BERTH_TOKEN="$work/alice.token" "$berth" ads --select Name
expect 'so do $BERTH_POOL and $BERTH_TOKEN; others'\'' requests are not seen' 0 'NAME
heron
crane'
run "$berth" ads --token narrow.token --select Name --json
expect 'a token file that is named knows its pool; a delegated one is good' 0 '{"Name": "heron"}
{"Name": "crane"}'
run "$berth" why heron --pool "$pool/" --token alice.token
holds 'a slash behind the address does no harm' sh -c '[ '$status' -le 1 ] && grep -q "matches" out'
run "$berth" why heron --pool "$pool" --token narrow.token
expect 'what a token does not allow is refused' 2 '' 'berth: heron: the token does not have the scope that this needs: match'
run "$berth" query --pool "$pool" --token last.token 'Memory > 1000'
expect 'query asks by TCP as well' 0 'NAME
heron'
run "$berth" agents --pool "$pool" --token admin.token --json
json 'agents by TCP' 0 'len(rows) == 2'
run "$berth" matches --pool "$pool" --token admin.token --json
json 'an administrator sees all matches' 0 'len(rows) == 1'
run "$berth" matches --pool "$pool" --token alice.token --json
expect 'others their own' 0 ''
run "$berth" claims --pool "$pool" --token admin.token --json
json 'claims by TCP' 0 'len(rows) == 1'
run "$berth" users alice --factor 3 --pool "$pool" --token alice.token
expect 'who is no administrator sets no factor' 2 '' 'berth: alice: the token does not have the scope that this needs: operate admin'
run "$berth" users --pool "$pool" --token admin.token --json -c 'Name == "alice"'
json 'users by TCP' 0 'rows[0]["factor"] == 4'
run "$berth" token list --pool "$pool" --token admin.token --json
json 'tokens by TCP' 0 'len(rows) == 3'
run "$berth" status --token alice.token --pool unix:"$socket" --json
json 'a token that is named is shown on a socket too' 0 'len(rows) == 1'
run "$berth" token create --token alice.token --pool unix:"$socket"
says 'and counts there' 2 '' 'berth: the token does not have the scope that this needs: operate admin'

cp alice.token state/token
run "$berth" ads --pool "$pool" --json --select Name
expect 'the token in the state folder is found' 0 '{"Name": "heron"}
{"Name": "crane"}'
run "$berth" ads --kind requests --json --select Name -c 'Name == "big"'
expect 'on the socket it is not shown: there one is oneself' 0 '{"Name": "big"}'
mv state/token config/berth/token
echo "[ Matchmakers = { \"http://127.0.0.1:1\", \"$pool\" } ]" >config/berth/berth.ad
run "$berth" ads --json --select Name
expect 'the setting Matchmakers names the pool, the first that answers; a token may lie beside it' 0 '{"Name": "heron"}
{"Name": "crane"}'
echo '[ Matchmakers = { "http://127.0.0.1:1", "http://127.0.0.1:2" } ]' >config/berth/berth.ad
run "$berth" ads
says 'when none of them answers, each is told' 3 '' 'berth: http://127.0.0.1:1: *
berth: http://127.0.0.1:2: *'
rm config/berth/berth.ad config/berth/token
echo "[ State = \"$work/state\" ]" >other.ad
run env -u BERTH_STATE "$berth" status --config other.ad --json
json '--config names the state folder' 0 'rows[0]["Name"] == "harbour"'
run env BERTH_STATE="$work/none" "$berth" status --state "$work/state" --json
json '--state does' 0 'rows[0]["Name"] == "harbour"'

sed 's/v4\.public\.eyJpc3Mi/v4.public.eyJpc3Mj/' alice.token >bad.token
chmod 600 bad.token
run "$berth" status --pool "$pool" --token bad.token
says 'a token file that was changed is refused' 2 '' 'berth: *bad.token: *'
run "$berth" status --pool http://192.0.2.1:7600 --token bob.token
expect 'a token is not sent in the clear over a network' 2 '' \
  'berth: http://192.0.2.1:7600: no token is sent there, for the connection is not encrypted'
run "$berth" token revoke "$alice"
expect 'a token is revoked' 0 ''
run "$berth" token list -c Revoked --json
json 'which the list tells' 0 'len(rows) == 1 and rows[0]["subject"] == "alice"'
run "$berth" status --token alice.token
expect 'it is not good any more' 2 '' 'berth: a good token is needed'
run "$berth" status --token narrow.token
expect 'nor is what was delegated from it' 2 '' 'berth: a good token is needed'
run "$berth" status --token bob.token --json
json 'others are' 0 'len(rows) == 1'
run "$berth" token revoke abc
says 'an id is not any text' 2 '' 'berth: abc: *'
"$berth" token create --subject wanderer --out wanderer.token >/dev/null
"$berth" token create --subject wanderer --out wanderer2.token >/dev/null
run "$berth" token revoke wanderer
expect 'all tokens of a subject are revoked by its name' 0 ''
run "$berth" token list -c 'Revoked && Subject == "wanderer"' --json
json 'those, and no others' 0 'len(rows) == 2'
run "$berth" token code --serve
expect 'a code by which others are served is that of a customer' 2 '' \
  'berth: --serve is for the code of a customer: --customer NAME --serve'
run "$berth" token code --customer 'a b'
expect 'the customer of a code is a user' 2 '' 'berth: customer: expected the name of a user'
run "$berth" token create --subject brief --lifetime 1s --out brief.token
sleep 1.1
run "$berth" status --token brief.token
says 'a token that has expired is not even sent' 2 '' 'berth: brief.token: *expired*'

# ------------------------------------------------------------------------------------------------------------- encrypted

start tls --set Tls=on
run "$berth" token create --state "$work/tls" --subject dora --out dora.token
run "$berth" status --token dora.token --json
json 'an encrypted pool is known by the certificate in the token file' 0 'rows[0]["Url"] == "'"$url"'" and rows[0]["Url"].startswith("https:")'
run "$berth" status --token bob.token --pool "$url"
says 'another pool'\''s certificate is not good, and nothing is sent' 3 '' "berth: $url: *"
run "$berth" status --pool "$url"
says 'without one it is not known' 3 '' "berth: $url: *"

# ------------------------------------------------------------------------------------------------------------ many ads

for batch in 0 1 2 3 4 5; do
  awk -v from=$((batch * 2000)) 'BEGIN { for (i = from; i < from + 2000; i++)
    printf "[Message=\"advertise\";Id=\"m%d\";Ad=[Name=\"m%d\";Memory=%d]]\n", i, i, i }' >many
  curl -sS --unix-socket "$work/tls/matchmaker.sock" -o put.out -X POST -H 'Content-Type: application/classad' \
    --data-binary @many http://localhost/v1/ads
done
run "$berth" ads --state "$work/tls" --json --select Name
json 'more ads than the service gives by itself are all listed' 0 'len(rows) == 12000 and len({row["Name"] for row in rows}) == 12000'
run "$berth" ads --state "$work/tls" --select Name,Memory
holds 'a long table has one heading' sh -c '[ "$(wc -l <out)" = 12001 ] && [ "$(grep -c NAME out)" = 1 ]'
run "$berth" ads --state "$work/tls" --select Name --limit 11000
holds 'and a limit holds for it' [ "$(wc -l <out)" = 11001 ]
"$berth" ads --state "$work/tls" --json | head -n 1 >out
holds 'a reader that has seen enough may go' [ "$(wc -l <out)" = 1 ]

# ------------------------------------------------------------------------------------------------- answers of all sorts

# A service that is none of ours: it answers each path in its own way.
cat >odd.py <<'END'
import http.server
class Odd(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, kind, body = {
            "/v1/status": (500, "application/problem+json", b'{"detail": "the store \\u001b[31mhas failed"}'),
            "/v1/agents?limit=10000": (200, "application/classad", b"[ Name = 1 ]\n[ Name = \n"),
            "/v1/users?limit=10000": (502, "text/html", b"<html>"),
            "/v1/ads/x/why": (200, "text/plain", b"x: matches 1 of 1 offers.\n\x1b[31m\n"),
        }.get(self.path, (200, "text/html", b"<html>"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Odd)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 odd.py >odd.port &
pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  [ -s odd.port ] && break
  sleep 0.1
done
odd=http://127.0.0.1:$(cat odd.port)
run "$berth" status --pool "$odd"
says 'a pool that has failed counts as not reached; its words control no terminal' 3 '' 'berth: the store ?*31mhas failed'
holds 'not even a little' sh -c '! grep -q "$(printf "\033")" err'
run "$berth" users --pool "$odd"
expect 'an answer without words is told by its status' 3 '' "berth: $odd answered with status 502"
run "$berth" agents --pool "$odd" --long
holds 'an ad that does not parse ends the list, and those before it are printed' sh -c \
  '[ '$status' = 3 ] && grep -qx "Name = 1" out && grep -q "answered with something that is not an ad" err'
run "$berth" users x --pool "$odd"
says 'an answer of another type is no ad' 3 '' "berth: $odd answered with something that is not an ad: *"
run "$berth" why x --pool "$odd"
expect 'an explanation controls no terminal either' 0 'x: matches 1 of 1 offers.
?[31m'

# ----------------------------------------------------------------------------------------- configuration for the agents

curl -sf --unix-socket "$work/state/matchmaker.sock" -X PUT --data '[Modules = { "job", "file" }; Pause = 30]' \
  http://pool/v1/config/Agent >/dev/null
run "$berth" config --served Agent/Pause
expect 'config --served asks the pool for an option' 0 '30'
run "$berth" config --served Agent
expect 'or a section' 0 '[ Modules = { "job", "file" }; Pause = 30 ]'
run "$berth" config --served Agent/Nothing
says 'what is not configured is the answer no' 1 '' 'berth: *no such*'
"$berth" token create --subject reader --out reader.token >/dev/null
echo '[ Site = [ Rack = 7 ] ]' >site.ad
sources=$work/site.ad,http://127.0.0.1:1/v1/config,$pool/v1/config
run env BERTH_CONFIG_SOURCES="$sources" "$berth" config --served Site/Rack
expect 'of several sources the first that knows it answers: a file' 0 '7'
run env BERTH_CONFIG_SOURCES="$sources" "$berth" config --served Agent/Pause --token reader.token
says 'or a matchmaker, when the one before is not there' 0 30 'berth: http://127.0.0.1:1: *'

# ------------------------------------------------------------------------------------------------------------ in the clear

mkdir -m 700 plain plain/provider
"$berth" token create --subject machine/plain --scope 'ad:read ad:write claim match' --out plain/provider/token >/dev/null 2>&1
"$berth" provider --state "$work/plain" --set 'Matchmakers={"http://192.0.2.7:7600"}' >plain.out 2>plain.log </dev/null &
plain=$!
for _ in $(seq 150); do grep -q 'not sent in the clear' plain.log && break; sleep 0.1; done
holds 'an agent sends its token to no other machine in the clear, and says so' grep -q 'not sent in the clear over a network' plain.log
kill "$plain"
wait "$plain"

# --------------------------------------------------------------------------------------------------------------- the end

kill "$main"
wait "$main"
ended=$?
holds 'the matchmaker ends in order' [ $ended = 0 ]
run "$berth" status
says 'and is not reached any more' 3 '' 'berth: no matchmaker runs here *'
run env BERTH_CONFIG_SOURCES="$sources" "$berth" config --served Agent/Pause --token reader.token
holds 'what a source has said is kept, and used when none answers' sh -c '[ '$status' = 0 ] && grep -qx 30 out && grep -q "no source answers" err'

echo "1..$count"
[ $failures = 0 ]
