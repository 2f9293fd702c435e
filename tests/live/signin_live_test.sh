#!/bin/bash
# signin_live_test.sh: a person signs in on the page by an institute: the code flow with PKCE, state and nonce, against an issuer of the test's own. Each thing that can
# go wrong on the way leads back to the page with a word for it, and the log has the reason. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid python3 openssl
issuer() { python3 "$BERTH_SOURCE/tests/live/issuer.py" "$@"; }

mkdir site
for name in one.ec other.ec; do issuer key "$name" || { echo 'Bail out! openssl'; exit 1; }; done
issuer set one.ec >site/keys
serve() {
  setsid python3 "$BERTH_SOURCE/tests/live/issuer.py" serve site >"$1" 2>issuer.err &
  groups="$groups $!"
  disown
  for _ in $(seq 200); do [ -s "$1" ] && break; sleep 0.1; done
}
serve port
url=http://127.0.0.1:$(cat port)
describe() { echo "{\"issuer\":\"$url$1\",\"jwks_uri\":\"$url/keys\",\"token_endpoint\":\"$url/token\",\"authorization_endpoint\":\"$url/authorize\"$2}"; }
describe '' '' >site/.well-known_openid-configuration
describe /kept '' >site/kept_.well-known_openid-configuration
describe /posts ',"token_endpoint_auth_methods_supported":["client_secret_post"]' >site/posts_.well-known_openid-configuration
echo "{\"issuer\":\"$url/no\",\"jwks_uri\":\"$url/keys\"}" >site/no_.well-known_openid-configuration
(umask 077 && echo 's:e/c r%et' >secret)
list() {
  cat <<END
[ Issuers = {
    [ Issuer = "$url"; Name = "idp"; Plain = true; Audience = "https://pool.example.org"; Client = "berth page"; Title = "My institute"; Ask = "openid profile";
      KeysPause = 1; Session = 1800; Scopes = isUndefined(rights) ? undefined : rights; Group = group; UnixAccount = nick ],
    [ Issuer = "$url/kept"; Name = "kept"; Plain = true; Audience = "x"; Client = "safe"; ClientSecret = "$work/secret"; KeysPause = 1; Scopes = "ad:read" ],
    [ Issuer = "$url/posts"; Name = "posts"; Plain = true; Audience = "x"; Client = "safe"; ClientSecret = "$work/secret"; KeysPause = 1; Scopes = "ad:read" ],
    [ Issuer = "$url/no"; Name = "no"; Plain = true; Audience = "x"; Client = "safe"; KeysPause = 1 ],
    [ Issuer = "http://127.0.0.1:9/down"; Name = "down"; Plain = true; Audience = "x"; Client = "x"; KeysPause = 1 ],
    [ Issuer = "https://tokens.example.org"; Name = "tokens"; Audience = "x"; Keys = "$work/site/keys" ] } ]
END
}
list >berth.ad
: >up
setsid "$berth" matchmaker --config berth.ad --listen 127.0.0.1:0 --state "$work/state" >up 2>matchmaker.err &
matchmaker=$!
groups="$groups $matchmaker"
disown
for _ in $(seq 300); do here=$(grep -o 'http://127.0.0.1:[0-9]*' up matchmaker.err | head -1 | sed 's/^[^:]*://') && [ -n "$here" ] && break; sleep 0.1; done
socket=$work/state/matchmaker.sock
soon() { for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; "$@"; }

# visit URL [OPTION...]: a step of the browser whose cookies are in `jar`: where it is sent on is in $to, the head in `head`.
visit() { to=$(curl -sS -m 30 -b jar -c jar -D head -o body -w '%{redirect_url}' "${@:2}" "$1"); }
# Three steps, of which each can be taken by itself; `land` ends at the page, whose fragment curl leaves in the head.
leave() { rm -f jar; visit "$here/v1/signin?issuer=${1:-idp}" && case $to in "$url"/authorize*) ;; *) false ;; esac; }
agree() { visit "$to" && case $to in "$here"/v1/signin/callback*) ;; *) false ;; esac; }
land() { visit "${1:-$to}" && fragment=$(sed -n 's/^[Ll]ocation: \/#\([^\r]*\).*/\1/p' head) && [ -n "$fragment" ]; }
signs_in() { leave "$@" && agree && land && [[ $fragment == k=* ]] || { echo "at $to, $fragment"; cat head; tail -n 2 matchmaker.err; return 1; }; }
# fails WORD REASON: the page is told the word, and the log has the reason.
fails() { [ "$fragment" = "signin=$1" ] && grep -F event=audit.signin.refused matchmaker.err | tail -n 1 | grep -F "$2" || { echo "$fragment"; tail -n 3 matchmaker.err; return 1; }; }
led_back() { leave "${3:-idp}" && agree && land && fails "$1" "$2"; }
session() { curl -sS -m 30 "$here/v1/session" -H 'Accept: application/json' -d "[ Code = \"${fragment#k=}\" ]" >given && token=$(sed -n 's/.*"Token": *"\([^"]*\)".*/\1/p' given) && [ -n "$token" ]; }
whoami() { curl -sS -m 30 "$here/v1/whoami" -H "Authorization: Bearer $token" -H 'Accept: application/json' >who; }

# ---------------------------------------------------------------------------------------------------------------- the way

listed() {
  curl -sS -m 30 "$here/v1" -H 'Accept: application/json' >root && grep -F '"Name": "idp"' root && grep -F '"Title": "My institute"' root && grep -F '"Title": "kept"' root &&
    ! grep -F tokens root
}
check 'the page is told whom one can sign in by' listed
check 'a browser is sent to the issuer' soon leave
begun() {
  grep -i '^set-cookie: berth-signin=[^;]*; Path=/; Max-Age=600; HttpOnly; SameSite=Lax' head && grep -i '^cache-control: no-store' head && ! grep -F verifier head &&
    for part in response_type=code client_id=berth%20page "redirect_uri=http%3A%2F%2F127.0.0.1%3A${here##*:}%2Fv1%2Fsignin%2Fcallback" 'scope=openid%20profile' state= nonce= code_challenge= code_challenge_method=S256; do
      [[ $to == *[?\&]$part* ]] || { echo "$part: $to"; return 1; }
    done
}
check '... with a cookie that scripts cannot read, and with state, nonce and challenge' begun
echo '{"rights": "ad:read match", "nick": "al", "group": "atlas"}' >site/claims
check '... and comes back signed in' signs_in
cookie_gone() { grep -i '^set-cookie: berth-signin=; Path=/; Max-Age=0' head && ! grep -F signin jar; }
check '... without the cookie' cookie_gone
check 'the page redeems what it was sent' session
mine() { whoami && grep -F '"Subject": "idp:alice"' who && grep -F '"Scope": "ad:read match"' who; }
check 'and has the rights of that user, and no others' mine
lasting() { local ends=$(sed -n 's/.*"Expires": *\([0-9]*\).*/\1/p' given) now=$(date +%s); [ "$ends" -gt $((now + 1500)) ] && [ "$ends" -le $((now + 1801)) ]; }
check '... for as long as the configuration says' lasting
noted() { curl -sS -m 30 --unix-socket "$socket" http://pool/v1/tokens -H 'Accept: application/json' | tr '\n' ' ' >tokens && grep -F '"Group": "atlas"' tokens && grep -F '"UnixAccount": "al"' tokens; }
check '... and it is on record what the institute said' noted
once() { ! session && grep -F 'this link was used before' given; }
check 'what the page was sent is good once' once
granted() { echo '{}' >site/claims && echo 'openid compute.read' >site/scope && signs_in && session && whoami && grep -F 'ad:read' who; }
check 'what the issuer says that it granted counts where the token says nothing' granted
echo '{"rights": "ad:read"}' >site/claims
with_secret() { cp secret site/secret && echo "{\"iss\": \"$url/$1\"}" >site/claims && signs_in "$1" && session && whoami && grep -F "\"Subject\": \"$1:alice\"" who; }
check 'a client with a secret shows it' with_secret kept
check '... in the way that the issuer takes it' with_secret posts
shown() { ! grep -F 's:e/c' matchmaker.err && ! grep -F 's%3A' matchmaker.err; }
check '... and not to the log' shown
rm -f site/secret
echo '{"rights": "ad:read"}' >site/claims

# --------------------------------------------------------------------------------------------------------------- refusals

elsewhere() { leave && agree && rm jar && land && fails expired 'was not begun in this browser'; }
check 'another browser does not end what this one has begun' elsewhere
crossed() { leave && agree && first=$to && cp jar first && leave && agree && cp first jar && land && fails expired 'was not begun in this browser' && cp first jar && land "$first" && [[ $fragment == k=* ]]; }
check 'a state goes with its own cookie, and with no other' crossed
again() { leave && agree && first=$to && cp jar kept.jar && land && [[ $fragment == k=* ]] && cp kept.jar jar && land "$first" && fails expired 'has ended before'; }
check 'a sign-in ends once' again
forged() { leave && agree && sed -i "s/\(berth-signin\t\).*/\1$(head -c 300 /dev/zero | tr '\0' A)/" jar && land && fails expired 'was not begun'; }
check 'a cookie that we have not sealed is nothing' forged
stateless() { leave && agree && land "${to/state=/stat=}" && fails expired 'was not begun'; }
check 'nor is a way back without a state' stateless
codeless() { leave && agree && land "${to/code=/kode=}" && fails issuer 'not as it must'; }
check '... or without a code' codeless
guessed() { leave && agree && land "$(sed 's/code=[^&]*/code=guessed/' <<<"$to")" && fails issuer 'the answer was 400: invalid_grant'; }
check 'a code that the issuer does not know' guessed
refuses() { echo "$1" >site/refuse && led_back "$2" "$3"; local status=$?; rm -f site/refuse; return $status; }
check 'a person who refuses is told so' refuses access_denied denied 'it was refused there'
check '... and an issuer that cannot' refuses server_error issuer 'more=server_error'
mixed() { echo "$1" >site/iss && led_back issuer 'not as it must'; local status=$?; rm -f site/iss; return $status; }
check 'an answer that another issuer says it gave' mixed https://evil.example.org
named() { echo "$url" >site/iss && signs_in; local status=$?; rm -f site/iss; return $status; }
check '... and one of our own issuer' named
# claimed CLAIMS WORD REASON
claimed() { echo "$1" >site/claims && led_back "$2" "$3"; }
check 'another nonce' claimed '{"rights": "ad:read", "nonce": "x"}' refused 'nonce: it is not that of this sign-in'
check 'no nonce' claimed '{"rights": "ad:read", "nonce": None}' refused 'nonce: it is not that of this sign-in'
check 'a token for another client' claimed '{"rights": "ad:read", "aud": "other"}' refused 'meant for another audience'
check '... for the pool, which is no client' claimed '{"rights": "ad:read", "aud": "https://pool.example.org"}' refused 'meant for another audience'
check '... for us and for others' claimed '{"rights": "ad:read", "aud": ["berth page", "other"]}' refused 'azp:'
check '... made for another' claimed '{"rights": "ad:read", "azp": "other"}' refused 'azp:'
check 'one that has expired' claimed '{"rights": "ad:read", "exp": now - 1}' refused expired
check 'one of another issuer' claimed '{"rights": "ad:read", "iss": "https://evil.example.org"}' refused 'issued by nobody'
check 'one that gives nothing here' claimed '{"scope": "openid"}' rights 'it grants nothing here'
echo '{"rights": "ad:read"}' >site/claims
signed() { echo other.ec >site/signer && led_back refused 'the signature is not good'; local status=$?; rm -f site/signer; return $status; }
check 'one that another key has signed' signed
wrong_secret() { echo other >site/secret && led_back issuer 'the answer was 401: invalid_client' kept; local status=$?; rm -f site/secret; return $status; }
check 'a secret that the issuer does not take' wrong_secret
# nowhere NAME WORD REASON: the browser is not sent to the issuer.
nowhere() { land "$here/v1/signin?issuer=$1" && fails "$2" "$3"; }
check 'an issuer that nobody has named' nowhere nobody unknown 'nobody signs in by that issuer'
check '... whose tokens are taken, and no more' nowhere tokens unknown 'nobody signs in by that issuer'
check '... that does not say where' soon nowhere no issuer 'not as it must'
check '... that is down' nowhere down busy 'have not come yet'
check '... or none at all' nowhere '' unknown 'nobody signs in by that issuer'
outside() {
  for evil in "&next=https://evil.example.org" "&redirect_uri=https://evil.example.org" "%0d%0aLocation:%20https://evil.example.org" "//evil.example.org"; do
    visit "$here/v1/signin?issuer=idp$evil"
    grep -i '^location:.*evil' head && return 1
    leave && agree && visit "$to$evil"
    grep -i '^location:.*evil' head && return 1
  done
  return 0
}
check 'nobody is sent anywhere else' outside
disabled() {
  curl -sS -m 30 --unix-socket "$socket" -X PUT http://pool/v1/users/idp:alice/disabled -H 'Content-Type: application/classad' -d '[ Reason = "left" ]' -o /dev/null && led_back disabled 'the user is disabled'
  local status=$?
  curl -sS -m 30 --unix-socket "$socket" -X DELETE http://pool/v1/users/idp:alice/disabled -o /dev/null
  return $status
}
check 'a user who is disabled' disabled
revoked() {
  signs_in && session && id=$(grep -F event=audit.identity matchmaker.err | tail -n 1 | sed 's/.* id=\([0-9a-f]*\).*/\1/') && curl -sS -m 30 --unix-socket "$socket" -X DELETE "http://pool/v1/tokens/$id" && whoami && grep -F 'a good token is needed' who
}
check "what a sign-in gave is revoked with the institute's word for it" revoked

# ----------------------------------------------------------------------------------------------------------------- reload

reloaded() {
  local before
  before=$(grep -c event=reloaded matchmaker.err)
  kill -HUP "$matchmaker"
  for _ in $(seq 200); do [ "$(grep -c event=reloaded matchmaker.err)" -gt "$before" ] && return; sleep 0.1; done
  return 1
}
changed() {
  leave && agree && list | sed 's/Title = "My institute"/Title = "Another name"/; s/Name = "kept"/Name = "held"/' >berth.ad && reloaded && land && [[ $fragment == k=* ]] &&
    curl -sS -m 30 "$here/v1" -H 'Accept: application/json' >root && grep -F '"Title": "Another name"' root && grep -F '"Name": "held"' root && ! grep -F '"Name": "kept"' root
}
check 'a change of the list is taken on at a reload, and a sign-in under way ends well' changed
taken_back() { leave && agree && list | sed 's/Client = "berth page"; Title = "My institute"; Ask = "openid profile";/Client = "other";/' >berth.ad && reloaded && land && fails unknown 'nobody signs in'; }
check '... but not for a client that is gone' taken_back
unusable() { list | sed "s|$work/secret|/nowhere|" >berth.ad && reloaded && grep -F event=issuers.refused matchmaker.err | grep -F /nowhere && soon leave; }
check 'a list that cannot be used is refused, and the one before it stays' unusable
emptied() { echo '[ ]' >berth.ad && reloaded && nowhere idp unknown 'nobody signs in'; }
check 'and a list may become empty' emptied

# --------------------------------------------------------------------------------------------------------------- settings

starts() {
  echo "[ Issuers = { $1 } ]" >bad.ad
  ! timeout 30 "$berth" matchmaker --config bad.ad --listen 127.0.0.1:0 --state "$work/never" >words 2>&1 && { grep -F "$2" words || { cat words; false; }; }
}
rest='Issuer = "https://a.example"; Audience = "x"; Client = "c"'
check 'a secret without a client is refused' starts '[ Issuer = "https://a.example"; Audience = "x"; ClientSecret = "/x" ]' 'Client: without it nobody signs in'
check 'people cannot sign in by an issuer that is not asked' starts "[ $rest; Keys = \"$work/site/keys\" ]" 'Client: nobody can sign in by an issuer that is not asked'
check 'what is asked for must say who it is' starts "[ $rest; Ask = \"profile openidx\" ]" 'one is openid'
check 'a secret that is not there is named' starts "[ $rest; ClientSecret = \"/nowhere\" ]" 'ClientSecret: /nowhere: there is no such file'
cp secret open.secret && chmod 644 open.secret
check 'a secret that all can read is refused' starts "[ $rest; ClientSecret = \"$work/open.secret\" ]" 'others can read it'

echo "1..$count"
exit $((failures > 0))
