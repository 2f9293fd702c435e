#!/bin/bash
# identities_live_test.sh: a matchmaker takes tokens of institutes: an issuer of the test's own on loopback, its keys fetched, changed and lost; each refusal has its
# reason in the log and a number in the metrics, and the caller is told nothing of it. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid python3 openssl
issuer() { python3 "$BERTH_SOURCE/tests/live/issuer.py" "$@"; }

# ----------------------------------------------------------------------------------------------------------- the issuers

mkdir site
for name in one.ec two.rsa new.ec other.ec; do issuer key "$name" || { echo 'Bail out! openssl'; exit 1; }; done
setsid python3 "$BERTH_SOURCE/tests/live/issuer.py" serve site >port 2>issuer.err &
groups="$groups $!"
disown
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat port)
describe() { echo "{\"issuer\":\"$1\",\"jwks_uri\":\"$2\",\"token_endpoint\":\"$url/token\",\"device_authorization_endpoint\":\"$url/device\"}"; }
describe "$url" "$url/keys" >site/.well-known_openid-configuration
issuer set one.ec two.rsa >site/keys
issuer set other.ec >offline.json
mkdir safe
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout safe.key -out safe.pem -days 2 -subj /CN=issuer -addext subjectAltName=IP:127.0.0.1 2>openssl.err
setsid python3 "$BERTH_SOURCE/tests/live/issuer.py" serve safe safe.pem safe.key >safe.port 2>safe.err &
groups="$groups $!"
disown
for _ in $(seq 100); do [ -s safe.port ] && break; sleep 0.1; done
safe=https://127.0.0.1:$(cat safe.port)
echo "{\"issuer\":\"$safe\",\"jwks_uri\":\"$safe/keys\"}" >safe/.well-known_openid-configuration
issuer set one.ec >safe/keys
mkdir -p safe/x && echo "{\"issuer\":\"$safe/x\",\"jwks_uri\":\"$safe/keys\"}" >safe/x_.well-known_openid-configuration
echo "{\"issuer\":\"$safe/y\",\"jwks_uri\":\"$url/keys\"}" >safe/y_.well-known_openid-configuration
pool=https://pool.example.org
cat >berth.ad <<END
[ Issuers = {
    [ Issuer = "$url"; Name = "idp"; Plain = true; Audience = { "$pool", "second" }; KeysPause = 2; AnyAudience = true;
      Account = team; Group = isUndefined(wlcg_groups) ? undefined : substr(wlcg_groups[0], 1); UnixAccount = nick;
      Scopes = isUndefined(rights) ? undefined : rights ],
    [ Issuer = "https://offline.example.org"; Name = "off"; Audience = "$pool"; Keys = "$work/offline.json"; KeysPause = 1 ],
    [ Issuer = "$safe"; Name = "safe"; Audience = "$pool"; CA = "$work/safe.pem" ],
    [ Issuer = "$safe/x"; Name = "untrusted"; Audience = "$pool" ],
    [ Issuer = "$safe/y"; Name = "plainly"; Audience = "$pool"; CA = "$work/safe.pem" ],
    [ Issuer = "http://127.0.0.1:9/down"; Name = "down"; Plain = true; Audience = "$pool" ] } ]
END
: >up
setsid "$berth" matchmaker --config berth.ad --listen 127.0.0.1:0 --state "$work/state" >up 2>matchmaker.err &
groups="$groups $!"
disown
for _ in $(seq 150); do here=$(grep -o 'http://127.0.0.1:[0-9]*' up matchmaker.err | head -1 | sed 's/^[^:]*://') && [ -n "$here" ] && break; sleep 0.1; done
socket=$work/state/matchmaker.sock

# ------------------------------------------------------------------------------------------------------------ the callers

# ask TOKEN [PATH [OPTION...]]: the status is in $status, the answer in `body`.
ask() { status=$(curl -sS -m 20 "$here${2:-/v1/whoami}" -H "Authorization: Bearer $1" -H 'Accept: application/json' -o body -w '%{http_code}' "${@:3}"); }
# claims REST: the claims of a good token, and these.
claims() { echo "{\"iss\":\"$url\",\"sub\":\"alice\",\"aud\":\"$pool\",\"exp\":now+600,\"iat\":now,\"scope\":\"compute.read\"${1:+,$1}}"; }
# token CLAIMS [KEY [HEADER]]
token() {
  curl -sS -m 20 "$url/sign" --data-urlencode "claims=$1" --data-urlencode "name=${2:-one.ec}" \
    --data-urlencode "header=${3:-{\"alg\":\"ES256\",\"kid\":\"one.ec\",\"typ\":\"JWT\"\}}"
}
good() { ask "$1" && [ "$status" = 200 ] && grep -F "\"Subject\": \"$2\"" body; }
soon() { for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; "$@"; }
counted() { curl -sS -m 20 --unix-socket "$socket" http://pool/metrics | sed -n "s/^berth_tokens_refused_total{fault=\"$1\"} //p"; }
# refused FAULT TOKEN: with 401 and the same words for all; the log has the reason, and it is counted.
refused() {
  local before after
  before=$(counted "$1")
  ask "$2"
  after=$(counted "$1")
  [ "$status" = 401 ] && grep -qF '"detail":"a good token is needed"' body && [ "$after" = $((before + 1)) ] && return
  echo "status $status, $1 was $before, is $after"
  cat body
  tail -n 3 matchmaker.err
  return 1
}

check 'the keys of an issuer are fetched, and a token by ES256 is good' soon good "$(token "$(claims)")" idp:alice
check 'so is one by RS256' good "$(token "$(claims)" two.rsa '{"alg":"RS256","kid":"two.rsa"}')" idp:alice
check 'an issuer without a network has its keys in a file' \
  good "$(token "$(claims | sed "s|$url|https://offline.example.org|")" other.ec '{"alg":"ES256"}')" off:alice
check 'an issuer is asked by https, and its certificate checked' soon good "$(token "$(claims | sed "s|$url|$safe|")")" safe:alice
mistrusted() { ask "$(token "$(claims | sed "s|$url|$safe/$1|")")" && [ "$status" = 503 ] && grep -F "event=issuer.keys issuer=$safe/$1" matchmaker.err | grep -i "$2"; }
check '... by certificates that are trusted, and no others' soon mistrusted x certificate
check '... and does not lead to keys over plain HTTP' soon mistrusted y 'only https'
scoped() { ask "$1" && grep -F "\"Scope\": \"$2\"" body; }
check 'compute.create may submit' scoped "$(token "$(claims '"scope":"compute.create compute.cancel"' | sed 's/"scope":"compute.read",//')")" 'ad:read ad:write job:submit claim match job:cancel'
mapped() {
  ask "$(token "$(claims '"team":"physics","nick":"al","wlcg.groups":["/atlas"],"wlcg.ver":"1.0"')")" && [ "$status" = 200 ] &&
    grep -F '"Subject": "physics/idp:alice"' body && grep -F '"Account": "physics"' body && grep -F '"Group": "atlas"' body && grep -F '"UnixAccount": "al"' body
}
check 'expressions give account, group and Unix account' mapped
check 'a token of WLCG for everybody is taken where the issuer says so' \
  good "$(token "$(claims '"wlcg.ver":"1.0"' | sed "s|$pool|https://wlcg.cern.ch/jwt/v1/any|")")" idp:alice
check 'sub like ../x is a name' good "$(token "$(claims | sed 's|"alice"|"../x"|')")" 'idp:=2e.=2fx'
check 'subjects that differ in case are two' good "$(token "$(claims | sed 's|"alice"|"Alice"|')")" 'idp:=41lice'
denied() { ask "$(token "$(claims)")" /v1/tokens && [ "$status" = 403 ]; }
check 'a token gives its scopes and no others' denied

# --------------------------------------------------------------------------------------------------------------- refusals

bad=$(token "$(claims)")
check 'another key than the one it names: the signature is not good' refused SIGNATURE "$(token "$(claims)" other.ec)"
check 'a claim that was changed: the signature is not good' refused SIGNATURE "${bad%%.*}.$(token "$(claims | sed 's/alice/bob/')" | cut -d. -f2).${bad##*.}"
check 'alg none' refused ALGORITHM "$(token "$(claims)" none '{"alg":"none"}')"
check 'HMAC with the public keys' refused ALGORITHM "$(token "$(claims)" hmac:site/keys '{"alg":"HS256","kid":"two.rsa"}')"
check 'crit' refused HEADER "$(token "$(claims)" one.ec '{"alg":"ES256","kid":"one.ec","crit":["exp"]}')"
check 'a key that a header brings along is not taken' refused SIGNATURE "$(token "$(claims)" other.ec "{\"alg\":\"ES256\",\"kid\":\"one.ec\",\"jku\":\"$url/evil\"}")"
asked_elsewhere() { ! grep evil asked; }
check '... nor is it asked for' asked_elsewhere
check 'expired' refused EXPIRED "$(token "$(claims | sed 's/now+600/now-1/')")"
check 'not yet valid' refused NOT_YET "$(token "$(claims '"nbf":now+300')")"
check 'for another audience' refused AUDIENCE "$(token "$(claims | sed "s|$pool|https://other.example.org|")")"
check 'an issuer that nobody has named' refused NO_ISSUER "$(token "$(claims | sed "s|$url|https://evil.example.org|")")"
check 'an issuer with a slash behind it' refused NO_ISSUER "$(token "$(claims | sed "s|$url|$url/|")")"
check 'a claim that is there twice' refused MALFORMED "$(token "{\"iss\":\"$url\",\"iss\":\"x\",\"t\":true}")"
check 'no sub' refused CLAIMS "$(token "$(claims | sed 's/"sub":"alice",//')")"
check 'nothing that is a right here' refused NO_SCOPE "$(token "$(claims | sed 's/compute.read/openid/')")"
check 'an expression that gives an error' refused MAPPING "$(token "$(claims '"wlcg.groups":7')")"
check 'a Unix account that is root' refused MAPPING "$(token "$(claims '"nick":"root"')")"
check 'a token of more than 8,192 bytes' refused TOO_LONG "eyJ$(head -c 9000 /dev/zero | tr '\0' a)"
check 'a token that stops in the middle' refused MALFORMED eyJhbGciOiJFUzI1NiJ9.e30
logged() { grep -F 'event=audit.refused' matchmaker.err | grep -F "$1"; }
check 'the log says which check failed' logged 'why=expired'
check '... which expression gave what' logged 'Group: expected a text, the expression gives error'
check '... and who was said to be the issuer' logged "$url/"
unblocked() {
  ask "$(token "$(claims | sed "s|$url|http://127.0.0.1:9/down|")")" && [ "$status" = 503 ] && good "$(token "$(claims)")" idp:alice
}
check 'an issuer that is down is no fault of the caller, and nobody waits for it' unblocked

# --------------------------------------------------------------------------------------------------------------- exchange

rich=$(token "$(claims '"rights":"ad:read ad:write match"')")
# given BODY [OPTION...]: a token of the pool is given, and is in $given.
given() { ask "$rich" /v1/exchange -d "$1" "${@:2}" && [ "$status" = 201 ] && given=$(sed -n 's/.*"Token": *"\([^"]*\)".*/\1/p' body) && [ -n "$given" ]; }
field() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" body; }
same() { given '[]' && ask "$given" && grep -F '"Subject": "idp:alice"' body && grep -F '"Scope": "ad:read ad:write match"' body; }
check "an institute's token is exchanged for one of the pool, with the same identity and scopes" same
bounded() { given '[ Lifetime = 86400 ]' && [ "$(field Expires)" -le $(($(date +%s) + 600)) ]; }
check '... that lasts no longer' bounded
narrow() { given '[ Scope = "ad:read"; Lifetime = 60 ]' && [ "$(field Expires)" -le $(($(date +%s) + 60)) ] && ask "$given" && grep -F '"Scope": "ad:read"' body; }
check '... and may be narrower' narrow
wider() { ask "$rich" /v1/exchange -d '[ Scope = "ad:read admin" ]' && [ "$status" = 403 ] && grep -F 'Scope: the token that was shown' body; }
check '... but not wider' wider
other() { ask "$rich" /v1/exchange -d '[ Subject = "root" ]' && [ "$status" = 400 ]; }
check '... nor for somebody else' other
twice() { given '[]' && ask "$given" /v1/exchange -d '[]' && [ "$status" = 403 ]; }
check 'a token of the pool is not exchanged' twice
renewed() { given '[]' && ask "$given" /v1/renewals -d "[ Id = \"$(field Id)\"; Proof = \"x\" ]" && [ "$status" = 403 ] && grep -F 'given for that of an institute' body; }
check '... and cannot be made to outlive it by renewal' renewed
revoked() {
  given '[]' || return
  id=$(grep -F event=audit.identity matchmaker.err | tail -n 1 | sed 's/.* id=\([0-9a-f]*\).*/\1/')
  curl -sS -m 20 --unix-socket "$socket" -X DELETE "http://pool/v1/tokens/$id" && refused REVOKED "$rich" && refused REVOKED "$given"
}
check "an institute's token that is revoked takes with it what was given for it" revoked
made() {
  ask "$(token "$(claims '"rights":"ad:read admin"')")" /v1/tokens -d '[ Subject = "bob" ]' && [ "$status" = 201 ] &&
    curl -sS -m 20 --unix-socket "$socket" http://pool/v1/tokens -H 'Accept: application/json' >tokens && grep -F '"Subject": "bob"' tokens && ! grep -F '"Subject": "bob"' tokens | grep -F '"Of"' &&
    grep -F '"Subject": "idp:alice"' tokens | grep -F '"Of"'
}
check 'what an administrator of an institute makes for others is not bound to its own token' made

# ------------------------------------------------------------------------------------------------------------------ disabled

# A person who is disabled is shut out, also where its tokens name an account in front.
member=$(token "$(claims '"team":"physics","rights":"ad:read ad:write match"')")
colleague=$(token "$(claims '"team":"physics","rights":"ad:read"' | sed 's/"alice"/"bob"/')")
disabled() {
  ask "$member" /v1/exchange -d '[]' && [ "$status" = 201 ] && pooled=$(sed -n 's/.*"Token": *"\([^"]*\)".*/\1/p' body) && ask "$pooled" && [ "$status" = 200 ] &&
    curl -sS -m 20 --unix-socket "$socket" -X PUT http://pool/v1/users/idp:alice/disabled -d '[ Reason = "has left" ]' >body && ask "$member" && [ "$status" = 403 ] &&
    grep -F 'disabled: has left' body && ask "$pooled" && [ "$status" = 403 ] && ask "$(token "$(claims)")" && [ "$status" = 403 ]
}
check 'who is disabled is shut out, whichever account its tokens are for' disabled
check '... and nobody else of the account' good "$colleague" physics/idp:bob
enabled() { curl -sS -m 20 --unix-socket "$socket" -X DELETE http://pool/v1/users/idp:alice/disabled && ask "$pooled" && [ "$status" = 200 ]; }
check '... until it is enabled' enabled

# ------------------------------------------------------------------------------------------------------------------ login

# login OPTION...: what it says is in `said`, and what it asks the person to do in `shown`.
login() { timeout 60 "$berth" login --pool "$here" --state "$work/me" "$@" >said 2>shown </dev/null; }
token "$(claims '"rights":"ad:read match","nick":"al"')" >site/token
by_device() {
  : >asked
  login --issuer "$url" --client tool --ask 'openid compute.read' || { cat said shown; return 1; }
  grep -F "Open $url/activate in a browser, and enter the code WDJB-MJHT" shown && grep -F 'You are idp:alice in the pool' said && grep -F 'it ends with that of the institute' said &&
    grep -F '"client_id": "tool", "scope": "openid compute.read"' asked && [ "$(grep -c '^/token' asked)" = 3 ]
}
check 'berth login --issuer shows an address and a code, waits, and has a token of the pool' by_device
known() { timeout 60 "$berth" login --pool "$here" --state "$work/me" --json >said && grep -F '"user": "idp:alice"' said; }
check 'which commands find' known
by_file() { rm -f me/token; login --institute site/token && known; }
check 'berth login --institute does so with a token that is there' by_file
: >site/denied
refused_login() { login --issuer "$url" || [ $? = 2 ] && grep -F 'the login was refused' shown; }
check 'a login that the person refuses is refused' refused_login
another() { login --issuer "$url/" || [ $? = 2 ] && grep -F 'is not that issuer' shown; }
check 'an issuer that says it is another is not asked further' another
nothing() { echo v4.public.x >no && ! login --institute no && grep -F 'it is not the token of an institute' shown; }
check 'a file with something else is not sent' nothing
plain() { ! login --issuer http://192.0.2.1 && grep -F 'only https:// is allowed' shown; }
check 'nobody logs in over plain HTTP' plain

# ------------------------------------------------------------------------------------------------------------------- keys

kept=$(token "$(claims)")
good "$kept" idp:alice >/dev/null
issuer set two.rsa new.ec >site/keys
sleep 2.1
fresh() { good "$(token "$(claims)" new.ec '{"alg":"ES256","kid":"new.ec"}')" idp:alice; }
check 'a key that is new is fetched when it is first seen' soon fresh
check 'and one that the issuer has taken back is not known any more, not even for a token that was good' refused UNKNOWN_KEY "$kept"
paced() {
  local before began
  sleep 2.1
  before=$(wc -l <asked) began=$SECONDS
  for n in 1 2 3 4 5 6 7 8; do ask "$(token "$(claims)" other.ec "{\"alg\":\"ES256\",\"kid\":\"guess$n\"}")"; done
  sleep 0.5
  [ $(($(wc -l <asked) - before)) -le $((2 * (1 + (SECONDS - began + 1) / 2))) ]
}
check 'who makes up names of keys does not make us ask the issuer each time' paced
echo "$url/elsewhere" >site/keys.moved
sleep 2.1
ask "$(token "$(claims)" other.ec '{"alg":"ES256","kid":"x"}')"
sleep 0.5
check 'a redirect is not followed' bash -c '! grep elsewhere asked'
check '... and the keys that are there serve on' fresh
rm site/keys.moved
issuer set one.ec >offline.json
sleep 1.1
check 'a file of keys is read again when a key is not known' \
  good "$(token "$(claims | sed "s|$url|https://offline.example.org|")" one.ec '{"alg":"ES256","kid":"one.ec"}')" off:alice

# --------------------------------------------------------------------------------------------------------------- settings

# starts SETTING WORDS: a matchmaker with that list is refused, with those words.
starts() {
  echo "[ Issuers = { $1 } ]" >bad.ad
  ! timeout 20 "$berth" matchmaker --config bad.ad --listen 127.0.0.1:0 --state "$work/never" >words 2>&1 && { grep -F "$2" words || { cat words; false; }; }
}
check 'an issuer without an audience is refused' starts '[ Issuer = "https://a.example" ]' 'Audience: without it'
check 'an issuer over plain HTTP is refused' starts '[ Issuer = "http://a.example"; Audience = "x"; Plain = true ]' 'Issuer: only https://'
check '... on loopback, too, if nothing says that it may' starts '[ Issuer = "http://127.0.0.1"; Audience = "x" ]' 'Issuer: only https://'
check 'two of one name are refused' starts '[ Issuer = "https://a.example"; Name = "a"; Audience = "x" ], [ Issuer = "https://b.example"; Name = "a"; Audience = "x" ]' 'Name: another issuer'
check 'a file of keys that is not there is named' starts '[ Issuer = "https://a.example"; Audience = "x"; Keys = "/nowhere" ]' '/nowhere: there is no such file'
check 'a field that is misspelt is named' starts '[ Issuer = "https://a.example"; Audiense = "x" ]' "did you mean 'Audience'"

echo "1..$count"
exit $((failures > 0))
