# agent.sh: what worker.sh and customer.sh have in common: asking the matchmaker, letters, the relay, tickets. bash reads it by `.`.
#
# docs/protocol.md tells what is said here and why. Keys are seen in the list of processes for a moment: not for machines where others log in.
set -u
export LC_ALL=C
pool=$1 file=$2 name=$3 # the matchmaker's URL; a file of curl's with header = "Authorization: Bearer v4..."; which agent of that identity
after=''                # the last letter that was read
way=1e61397408ab415e    # the channel of what goes by the relay unsealed, its lowest byte first
zeros=$(printf %064d 0)

ask() { curl -sSf -m 40 -K "$file" -H "Berth-Agent: $name" "${@:2}" "$pool$1"; } # PATH [OPTION...]
get() { [[ $2 =~ [[\;]$1=\"?([^]\"\;]*) ]] && echo "${BASH_REMATCH[1]}"; }        # the first field of that name in a text
plain() { sed 's/\\\\/\x01/g; s/\\n/\n/g; s/\\t/\t/g; s/\\\(.\)/\1/g; s/\x01/\\/g' <<<"$1"; } # what the quotes of a string stand around
word() { printf %016x "$1"; }
back() { fold -w2 <<<"$1" | tac | tr -d '\n'; } # a word, its lowest byte first
hex() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
seal() { printf "$(sed 's/../\\x&/g' <<<"$2")" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -r | cut -c1-64; }

# ------------------------------------------------------------------------------------------------------------ letters, relay

# A letter is read. True when another agent says something: `said` is the message; from, owner and relay are the matchmaker's word.
letter_open() {
  after=$(get Event "$1")
  [[ $1 =~ \;Text=\"(.*)\"]$ ]] || return 1
  envelope=$(plain "${BASH_REMATCH[1]}") from=$(get From "$1") owner=$(get Identity "$1") relay=$(get Relay "$1")
  said=${envelope#*;Message=}
}
letters() { ask "/v1/events?after=$after&wait=$1" || sleep 1; }                       # one a line, those that come within SECONDS
tell() { ask "/v1/relay/$1" --data-binary @- <<<"[Name=\"$name\";Message=$2${3-}]"; } # AGENT MESSAGE [MORE]: prints the answer
answer() { ask "/v1/answers/$relay" --data-binary @- <<<"$1"; }

# ------------------------------------------------------------------------------------------------------------------ tickets

# OFFER'S-KEY OFFER CLAIM GANG OWNER
ticket() { seal "$1" "$(hex 'berth ticket')00000000$(back "$2")$(back "$3")$(back "$4")$(back "$(word ${#5})")$(hex "$5")"; }
# TICKET WHOSE PROVIDER'S-NONCE CUSTOMER'S-NONCE
proof() { seal "$1" "$(hex "berth $2")0000$3$4$way"; }

# The provider: answers `verify` for the offer `id`, which has the key `key` and the ad `ad`. True when the ticket was proved.
verify_answer() {
  local r=ok ours=$zeros theirs=$(get Nonce "$said") asked=$(get Claim "$said") secret
  secret=$(ticket "$key" "$id" "$asked" "$(get Gang "$said")" "$owner")
  if [ "$(get Offer "$said")" != "$id" ]; then
    r=unknown
  elif [ $state != free ] && [ "$state$claim$boss" != "verified$asked$from" ]; then
    r=busy
  elif [ "$(get Proves "$said")" != true ]; then
    r=challenge nonce=$(openssl rand -hex 32)
  elif [ "$(get Proof "$said")" != "$(proof "$secret" customer "$nonce" "$theirs")" ]; then
    r=ticket
  else
    ours=$(proof "$secret" provider "$nonce" "$theirs") gang=$(get Gang "$said") user=$owner
  fi
  answer "[Message=\"verified\";Claim=\"$asked\";Reason=\"$r\";Span=1000000;Nonce=\"$nonce\";Proof=\"$ours\";Ad=$ad]" && [ $r = ok ]
}

# The customer: AGENT GANG CLAIM OFFER TICKET AD. True when both have proved it; else `reason` says why not.
verify_ask() {
  local mine=$(openssl rand -hex 32) theirs heard head="[Message=\"verify\";Gang=\"$2\";Claim=\"$3\";Offer=\"$4\";Port=\"$(word 0)\";Link=\"$(word 0)\";Leads=false"
  heard=$(tell "$1" "$head;Proves=false;Nonce=\"$zeros\";Proof=\"$zeros\";Ad=$6]") reason=$(get Reason "$heard")
  [ "$reason" = challenge ] || return
  theirs=$(get Nonce "$heard")
  heard=$(tell "$1" "$head;Proves=true;Nonce=\"$mine\";Proof=\"$(proof "$5" customer "$theirs" "$mine")\";Ad=$6]") reason=$(get Reason "$heard")
  [ "$reason" = ok ] && [ "$(get Proof "$heard")" = "$(proof "$5" provider "$theirs" "$mine")" ]
}

# ------------------------------------------------------------------------------------ what a provider says of its claim (claim, epoch, boss)

claimed() { answer "[Message=\"claimed\";Claim=\"$(get Claim "$said")\";Epoch=\"$epoch\";Reason=\"$1\"]"; }
beat() { get Reason "$(tell "$boss" "[Message=\"beat\";Claim=\"$claim\";Epoch=\"$epoch\";Sent=${SECONDS}000000;Heard=0]")"; }
# NUMBER JOB STATUS SECONDS FILE: the output travels beside the message, in the envelope: that is an agreement of these two scripts. The
# matchmaker hears what was used.
result() {
  ask /v1/claims -d "[Message=\"report\";Claim=\"$claim\";Gang=\"$gang\";Owner=\"$user\";Used=${4}000000;Over=true;Group=\"\";Limits=\"\";Weight=0]" >/dev/null
  get Reason "$(tell "$boss" "[Message=\"result\";Claim=\"$claim\";Number=\"$1\";Job=\"$2\";Reason=\"exited\";Status=$3;Used=${4}000000]" \
    ";Output=\"$(head -c 60000 "$5" | base64 -w0)\"")"
}
