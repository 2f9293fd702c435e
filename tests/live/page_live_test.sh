#!/bin/bash
# page_live_test.sh: the routes that the page lives from, by curl: the pool at a glance, over time and as it changes; the playground; links
# that sign in once; a customer asked by way of the matchmaker; and who is refused. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid

: >up
BERTH_STATE="$work/state" setsid "$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
groups="$groups $!"
disown
for _ in $(seq 200); do grep -q 'To end it' up && break; sleep 0.1; done
url=$(sed -n 's/^Berth pool is up: //p' up)
ask() { curl -sS -m 20 --unix-socket "$work/state/matchmaker.sock" "http://matchmaker$1" "${@:2}"; }
code() { ask "$1" -o body -w '%{http_code}' "${@:2}"; }
until_seen() { for _ in $(seq 60); do "$@" && return 0; sleep 0.2; done; return 1; }

# --- the pool at a glance
seen() { ask /v1/overview | grep 'Offers = [1-9].*Kind = "Machine"; Offers = [1-9]'; }
check 'the overview counts offers by their kind' until_seen seen
ask /v1/ads/wanted -X PUT -d '[Type="Job";Count=7;Constraint=other.Memory<0]' >/dev/null
nobody() { ask /v1/overview | grep 'Waiting = 7;.*Outcome = "nobody"; Requests = 1; Units = 7'; }
check 'and what waits, by what became of its last try' until_seen nobody
listed() { ask '/v1/ads?outcome=nobody' | grep 'AdId = "wanted"' && ! ask '/v1/ads?outcome=held' | grep wanted; }
check 'those of one outcome are listed alone' listed
reasons() { ask /v1/reasons | grep 'Code = "nofit"; Reason = "no machine satisfies other.Memory < 0"; Requests = 1; Units = 7; Example = "wanted"'; }
check 'and why, in words' reasons
ask /v1/ads/contrary -X PUT -d '[Type="Job";Count=3;Constraint=other.Memory<1&&other.Memory>2]' >/dev/null
never() { ask /v1/reasons >reasons.out && grep -q 'Example = "contrary"; Never = true' reasons.out && ! grep 'Example = "wanted".*Never' reasons.out; }
check 'what contradicts itself can never be served, which is told' until_seen never
ask /v1/ads/contrary -X DELETE >/dev/null
series() { ask '/v1/series?span=hour' -H 'Accept: application/json' | grep '"Span": "hour", "At": \[[0-9]'; }
check 'there are samples of the last hour' until_seen series
by_user() { ask '/v1/series?span=hour&by=user' -H 'Accept: application/json' | grep '"Users": \[{"Name": "[^"]*", "Running": \[[0-9, ]*\], "Waiting": \[[0-9, ]*7\]'; }
check 'and of each user what runs and waits' until_seen by_user
check 'by something else there are none' [ "$(code '/v1/series?by=colour')" = 400 ]
check 'of another span there are none' [ "$(code '/v1/series?span=week')" = 400 ]
names() { ask '/v1/names?kind=requests' | grep 'Name = "Constraint"; Ads = 1' && [ "$(ask '/v1/names?prefix=MEM&kind=offers' | grep -ci 'Name = "mem')" -ge 1 ]; }
check 'names of attributes that ads have are told, by their beginning in any case' names

ask /v1/ads/lone -X PUT -d '[Type="Lone"]' >/dev/null
ask /v1/ads/seeks-lone -X PUT -d '[Type="Job";Count=1;Constraint=other.Type=="Lone"]' >/dev/null
taken() { ask /v1/overview | grep 'Kind = "Lone"; Offers = 0; Parted = 0; Taken = 1'; }
check 'an offer that is taken is counted as such' until_seen taken

# --- as it changes
(curl -sN -m 60 -H 'Accept: text/event-stream' --unix-socket state/matchmaker.sock http://matchmaker/v1/watch >stream &)
first() { grep '^event: overview' stream; }
check 'who watches is told the overview at once' until_seen first
run() { [ "$(BERTH_STATE="$work/state" timeout 30 "$berth" run -- echo hello)" = hello ]; }
check 'a job runs' run
again() {
  echo '[ Cmd = "true"; Outputs = {}; LastClaim = "88ff0344d5351ebc"; LastNumber = "0000000000000001" ]' >again.ad
  BERTH_STATE="$work/state" "$berth" submit again.ad >again.out && BERTH_STATE="$work/state" timeout 30 "$berth" wait "$(sed 's/.*: //' again.out)" &&
    BERTH_STATE="$work/state" "$berth" history | grep "^ *$(sed 's/.*: //' again.out) "
}
check 'one whose ad says what only a history says is in the history, too' until_seen again
told() { grep -A1 '^event: match' stream | grep '"Type": "Match".*"Provider"' && grep -A1 '^event: claim' stream | grep '"State": "over"'; }
check 'who watches hears of its match, and of its claim' until_seen told
quiet() { local was; was=$(grep -c '^event: overview' stream); sleep 2.5; [ "$(grep -c '^event: overview' stream)" = "$was" ]; }
check 'and of nothing while nothing changes' until_seen quiet

# --- a policy, before it is applied
ask /v1/ads/chest -X PUT -d '[Type="Chest";Size=3]' >/dev/null
ask /v1/ads/trunk -X PUT -d '[Type="Chest";Size=4]' >/dev/null
ask /v1/policy -X PUT -d '[DockingVector={label.Blessed}]' -H 'Content-Type: application/classad' >/dev/null
ask /v1/ads/load -X PUT -d '[Type="Job";Count=2;Constraint=other.Type=="Chest"]' >/dev/null
compared() {
  ask '/v1/policy/try?compare' -D head -d "$1" -H 'Content-Type: application/classad' -o body
  grep -i "^Berth-Changed: $2.\?\$" head && grep -i "^Berth-Matches-Now: $3.\?\$" head && grep -i "^Berth-Matches: $4.\?\$" head && grep -i '^Berth-Whole: true' head
}
gains() { compared '[DockingVector={self.Rank}]' 1 0 2 && grep 'Request = "load"; Now = {.*}; NowCount = 0; Then = {.*"chest", "trunk".*}; ThenCount = 2' body; }
check 'a policy is compared with the one that holds: the requests that would get something else' gains
stays() { compared '[DockingVector={label.Blessed}]' 0 0 0 && [ ! -s body ]; }
check 'and of one that changes nothing nothing is told' stays
ask /v1/policy -X PUT -d '[]' -H 'Content-Type: application/classad' >/dev/null
taken_all() { ask /v1/overview | grep 'Kind = "Chest"; Offers = 0; Parted = 0; Taken = 2'; }
check 'both chests are taken' until_seen taken_all
ask /v1/ads/more -X PUT -d '[Type="Job";Constraint=other.Type=="Chest"]' >/dev/null
full() { compared '[DockingVector={-label.Size}]' 0 0 0; }
check 'in a pool that is full nothing would change now' full
idle() {
  ask '/v1/policy/try?compare&idle' -D head -d '[DockingVector={-label.Size}]' -H 'Content-Type: application/classad' -o small &&
    ask '/v1/policy/try?compare&idle' -D head -d '[DockingVector={label.Size}]' -H 'Content-Type: application/classad' -o large && cat small large head &&
    grep -i '^Berth-Matches-Now: [1-9]' head && grep -i '^Berth-Matches: [1-9]' head && cat small large | grep 'Request = "more"; Now = {.*}; NowCount = 1; Then = {.*}; ThenCount = 1'
}
check 'but with all of it idle a policy is seen to choose others' idle

# --- the playground
functions() { ask /v1/functions | grep 'Name = "regexp"; Arguments = "P, S \[, OPT\]"; Help = "does the pattern P match somewhere in S?"; Classic = true; Condor = true'; }
check 'the functions of the language are told, with a line of help' functions
evaluated() {
  ask /v1/eval -d '[Left="[Memory=4;Constraint=other.Need<Memory]";Right="[Need=2;Rank=other.Memory]";Expression="other.Need+Memory"]' |
    grep 'Value = "6"; Type = "integer"; Matches = true; LeftConstraint = "true".*RightRank = "4"'
}
check 'an expression is evaluated where two ads meet' evaluated
wrong() { ask /v1/eval -d '[Left="[Memory=4";Right="[]";Expression="1 +\n* 2"]' | grep 'LeftError = .*LeftLine = 1;.*ExpressionError = .*ExpressionLine = 2; ExpressionColumn = 1'; }
check 'what cannot be read is told with its place, each in its own text' wrong
endless() { [ "$(code /v1/eval -m 10 -d '[Left="[a={a,a};b={a,a};c=b;d=size(string({c,c,c,c}))]";Expression="d"]')" = 200 ]; }
check 'and what would take too long ends all the same' endless
strange() { [ "$(code /v1/eval -d '[Expression="1";Dialect="klingon"]')" = 400 ] && [ "$(code /v1/eval -d '[Expression=1]')" = 400 ] && [ "$(code /v1/eval -d '[Exprssion="1"]')" = 400 ] && grep Expression body; }
check 'what is no text, and what is not asked for, is refused' strange

# --- jobs before they are sent
lint() { ask /v1/lint -d "[Text=\"$1\"]"; }
linted() {
  lint '[ Cmd = \"a\"; Constraint = other.Cpus > 8 && other.Cpus < 4 && regex(\"^a\", other.Name) ]\n[ Cmd = \"b\"; Rank = self.Speed ]' >out &&
    grep "Language = \"ad\"; Count = 2; Findings = .*Ad = 1; Attribute = \"Constraint\"; Kind = \"contradiction\"; Text = .*did you mean 'regexp'?.*Ad = 2; Attribute = \"Rank\"; Kind = \"no-such-attribute\"" out && ! grep Fault out
}
check 'ads of jobs are looked at before they are sent, as berth lint does' linted
carried() {
  lint 'executable = /bin/true\nrequest_cpus = 4\nrank = Speed\nnotification = always\nrequirements = Memory > 4 && Memory < 2\nqueue 3' >out &&
    grep 'Language = "submit"; Count = 1; Ads = .*Cmd = \\"/bin/true\\".*RequestCpus = 4.*Count = 3.*Kind = "contradiction".*Remarks = .*Line = 4; Column = [0-9]*; Text = .*notification' out
}
check 'a submit file is shown as the ads that it makes, with what is not carried over' carried
unread() {
  lint '[ Cmd = ; ]' | grep 'Count = 0;.*Fault = .*Line = 1; Column = 9' && lint 'executable = a\nqueue x in (a' | grep 'Language = "submit".*Fault = .*Line = [23]' && lint 'include : /etc/passwd\nqueue' | grep 'Fault = .*Line = 1' &&
    lint 'executable = $ENV(HOME)\nqueue' >out && ! grep "$HOME" out && ! grep /root out
}
check 'what cannot be read is told with its place; no file and no variable of the matchmaker is read' unread
doubled() { # each macro is twice the one before; and more ads than are looked at; and a text that is too long
  local i; { printf '[Text="a0 = xxxxxxxx'; for i in $(seq 30); do printf '\\na%d = $(a%d)$(a%d)' "$i" $((i - 1)) $((i - 1)); done; printf '\\nexecutable = $(a30)\\nqueue"]'; } >body.ad
  ask /v1/lint -m 10 -d @body.ad | grep 'Fault = .*expand' && lint "executable = \$(x)\\nqueue x in ($(seq -s ' ' 60))" | grep 'Count = 60;' && lint "executable = \$(x)\\nrequest_cpus = \$(x)\\nqueue 1 x in ($(seq -s ' ' 3000))" >out && ! grep 'Count = 3000' out &&
    { printf '[Text="'; head -c 70000 /dev/zero | tr '\0' a; printf '"]'; } >body.ad && [ "$(code /v1/lint -d @body.ad)" = 413 ]
}
check 'and what would be too much is refused soon' doubled
grown() { # a short text whose macros make an ad that is larger than the pool takes
  local i; { printf '[Text="executable = /bin/true\\na0 = (x > y) && '; for i in $(seq 12); do printf '\\na%d = $(a%d)$(a%d)' "$i" $((i - 1)) $((i - 1)); done; printf '\\nrequirements = $(a12) true\\nqueue"]'; } >body.ad
  ask /v1/lint -m 10 -d @body.ad | grep 'Fault = .*too large: the limit is 10000 parts'
}
check 'and an ad that the pool would not take is not made' grown

# --- links
key() { sed -n 's/.*#k=\([0-9a-f]\{32\}\).*/\1/p'; }
session() { curl -sS -m 20 "$url/v1/session" -o session -w '%{http_code}' -H 'Content-Type: application/json' -d "{\"Code\": \"$1\"}"; }
link=$(BERTH_STATE="$work/state" "$berth" page | key)
printed() { [ -n "$link" ]; }
check 'berth page prints a link to the page' printed
signed() { [ "$(session "$link")" = 201 ] && token=$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' session) && [ -n "$token" ]; }
check 'its code becomes a token' signed
token=$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' session)
who() { curl -sS -m 20 -H "Authorization: Bearer $token" "$url/v1/whoami" | grep "Subject = \"$(id -un)\"; Scope = \"ad:read.*admin\"; Expires = "; }
check 'with the name and the rights of who started the pool' who
again() { [ "$(session "$link")" = 403 ]; }
check 'once' again
stranger() { [ "$(curl -sS -m 20 -o body -w '%{http_code}' -X POST -H "Authorization: Bearer $(ask /v1/tokens -d '[Subject="zoe";Scope="ad:read match"]' | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')" "$url/v1/links")" = 403 ]; }
check 'who has but a token, and cannot make tokens, makes no link either' stranger
guess() { [ "$(session 00000000000000000000000000000000)" = 403 ] && [ "$(session '')" = 403 ] && [ "$(session abc)" = 403 ]; }
check 'and a guess is refused' guess
page() { [ "$(session "$(BERTH_STATE="$work/state" "$berth" page | key)")" = 201 ]; }
check 'berth page makes another' page
token_for() { BERTH_STATE="$work/state" "$berth" token create --subject "$1" --scope 'ad:read match' --out "$1.token" "${@:2}" && BERTH_STATE="$work/state" "$berth" page --pool "$url" --token "$1.token" >"$1.page"; }
narrowed() { token_for ann && grep 'which is good for half a day' ann.page && ! grep -qxF "$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' ann.token)" ann.page; }
check 'who has a token that can be delegated gets one for half a day' narrowed
own() { token_for eve --no-delegation && grep 'which is your own: it cannot be delegated' eve.page; }
check 'who has one that cannot is told that it is his own' own

# --- a customer by way of the matchmaker
desk=$(ask /v1/desks | sed -n 's/.*Agent = "\([0-9a-f]*\)".*/\1/p')
submitted() { [ "$(code "/v1/desk/$desk/jobs?key=one" -X POST -H 'Content-Type: application/classad' -d '[Cmd="/bin/echo";Arguments={"by way of"}]')" = 201 ] && grep 'Count = 1' body; }
check 'a job is submitted by way of the matchmaker' submitted
job=$(sed -n 's/.*First = \([0-9]*\).*/\1/p' body)
done_there() { ask "/v1/desk/$desk/history?select=Owner,State" | grep "Owner = \"$(id -un)\""; }
check 'it is the caller'"'"'s, and ends' until_seen done_there
output() { ask "/v1/desk/$desk/jobs/$job/log" -H 'Accept: text/plain' | tee /dev/stderr | grep 'ended with status 0'; }
check 'what happened to it can be read' until_seen output
held() { [ "$(code "/v1/desk/$desk/jobs?force&key=two" -X POST -H 'Content-Type: application/classad' -d '[Cmd="/bin/true";Constraint=other.Memory<0]')" = 201 ]; }
check 'parameters are handed on' held
ask /v1/shares -X PUT -H 'Content-Type: application/classad' -d '[Limits=[matlab=0]]' >/dev/null
code "/v1/desk/$desk/jobs?key=limited" -X POST -H 'Content-Type: application/classad' -d '[Cmd="/bin/true";ConcurrencyLimits="matlab";Constraint=other.Memory>0]' >/dev/null
limited=$(sed -n 's/.*First = \([0-9]*\).*/\1/p' body)
told_why() { BERTH_STATE="$work/state" "$berth" why "$limited" >why.out; grep "^job $limited: asks for more of a limit than there is: that never comes\.$" why.out; }
check 'why a job waits is told of its request in the pool, with what holds it' until_seen told_why
told_json() { BERTH_STATE="$work/state" "$berth" why --json "$limited" | grep '"hold": {"kind": "never"'; }
check 'also as JSON' told_json
ask "/v1/desk/$desk/control" -X POST -H 'Content-Type: application/classad' -d "[Verb=\"remove\";Ids=\"$limited\"]" >/dev/null
ask /v1/shares -X PUT -H 'Content-Type: application/classad' -d '[]' >/dev/null

printf 'read me\n' >input.txt
hash=$(b2sum -l 256 input.txt | cut -d' ' -f1)
sent() { [ "$(code "/v1/desk/$desk/spool/$hash?offset=0&size=8" -X PUT -H 'Content-Type: application/octet-stream' --data-binary @input.txt)" = 201 ] && ask "/v1/desk/$desk/spool/$hash" | grep 'Have=8'; }
check 'a file that a job reads is sent by way of the matchmaker' sent
read_out() { ask "/v1/desk/$desk/jobs/$(sed -n 's/.*First = \([0-9]*\).*/\1/p' body)/files/log/stdout" -H 'Accept: application/octet-stream' | grep 'read me'; }
has_read() { [ "$(code "/v1/desk/$desk/jobs?key=three" -X POST -H 'Content-Type: application/classad' -d "[Cmd=\"/bin/cat\";Args={\"input.txt\"};Inputs={[Name=\"input.txt\";Hash=\"$hash\";Size=8]}]")" = 201 ] && until_seen read_out; }
check 'and the job reads it' has_read
other_hash() { [ "$(code "/v1/desk/$desk/spool/${hash%?????}00000?offset=0&size=8" -X PUT -H 'Content-Type: application/octet-stream' --data-binary @input.txt)" = 422 ]; }
check 'a file that is not what its name says is refused' other_hash
nowhere() { [ "$(code /v1/desk/0000000000000000/jobs)" = 404 ] && [ "$(code "/v1/desk/$desk/nothing")" = 404 ]; }
check 'a customer that is not there, and a path that is not there, are not found' nowhere
narrow=$(ask /v1/tokens -d '[Subject="zoe";Scope="ad:read match"]' | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
refused() { [ "$(curl -sS -m 20 -o body -w '%{http_code}' -H "Authorization: Bearer $narrow" "$url/v1/desk/$desk/jobs")" = 403 ] && grep 'job:own' body; }
check 'a token without the scope is told which one it lacks' refused
others=$(ask /v1/tokens -d '[Subject="zoe";Scope="ad:read job:own job:submit"]' | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
foreign() { curl -sS -m 20 -o body -w '%{http_code}\n' -H "Authorization: Bearer $others" "$url/v1/desk/$desk/jobs/$job" | grep 404 && [ "$(code "/v1/desk/$desk/jobs/$job")" = 200 ]; }
check 'another person does not see the job' foreign
in_vain() { curl -sS -m 20 -o body -w '%{http_code}\n' -H "Authorization: Bearer $others" -H 'Content-Type: application/classad' "$url/v1/desk/$desk/jobs" -d '[Cmd="/bin/true"]' | grep 404 && grep 'no such customer of yours, nor one that serves others' body; }
check 'nor is a job handed to a customer that serves its own user alone' in_vain
led() { curl -sS -m 20 -H "Authorization: Bearer $others" "$url/v1/desks" -o body && [ ! -s body ] && ask /v1/desks | grep "Identity = \"$(id -un)\""; }
check 'to whom nobody else is led' led
unseen() { curl -sN -m 3 -H 'Accept: text/event-stream' -H "Authorization: Bearer $others" "$url/v1/watch?desk=$desk" >zoes & BERTH_STATE="$work/state" timeout 30 "$berth" run -- true; wait $!; grep '^event: overview' zoes && ! grep '^event: \(match\|desk\)' zoes; }
check 'nor is anybody told of matches and customers of others' unseen

# --- one stream has news of the pool and of customers
(curl -sN -m 120 -H 'Accept: text/event-stream' --unix-socket state/matchmaker.sock "http://matchmaker/v1/watch?desk=$desk" >news &)
changes() { sed -n "s/.*\"Type\": \"DeskNews\", \"Agent\": \"$desk\", \"Changes\": \([0-9]*\).*/\1/p" news | tail -n 1; }
counted() { [ -n "$(changes)" ]; }
check 'who watches a customer is told at once how many changes it has had' until_seen counted
before=$(changes)
code "/v1/desk/$desk/jobs?force&key=four" -X POST -H 'Content-Type: application/classad' -d '[Cmd="/bin/true";Constraint=other.Memory<0]' >/dev/null
risen() { [ "$(changes)" -gt "$before" ]; }
check 'and when it has had more' until_seen risen
second() { (curl -sN -m 5 -H 'Accept: text/event-stream' --unix-socket state/matchmaker.sock "http://matchmaker/v1/watch?desk=$desk,0000000000000001" >others &) && until_seen grep '^event: desk' others; }
check 'so is a second who watches, and of a customer that is not known nothing is told' second
check 'what is no handle is refused' [ "$(code '/v1/watch?desk=nobody' -H 'Accept: text/event-stream')" = 400 ]
check 'and so are too many' [ "$(code "/v1/watch?desk=$(printf '%s,' "$desk" "$desk" "$desk" "$desk" "$desk" "$desk" "$desk" "$desk" "$desk")" -H 'Accept: text/event-stream')" = 400 ]

# --- who is refused
check 'another Host is refused' [ "$(curl -s -m 20 -o body -w '%{http_code}' -H 'Host: evil.example' "$url/v1")" = 400 ]
check 'so is another Origin' [ "$(curl -s -m 20 -o body -w '%{http_code}' -H 'Origin: https://evil.example' -H "Authorization: Bearer $token" "$url/v1/whoami")" = 403 ]
check 'our own is served' [ "$(curl -s -m 20 -o body -w '%{http_code}' -H "Origin: $url" -H "Authorization: Bearer $token" "$url/v1/whoami")" = 200 ]

# --- the page itself
link() { [ "$(sed -n 's/^In a browser: *//p' up | cut -d'#' -f1)" = "$url/" ] && grep 'within ten minutes' up; }
check 'the pool printed a link to it when it started' link
plain() { curl -sS -m 20 -D head "$url/" | grep '<h1>Berth</h1>' && grep -i "^Content-Security-Policy: default-src 'none'; script-src 'self'" head; }
check 'without gzip the page is a plain one that leads on, under a strict policy' plain
lost() { [ "$(curl -s -m 20 -o body -w '%{http_code}' "$url/assets/nothing.js")" = 404 ]; }
check 'a file that is not there is not found' lost
if curl -s -m 20 --compressed "$url/" -D head | grep -q 'script'; then
  built() {
    asset=$(curl -s -m 20 --compressed "$url/" | sed -n 's/.*src="\(\/assets\/[^"]*\.js\)".*/\1/p' | head -n 1)
    curl -sS -m 20 --compressed -D head -o script.js "$url$asset" && [ -s script.js ] && grep -i '^Cache-Control: public.*immutable' head && grep -i '^Content-Encoding: gzip' head
  }
  check 'its files are compressed, and may be kept for ever' built
  same() { [ "$(curl -s -m 20 -o body -w '%{http_code}' -H 'Accept-Encoding: gzip' -H "If-None-Match: $(curl -sI -m 20 -H 'Accept-Encoding: gzip' "$url/" | tr -d '\r' | sed -n 's/^ETag: //Ip')" "$url/")" = 304 ]; }
  check 'and are not sent twice' same
fi
echo "1..$count"
[ $failures = 0 ]
