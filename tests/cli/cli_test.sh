#!/bin/sh
# cli_test.sh: the program as a user runs it: what is typed, what comes out on each stream, and the status. Prints TAP.
set -u
berth=${BERTH:?the program}
export LC_ALL=C NO_COLOR=1
unset TERM
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/tap.sh"

feed() { # TEXT COMMAND...: as run, with TEXT as standard input
  printf '%s' "$1" >in
  shift
  "$@" >out 2>err <in
  status=$?
}

# ------------------------------------------------------------------------------------------------------------- eval

run "$berth" eval '3 + 4' '"a" == "A"' '{ 1, 2 }[0]'
expect 'eval prints the value of each expression, a line each' 0 '7
true
1'

run "$berth" eval '[ Memory = 64; Fits = Memory > 32 ].Fits' 'no.such.thing' '1 / 0'
expect 'undefined and error are values, not failures' 0 'true
undefined
error'

run "$berth" eval '1 + 1' '(1 + 2' '2 + 2'
expect 'a text that is no expression prints parse-error in its place, and the status is 2' 2 '2
parse-error
4' "expression:1:7: expected ')' to close '(' at 1:1"

feed '1 + 1
2 +
{1,2}[0]' "$berth" eval
expect 'eval reads expressions from standard input, and names the line of a bad one' 2 '2
parse-error
1' '-:2:4: expected an expression, got the end'

feed '' "$berth" eval
expect 'no expressions give no values' 0 ''

run "$berth" eval -d classic 'true + 1' '{ 1 }[3]'
expect 'in the classic dialect a truth value is no number' 0 'error
undefined'
run "$berth" eval -d condor 'true + 1' '{ 1 }[3]'
expect 'in the condor dialect it counts' 0 '2
error'

cat >job.ad <<'END'
// a job
[ Name = "sim"; Owner = "raman"; Image = 4G; Rank = other.Memory; Constraint = other.Memory >= Image && Arch == "x86_64" ]
END
printf '%s\n' '{"Name": "heron", "Memory": 8589934592.0, "Arch": "x86_64", "Prio": "/Expr(other.Owner == \"raman\" ? 1 : 0)/"}' \
  >machine.json
printf 'Name = "heron"\nMemory = 64\n\nName = "crane"\nMemory = 32\n' >pool.long

run "$berth" eval --my job.ad --target machine.json Constraint Rank other.Prio self.Arch
expect 'an expression stands in --my opposite to --target, whatever their forms' 0 'true
8589934592.0
1
undefined'

run "$berth" eval --target pool.long Memory other.Memory
expect 'without --my, names are those of --target, the first ad of its file' 0 '64
64'

"$berth" eval --my - Owner <job.ad >out 2>err
status=$?
expect '- is standard input' 0 '"raman"'

run "$berth" eval --now 2000-08-17T18:21:07-06:00 --zone -06:00 'currentTime()'
expect '--now and --zone are the time and zone of the evaluation' 0 "'2000-08-17T18:21:07-06:00'"
run "$berth" eval --now 966557467 --zone Z 'currentTime()'
expect '--now takes seconds since 1970' 0 "'2000-08-18T00:11:07+00:00'"

"$berth" eval --seed 7 'random()' 'random()' >one
"$berth" eval --seed 7 'random()' 'random()' >two
holds 'the same --seed gives the same random numbers' cmp one two
holds 'but each expression its own' sh -c '[ "$(sort -u one | wc -l)" = 2 ]'

run "$berth" eval '-5 + 3' -- -x
expect 'an expression may begin with a minus' 0 '-2
undefined'

run "$berth" eval --my none.ad 1
expect 'a file that cannot be read is named, with the reason' 2 '' 'none.ad: No such file or directory'
: >empty.ad
run "$berth" eval --my empty.ad 1
expect 'a file without an ad is refused where one is wanted' 2 '' 'berth: empty.ad: there is no ad in this file'
run "$berth" eval --my . 1
expect 'a folder is no file' 2 '' '.: Is a directory'

feed '.dialect
.my job.ad
Owner
.dialect condor
true + 1
(2
.nothing
.quit
3' "$berth" eval -i
expect 'the prompt answers, changes ad and dialect, and puts a caret under a fault' 0 'classic
"raman"
2
undefined' "    (2
      ^
expected ')' to close '(' at 1:1"

run "$berth" eval -i 1
expect 'eval -i takes no expression' 2 '' 'berth: eval -i takes no expressions: they are typed at its prompt'

# The prompt on a terminal: arguments are typed; `wait:TEXT` first waits until TEXT is seen.
cat >terminal.py <<'END'
import os, pty, select, sys, termios, time
program, home, keys = sys.argv[1], sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(HOME=home, TERM="dumb")
    os.execv(program, [program, "eval", "-i"])
seen, start, end = b"", 0, time.time() + 30
def wait_for(text):
    global seen, start
    while text not in seen[start:]:
        ready = select.select([terminal], [], [], max(0, end - time.time()))[0]
        try:
            got = os.read(terminal, 4096) if ready else b""
        except OSError: # what a terminal says when the other end is closed
            got = b""
        if not got:
            sys.exit("no %r in %r" % (text, seen))
        seen += got
    start = seen.index(text, start) + len(text)
    while text.endswith(b"> ") and termios.tcgetattr(terminal)[3] & termios.ICANON: # libedit is not quite ready
        time.sleep(0.01)
wait_for(b"\n> ")
for key in keys:
    key = key.encode().decode("unicode_escape").encode()
    if key.startswith(b"wait:"):
        wait_for(key[5:])
    elif key == b"pause":
        time.sleep(1)
    else:
        os.write(terminal, key)
while True:
    try:
        if not os.read(terminal, 4096):
            break
    except OSError:
        break
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
mkdir home
mkfifo home/pipe.ad
holds 'ctrl-c drops the line that is typed and gives a new prompt; ctrl-d ends' python3 terminal.py "$berth" "$work/home" \
  '1 + 1\r' 'wait:2\r\n> ' 'dropped' 'wait:dropped' '\x03' 'wait:^C\r\n> ' '\x03' 'wait:^C\r\n> ' '3 * 3\r' 'wait:9\r\n> ' '\x04'
printf '%s\n' _HiStOrY_V2_ '1\040+\0401' '3\040*\0403' >want
holds 'the history is kept, without the line that was dropped' diff want home/.berth_history
holds 'ctrl-c gives up on a file that does not come; .quit ends' python3 terminal.py "$berth" "$work/home" \
  ".my $work/home/pipe.ad\\r" 'wait:pipe.ad\r\n' pause '\x03' 'wait:Interrupted' 'wait:> ' '4 * 4\r' 'wait:16\r\n> ' '.quit\r'
for locale in C C.UTF-8; do
  holds "what is typed need not be ASCII, in the locale $locale" env LC_ALL=$locale python3 terminal.py "$berth" "$work/home" \
    'strcat("\u00e9", "\u65e5", "\U0001f6a2x")\r' 'wait:\n"\u00e9\u65e5\U0001f6a2x"\r\n> ' '"\u00e9\x7fe"\r' 'wait:\n"e"\r\n> ' '.quit\r'
done
holds 'and the history goes on' grep -qx '.quit' home/.berth_history

printf '\357\273\2771 + 1\r\n"a\r" == "a"\r\n(2\r\n3\r' >dos
"$berth" eval <dos >out 2>err
status=$?
expect 'a byte order mark and the line ends of other systems are no part of an expression' 2 '2
false
parse-error
3' "-:3:3: expected ')' to close '(' at 3:1"

run "$berth" eval --my= 1
expect 'an empty name of a file is refused as such' 2 '' \
  'berth: eval: --my: expected the name of a file, got an empty one (`berth help eval` lists the options)'
run "$berth" fmt ''
expect 'and told apart from nothing' 2 '' "'': No such file or directory"

awk 'BEGIN { for (i = 0; i < 30000; i++) print "(" i }' >many-bad
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "-:%d:%d: expected %s to close %s at %d:1\n", i + 1, length(i) + 2, "\047)\047", "\047(\047", i + 1 }' \
  >want
"$berth" eval <many-bad >out 2>err
holds 'all of many complaints are told, in their order' cmp want err
"$berth" eval <many-bad >both 2>&1
holds 'and whole, wherever they go' sh -c 'grep -v "^parse-error$" both | cmp - want'
{
  echo '(first'
  awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%s", "[a=b+b;b=c+c;c=d+d;d=e+e;e=f+f;f=g+g;g=h+h;h=i+i;i=j+j;j=k+k;k=l+l;l=m+m;m=n+n;n=1].a\n" }'
} >slow
"$berth" eval <slow >out 2>err &
child=$!
sleep 1
kill -TERM $child
wait $child 2>/dev/null
status=$?
: >out
expect 'what was complained about is told when the program is ended from outside' 143 '' \
  "-:1:7: expected ')' to close '(' at 1:1"

# -------------------------------------------------------------------------------------------------------- hard input

awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "("; print "" }' >brackets
(ulimit -s 256 && exec "$berth" eval <brackets >out 2>err)
status=$?
expect 'a million brackets are answered under a small stack' 2 parse-error \
  '-:1:257: nested too deeply: the depth limit is 256'
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "[a="; print "" }' >ads
for command in convert fmt lint refs; do
  (ulimit -s 256 && exec "$berth" $command ads >out 2>err)
  status=$?
  expect "$command answers a tower of ads under a small stack" 2 '' 'ads:1:769: nested too deeply: the depth limit is 256'
done

awk 'BEGIN { printf "0"; for (i = 0; i < 100000; i++) printf " +       1"; print "" }' >long
(ulimit -s 256 && exec "$berth" eval <long >out 2>err)
status=$?
expect 'a line of a megabyte is read and evaluated' 0 100000

printf '[ a = "\001\377" \000 ]' >rubbish
run "$berth" convert rubbish
expect 'binary rubbish is an error with its place' 2 '' "rubbish:1:12: unexpected byte 0x00"

if [ -c /dev/full ]; then
  "$berth" eval 1 >/dev/full 2>err
  status=$?
  : >out
  expect 'a full disk is told' 2 '' 'berth: standard output: No space left on device'
fi
"$berth" eval 1 >&- 2>err
status=$?
: >out
expect 'a closed standard output is told' 2 '' 'berth: standard output: Bad file descriptor'
awk 'BEGIN { for (i = 0; i < 100000; i++) print "[a=1]" }' >many
("$berth" convert many 2>err; echo $? >code) | head -n 1 >out
status=$(cat code)
expect 'a reader that has seen enough ends the program quietly, with status 2' 2 '[ a = 1 ]'

# ----------------------------------------------------------------------------------------------------------- convert

ad='[ Name = "heron"; Cpus = 8; Load = 0.05; Up = true; Tags = { "gpu", undefined }; Rank = other.Prio + 1; Inner = [ a = 1 ] ]'
feed "$ad" "$berth" convert --to json
expect 'convert prints JSON with expressions in the way of HTCondor' 0 \
  '{"Name": "heron", "Cpus": 8, "Load": 0.05, "Up": true, "Tags": ["gpu", null], "Rank": "\/Expr(other.Prio + 1)\/", "Inner": {"a": 1}}'
feed '[ Cpus = 8; Up = true ]' "$berth" convert --to long
expect 'convert prints the long form' 0 'Cpus = 8
Up = true
'
for form in classad json xml long; do
  printf '%s\n' "$ad" "$ad" | "$berth" convert --to $form >there.$form 2>err
  "$berth" convert --to classad there.$form >back 2>>err
  printf '%s\n' "$ad" "$ad" >want
  holds "what is converted to $form comes back the same" cmp want back
done
run "$berth" convert job.ad none.ad pool.long
expect 'a file that fails does not stop the others, but the status is 2' 2 \
  '[ Name = "sim"; Owner = "raman"; Image = 4294967296.0; Rank = other.Memory; Constraint = other.Memory >= Image && Arch == "x86_64" ]
[ Name = "heron"; Memory = 64 ]
[ Name = "crane"; Memory = 32 ]' 'none.ad: No such file or directory'
feed '[ a = 1 ]
[ b = 2; b 3 ]' "$berth" convert
expect 'the ads before a bad one are printed' 2 '[ a = 1 ]' "-:2:12: expected '=', got '3'"
run "$berth" convert --to yaml job.ad
expect 'an unknown form is refused with those there are' 2 '' \
  "berth: convert: --to: expected classad, json, xml or long, got 'yaml' (\`berth help convert\` lists the options)"

# --------------------------------------------------------------------------------------------------------------- fmt

cat >messy.ad <<'END'
// machines of the third floor

[ Type="Machine"; // what it is
  KeybrdIdle = '00:23:12';   Memory=64M /* inside */ ;


  // who may come
  Friends={ "calvin" ,"hobbes" };Empty={}; Sub=[a=1;b=[]];
  Rank // why
    = member(other.Owner,Friends)?10:0;
  Constraint=other.Type=?="Job"&&LoadAvg<0.3 && // idle
     KeybrdIdle>'00:15' && (TRUE||other.ImageSize*1024 <=-(Memory)) // small
  /* the end */ ]   // done
[a=f( 1,x [ 0 ].y)]
// nothing follows
END
cat >tidy.ad <<'END'
// machines of the third floor

[
    Type = "Machine";  // what it is
    KeybrdIdle = '00:23:12';
    Memory = 64M /* inside */;

    // who may come
    Friends = { "calvin", "hobbes" };
    Empty = {};
    Sub = [ a = 1; b = [] ];
    // why
    Rank = member(other.Owner, Friends) ? 10 : 0;
    Constraint = other.Type is "Job"
        && LoadAvg < 0.3  // idle
        && KeybrdIdle > '00:15'
        && (true || other.ImageSize * 1024 <= -(Memory));  // small
    /* the end */
]  // done

[
    a = f(1, x[0].y);
]
// nothing follows
END
run "$berth" fmt messy.ad
expect 'fmt lays out ads and keeps their comments' 0 "$(cat tidy.ad)"
run "$berth" fmt tidy.ad
expect 'what is laid out stays as it is' 0 "$(cat tidy.ad)"

cat >wide.ad <<'END'
[Constraint = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa || bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb && cccccccccccccccccccccccccccccc || dddddddddd;
List = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccccccccc", 4};
Choice = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ? bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb : !(cccccccccccccccccccccccccccccc + dd)]
END
run "$berth" fmt wide.ad
expect 'what is wider than a line is broken before its operators and between its elements' 0 '[
    Constraint = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        || bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb && cccccccccccccccccccccccccccccc
        || dddddddddd;
    List = {
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "cccccccccccccccccccccccccccccc",
        4
    };
    Choice = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        ? bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
        : !(cccccccccccccccccccccccccccccc + dd);
]'

cp messy.ad in-place.ad
chmod 640 in-place.ad
ln -s in-place.ad link.ad
run "$berth" fmt -w link.ad
expect 'fmt -w prints nothing' 0 ''
holds 'fmt -w rewrites the file' cmp in-place.ad tidy.ad
holds 'and keeps its mode' sh -c '[ "$(stat -c %a in-place.ad)" = 640 ]'
holds 'and a link to it' test -L link.ad
holds 'and leaves nothing else behind' sh -c '! ls | grep -q "in-place.ad\\."'
inode=$(stat -c %i in-place.ad)
"$berth" fmt -w in-place.ad
holds 'a file that is laid out already is not touched' [ "$(stat -c %i in-place.ad)" = "$inode" ]
printf '[ a = 1; b = (2 ]\n' >bad.ad
cp bad.ad before
run "$berth" fmt -w bad.ad
expect 'fmt says what is wrong with a bad file' 2 '' "bad.ad:1:17: expected ')' to close '(' at 1:14"
holds 'and leaves it alone' cmp bad.ad before
mkfifo pipe.ad
run timeout 10 "$berth" fmt -w pipe.ad
expect 'fmt -w refuses what is no regular file' 2 '' 'pipe.ad: this is not a regular file, and fmt -w rewrites only those'
holds 'which stays what it is' test -p pipe.ad
cp messy.ad hard.ad
ln hard.ad other.ad
"$berth" fmt -w hard.ad
holds 'fmt -w leaves the old text to other hard links, as the manual says' cmp other.ad messy.ad
printf '\357\273\277' | cat - tidy.ad >marked.ad
run "$berth" fmt marked.ad
expect 'a byte order mark is no part of an ad' 0 "$(cat tidy.ad)"
"$berth" fmt -w marked.ad
holds 'and fmt -w takes it away' cmp marked.ad tidy.ad
printf '\357\273\277[ a 1 ]' >marked.ad
run "$berth" fmt marked.ad
expect 'nor does it count as columns' 2 '' "marked.ad:1:5: expected '=', got '1'"
run "$berth" fmt pool.long
expect 'fmt works on the classad form only, and says so' 2 '' \
  "pool.long:1:1: expected '[' of an ad: fmt lays out the classad form only, and \`berth convert --to classad\` makes it of the others"
: >out
"$berth" fmt messy.ad | "$berth" convert >one 2>&1
"$berth" convert messy.ad >two 2>&1
holds 'laying out changes no meaning' cmp one two

# -------------------------------------------------------------------------------------------------- specialize, refs

run "$berth" specialize '2 * 3 < other.x' '3 + a + 7' 'false && other.x > 10'
expect 'specialize folds what is known and leaves the rest' 0 '6 < other.x
10 + a
false && other.x > 10'
run "$berth" specialize --truth 'false && other.x > 10'
expect 'specialize --truth keeps only whether it is true' 0 'false'
run "$berth" specialize --my job.ad Constraint
expect 'specialize --my folds in the attributes of an ad' 0 'other.Memory >= 4294967296.0 && Arch == "x86_64"'
run "$berth" specialize 'a - 3 + b + 5'
expect 'specialize gathers constants across what is not known' 0 'a + 2 + b'
run "$berth" specialize '9223372036854775807 + a + 1'
expect 'but not where they would wrap, since the unknown may be a real' 0 '9223372036854775807 + a + 1'
run "$berth" specialize 'currentTime() > other.x'
expect 'specialize leaves the time' 0 'currentTime() > other.x'
run "$berth" specialize --now 0 'currentTime() > other.x'
expect 'specialize --now folds it in' 0 "'1970-01-01T00:00:00+00:00' > other.x"
run "$berth" specialize '1 +'
expect 'specialize says what is wrong with an expression' 2 '' 'expression:1:4: expected an expression, got the end'

run "$berth" refs job.ad machine.json
expect 'refs prints a row for each name that an ad asks of others' 0 'NAME   SCOPE  REFERENCE
sim           Arch
sim    other  other.Memory
heron  other  other.Owner'
feed '[ a = b ] [ a = 1 ] [ x = TARGET.c.d ]' "$berth" refs --json -
expect 'refs --json prints an object a row; an ad without Name is called by its place' 0 \
  '{"name": "#1", "scope": "", "reference": "b"}
{"name": "#3", "scope": "other", "reference": "other.c.d"}'
feed '[ Name = "q"; a = b ] [ a = 1 ]' "$berth" refs --long -
expect 'refs --long prints the ads themselves that ask something' 0 'Name = "q"
a = b
'

# -------------------------------------------------------------------------------------------------------------- lint

feed '// two ads
[ Name = "a"; Constraint = other.x < 10 && other.x > 12 ]

[ m = size({}, 1); n = membr(1, m) ]' "$berth" lint -
expect 'lint tells what is wrong, with the line of the ad, its name and the attribute; the status is 1' 1 \
  "-:2: ad a, attribute Constraint: 'other.x < 10' and 'other.x > 12' are never both true
-:4: ad #2, attribute m: size(X) takes 1 argument, not 2
-:4: ad #2, attribute n: there is no function 'membr'; did you mean 'member'?"
feed '[ x = 1 ] [ y = size() ]' "$berth" lint --json -
expect 'lint --json prints an object a finding' 1 \
  '{"file": "-", "line": 1, "ad": "#2", "attribute": "y", "kind": "argument-count", "text": "size(X) takes 1 argument, not 0"}'
feed '[ a = (x > 1) * 10 ]' "$berth" lint -d condor -
expect 'what is wrong depends on the dialect; when nothing is, lint says nothing' 0 ''
feed '[ a = 1; Constraint = false ] [ a = ' "$berth" lint -
expect 'lint tells what it found before a text that is wrong, and the status is 2' 2 \
  '-:1: ad #1, attribute Constraint: is always false, so nothing matches' '-:1:37: expected an expression, got the end'
echo '[ Name = "heron"; Memory = 16G ]' >amount.ad
feed '[ Name = "huge"; Constraint = other.Memory >= 100T ]' "$berth" why -r - -o amount.ad
holds 'why writes amounts as people do' sh -c 'grep -q "with other.Memory >= 16G instead of other.Memory >= 100T$" out && ! grep 109951162777600 out'
# every ad of docs/policies.md: one that begins a line, four blanks before it, up to the line in which it ends
awk '/^    \[/ { inside = 1 } inside { sub(/(^| +)\/\/.*/, ""); print } inside && /\]$/ { inside = 0 }' \
  "$BERTH_SOURCE/docs/policies.md" >policies.ad
run "$berth" lint policies.ad "$BERTH_SOURCE"/examples/policy/*.ad
expect 'lint has nothing against the policies of the manual' 0 ''
holds 'of which there are some' [ "$(grep -c '^    \[' policies.ad)" -ge 3 ]
"$berth" convert --to long "$BERTH_SOURCE/examples/policy/machine.ad" "$BERTH_SOURCE/examples/policy/nights.ad" | sed '/^$/d' >offer.ad
run "$berth" lint offer.ad
expect 'nor against one that is laid over a machine' 0 ''
run "$berth" lint
expect 'lint wants a file' 2 '' 'berth: lint wants a file of ads, or - for standard input'

# ------------------------------------------------------------------------------------------------------------- query

feed '[ Name = "a"; m = 1 ] [ m = 5 ] [ Name = "c" ]' "$berth" query -o - 'm > 0'
expect 'query prints the name, or the place, of each ad for which the expression is true' 0 'NAME
a
#2'
feed '[ Name = "a"; m = 1; Constraint = false ]' "$berth" query --json -o - 'other.m == 1'
expect 'query reads the ad by other. too, and does not ask its constraint' 0 '{"name": "a"}'
feed '[ Name = "a"; m = 1 ] [ m = 5 ]' "$berth" query --long -o - 'm > 1'
expect 'query --long prints the ads themselves' 0 'm = 5
'
feed '[ m = 1 ]' "$berth" query -o - 'm > 1'
expect 'query says by its status that there is no such ad' 1 ''
feed '[ m = 1 ] [ m = ' "$berth" query -o - 'm >= 1'
holds 'query says what is wrong with the file' test "$status" = 2
run "$berth" query -o job.ad 'm >'
expect 'query says what is wrong with the expression' 2 '' 'expression:1:4: expected an expression, got the end'
run "$berth" query -o job.ad
expect 'query wants an expression' 2 '' 'berth: query wants one expression, and -o FILE with the ads or a pool'

# ------------------------------------------------------------------------------------------------------------- match

printf '[ Name = "j1"; Rank = other.m; Constraint = other.m > 1 ] [ Name = "j2"; Count = 2 ]' >requests.ad
printf '[ Name = "a"; m = 1 ] [ m = 5 ] [ Name = "c"; m = 3; Constraint = other.Name != "j2" ]' >offers.ad
run "$berth" match -r requests.ad -o offers.ad
expect 'match gives each request its best offer, and each offer once' 0 'REQUEST  OFFER  RANK
j1       #2        5
j2       a         0'
run "$berth" match --json -r requests.ad -o offers.ad
expect 'match --json prints an object a match' 0 '{"request": "j1", "offer": "#2", "rank": 5}
{"request": "j2", "offer": "a", "rank": 0}'
printf '[ RootOrder = p; DockingVector = { -label.m } ]' >policy.ad
printf '[ Name = "low"; p = 1 ] [ Name = "high"; p = 2 ]' >two.ad
run "$berth" match --policy policy.ad -r two.ad -o offers.ad
expect 'match --policy says who is served first, and with what' 0 'REQUEST  OFFER  RANK
high     a         0
low      c         0'
printf '// odd\n[ DockingVector = label.m ]' >policy.ad
run "$berth" match --policy policy.ad -r two.ad -o offers.ad
expect 'a docking vector that is no list is refused with its place' 2 '' \
  'policy.ad:2:3: a DockingVector is a list of expressions: { self.Rank, label.Rank }'
printf '[ a = 1 ]\n[ Residual = [ c = Residual.c ] ]' >circle.ad
run "$berth" match -r two.ad -o circle.ad
expect 'a residual that reads itself is refused with its place, before any match is made' 2 '' \
  'circle.ad:2:1: Residual reads itself'
printf '[ Constraint = other.m > 9 ]' >nobody.ad
run "$berth" match -r nobody.ad -o offers.ad
expect 'match says by its status that nothing matched' 1 ''
run "$berth" match -r requests.ad
expect 'match wants both files' 2 '' 'berth: match wants -r FILE with the requests and -o FILE with the offers'

# -------------------------------------------------------------------------------------------------------- help, usage

run "$berth" --version
holds '--version prints name and version' grep -Eqx 'berth [0-9]+\.[0-9]+\.[0-9]+' out
commands=$("$berth" help --all | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
  run "$berth" help "$command"
  holds "help $command shows how to call it, its options and an example" sh -c \
    'grep -q "^usage: berth '"$command"' " out && grep -q -- "--help" out && grep -q "^  [$] .*berth" out'
  cp out help.out
  run "$berth" "$command" --help
  holds "$command --help is the same" cmp out help.out
  run "$berth" help --man "$command"
  holds "$command has a page for man" grep -q '^.TH BERTH' out
  holds "which is installed" grep -q "'$command'" "${BERTH_SOURCE:?the sources}/man/meson.build"
done
holds 'no line of help is wider than 80 columns' sh -c \
  '! for c in "" --all functions $1; do "$0" help $c; done | grep -E ".{81}"' "$berth" "$commands"
run "$berth" help functions
holds 'help functions lists them with what they do' grep -q '^strcat(' out
run "$berth" help --search seCRet
holds 'help --search finds a word in whatever case, in commands and options' sh -c 'grep -q "^berth help exec " out && grep -q "^berth submit --secret NAME=FILE$" out'
run "$berth" help --search lease heart
holds 'of several words all must be there: here a setting' sh -c '[ "$(grep -c ^berth out)" = 1 ] && grep -q "^berth config --explain Lease " out'
run "$berth" help --search strcat
holds 'functions are found, too' grep -q '^berth help strcat ' out
run "$berth" help --search nosuchword
expect 'where there is none it is said, with status 1' 1 '' 'berth: no help has that word'
run "$berth" help --search
expect 'a search wants words' 2 '' 'berth: help --search wants a word, or several'
run "$berth" help SIZE
holds 'help explains one function, whatever the case' grep -q '^size(' out

run "$berth"
holds 'without a command the commands are told, with status 2' sh -c '[ '$status' = 2 ] && [ ! -s out ] && grep -q "^  eval" err'
holds 'first what Berth is, in a line' [ "$(sed -n 1p err)" = 'Berth runs jobs on the machines you have.' ]
first=$(sed -n '/^Jobs:/,/^  berth help/s/^  \([a-z]*\) .*/\1/p' err | grep -vx berth)
holds 'fifteen commands at most, in groups' sh -c '[ $(echo "$1" | wc -l) -le 15 ] && grep -qx "The pool:" err && grep -qx "Ads:" err' sh "$first"
holds 'among them those by which one begins' sh -c 'for c in pool run submit jobs why; do echo "$1" | grep -qx $c || exit 1; done' sh "$first"
holds 'and how to see the rest' grep -q '^  berth help --all ' err
cp err short.out
run "$berth" help
holds 'help is the same' cmp out short.out
holds 'help --all lists them all' sh -c 'for c in $1; do echo "$2" | grep -qx $c || exit 1; done; [ $(echo "$2" | wc -l) -gt 40 ]' sh "$first" "$commands"
run "$berth" evl 1
expect 'a misspelt command is refused with the nearest' 2 '' "berth: there is no command 'evl'; did you mean 'eval'?"
run "$berth" eval --dilect condor 1
expect 'a misspelt option is refused with the nearest' 2 '' \
  'berth: eval: there is no option --dilect; did you mean --dialect? (`berth help eval` lists the options)'
run "$berth" eval -d clasic 1
expect 'an unknown dialect is refused with those there are' 2 '' \
  "berth: eval: --dialect: expected classic or condor, got 'clasic' (\`berth help eval\` lists the options)"
run "$berth" eval --my
expect 'an option without its argument is refused' 2 '' \
  'berth: eval: --my wants an argument: FILE (`berth help eval` lists the options)'
run "$berth" eval -dcondor --now=0 'true + 1'
expect 'options are understood with their arguments attached' 0 '2'
run "$berth" help sise
expect 'help suggests the nearest topic' 2 '' "berth: there is no help on 'sise'; did you mean 'size'?"

# --------------------------------------------------------------------------------------------------------------- why

cat >why_jobs.ad <<'END'
[ Name = "none"; Owner = "ada"; Constraint = other.Memory >= 64 &&
    (other.Arch == "X" && usual); usual = other.Disk > 1 && other.Cpus > 0 ]
[ Name = "yes"; Constraint = other.Memory >= 16 ]
END
cat >why_pool.ad <<'END'
[ Name = "a"; Memory = 32; Arch = "X"; Disk = 5; Cpus = 1 ]
[ Name = "b"; Memory = 48; Arch = "X"; Disk = 5; Cpus = 1; Constraint = other.Owner != "ada" ]
END
run "$berth" why -r why_jobs.ad -o why_pool.ad --name none
expect 'why tells the place of every clause, through own attributes too, what blocks, who refuses and what would help' 1 \
  'none: matches none of 2 offers now.
     alone     left  clause
         0        0  why_jobs.ad:1:46  other.Memory >= 64
         2        0  why_jobs.ad:2:6  other.Arch == "X"
         2        0  why_jobs.ad:2:43  other.Disk > 1
         2        0  why_jobs.ad:2:61  other.Cpus > 0
No offer satisfies other.Memory >= 64; without that, 1 would match.
1 offer refuses it:
         1           other.Owner != "ada"  (Owner = "ada")
It would match
         1           with other.Memory >= 32 instead of other.Memory >= 64'
run "$berth" why -r why_jobs.ad -o why_pool.ad --name yes
expect 'where a request matches, the status is 0' 0 'yes: matches 1 of 2 offers.
It gets a, the only one.
     alone     left  clause
         2        2  why_jobs.ad:3:30  other.Memory >= 16
1 offer refuses it, 1 of which it would take:
         1           other.Owner != "ada"  (Owner is missing)'
run "$berth" why -r why_jobs.ad -o why_pool.ad
holds 'all requests are explained, and one that matches nothing makes the status 1' sh -c \
  '[ '$status' = 1 ] && grep -q "^none: matches none" out && grep -q "^yes: matches 1" out'
run "$berth" why -r why_jobs.ad -o why_pool.ad --name nobody
expect 'a name that nobody has is refused' 2 '' "berth: no request and no offer is called 'nobody'"
run "$berth" why -r why_jobs.ad
expect 'why wants both files' 2 '' 'berth: why wants -r FILE with the requests and -o FILE with the offers'
run "$berth" why --json -r why_jobs.ad -o why_pool.ad
holds 'why --json prints an object a request, with its version' sh -c \
  '[ $(grep -c "^{\"version\": 1, \"request\": " out) = 2 ] && grep -q "\"line\": 2, \"column\": 43, \"alone\": 2" out &&
   grep -q "\"edits\": \[{\"opens\": 1, \"changes\": \[{\"kind\": \"clause\", \"clause\": 0, \"from\": \"other.Memory >= 64\", \"to\": \"other.Memory >= 32\"}\]}\]" out'
"$berth" convert -d condor --to long why_jobs.ad >why_jobs.long
run "$berth" why -d condor -r why_jobs.long -o why_pool.ad --name none
holds 'in the long form clauses have places too' grep -q 'why_jobs.long:3:37  other.Arch == "X"' out
"$berth" convert --to json why_jobs.ad >why_jobs.json
run "$berth" why -r why_jobs.json -o why_pool.ad --name none
holds 'in JSON they have none' grep -q '^         2        0  other.Arch == "X"' out
echo "[ Name = \"night\"; Constraint = DayTime() > '20:00' ]" >why_night.ad
run "$berth" why -r why_jobs.ad -o why_night.ad --name night --now 2026-03-01T12:00:00Z
holds 'an offer that is closed at this time refuses everybody' sh -c \
  'grep -q "^It refuses everybody in its present state.$" out && grep -q "(not at this time)$" out'
: >why_nobody.ad
run "$berth" why -r why_nobody.ad -o why_pool.ad --name a
holds 'an offer without requests is told so' grep -q '^a: matches nothing, for there are no requests.$' out
run "$berth" match --long -r why_jobs.ad -o why_pool.ad
expect 'match --long prints both ads of a match' 0 'Name = "yes"
Constraint = other.Memory >= 16

Name = "a"
Memory = 32
Arch = "X"
Disk = 5
Cpus = 1
'
{
  printf '[ Name = "bomb"; '
  i=0
  while [ $i -lt 20 ]; do
    printf 'A%d = A%d && A%d; ' $i $((i + 1)) $((i + 1))
    i=$((i + 1))
  done
  printf 'A20 = other.x > 100; Constraint = A0 ]\n'
} >why_bomb.ad
i=0
while [ $i -lt 400 ]; do
  printf '[ x = %d ]\n' $i
  i=$((i + 1))
done >why_many.ad
run "$berth" why -r why_bomb.ad -o why_many.ad
holds 'an explanation that would take too long stops, and says so' grep -q 'offers more were not looked at' out
run "$berth" why -r - -o -
expect 'standard input cannot be both sides' 2 '' 'berth: standard input can be the requests or the offers, not both'
printf '[ Name = "a\\033b"; Rank = real("INF") ]' >why_odd.ad
run "$berth" match --json -r why_odd.ad -o why_pool.ad
holds 'a rank that JSON has no number for is a string' grep -q '"rank": "real(\\"INF\\")"' out
run "$berth" why -r why_odd.ad -o why_pool.ad
holds 'what would control a terminal is not printed' grep -q '^a?b: matches 1 of 2' out
run "$berth" match --engine scan -r why_jobs.ad -o why_pool.ad
holds 'match --engine scan tries every pair' grep -q '^yes      a' out
run "$berth" match --engine fast -r why_jobs.ad -o why_pool.ad
holds 'another engine is refused' [ $status = 2 ]

# --------------------------------------------------------------------------------------------------------------- sim

run "$berth" sim --faults --seed 7
holds 'sim --faults prints the counts of claims, faults and violations' sh -c \
  'grep -q "^claims  *[1-9]" out && grep -q "^faults  *[1-9]" out && grep -q "^violations  *0$" out'
run "$berth" sim --faults --seed 7 --claims 200 --json
holds 'sim --json prints one object' sh -c \
  'test $(wc -l <out) = 1 && grep -q "^{\"worlds\": [1-9].*\"violations\": 0, \"hash\": " out'
sed 's/"seconds.*//' out >sim_first
run "$berth" sim --faults --seed 7 --claims 200 --json
holds 'the same seed gives the same worlds' sh -c 'sed "s/\"seconds.*//" out | cmp - sim_first'
run "$berth" sim --faults --seed 7 --claims 200 --jobs 2 --json
holds 'sim --jobs 2 prints the same' sh -c 'sed "s/\"seconds.*//" out | cmp - sim_first'
run "$berth" sim --faults --jobs 0
expect 'sim wants one process at least' 2 '' "berth: sim: --jobs: expected a number from 1 to 1024, got '0' (\`berth help sim\` lists the options)"
run "$berth" sim
expect 'sim wants to know what to simulate' 2 '' 'berth: sim wants --faults, --scenario FILE, --trace FILE or --policy LIST'
cat >small.ad <<'END'
[ Name = "small"; Providers = 50; Jobs = 200; Duration = 7200;
  Machines = { [ Ad = [ Type = "Machine"; Constraint = other.Type == "Job" ] ] };
  Shapes = [ Count = 4; Sizes = 50; Duration = 600; Ads = { [ Ad = [ Type = "Job"; Constraint = other.Type == "Machine" ] ] } ] ]
END
run "$berth" sim --scenario small.ad
holds 'sim --scenario prints the figures of the pool that a file describes' sh -c \
  'grep -q "^jobs done  *200$" out && grep -q "^jobs queued  *0$" out && grep -q "^cycle times" out && ! grep -q . err'
sed '/^cycle times/,$d' out >sim_first
run "$berth" sim --scenario small.ad --seed 1
holds 'the same file gives the same figures, but for those of a clock' sh -c 'sed "/^cycle times/,\$d" out | cmp - sim_first'
run "$berth" sim --scenario small.ad --scale 0.5 --hours 0.1 --json
holds 'sim --scenario --json prints one object' sh -c \
  'python3 -c "import json; d = json.load(open(\"out\")); assert d[\"providers\"] == 25 and d[\"submitted\"] == 100 and d[\"done\"] == 0 and d[\"running\"] == 25"'
sed 's/Sizes = 50/Sizes = "many"/' small.ad >wrong.ad
run "$berth" sim --scenario wrong.ad
expect 'what is wrong with a scenario is told with its place' 2 '' \
  'wrong.ad:3:25: Shapes.Sizes: expected a number or a distribution'
run "$berth" sim --scenario small.ad --faults
expect 'sim does one or the other' 2 '' 'berth: sim wants --faults, --scenario FILE, --trace FILE or --policy LIST'

# ------------------------------------------------------------------------------------------------------------- store

# make_store FILE: a store with three rows, two of them in `jobs`, as version 2 has it.
make_store() {
  python3 - "$1" <<'END'
import sqlite3, sys

MASK = 2**64 - 1

def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31

def row_sum(*parts):
    total = 0
    for part in parts:
        total = mix(total ^ len(part))
        for at in range(0, len(part), 8):
            total = mix(total ^ int.from_bytes(part[at:at + 8], "little"))
    return total - 2**64 if total >> 63 else total

db = sqlite3.connect(sys.argv[1])
db.executescript("""
  CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE shelf (space TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, sum INTEGER NOT NULL DEFAULT 0,
                      PRIMARY KEY (space, key)) STRICT;
  INSERT INTO meta VALUES ('schema', '2');
  PRAGMA application_id = 0x42727468; PRAGMA user_version = 2;
""")
for space, key, value in ((b"agents", b"a", b""), (b"jobs", b"1", b"first value"), (b"jobs", b"2", b"second")):
    db.execute("INSERT INTO shelf VALUES (?, ?, ?, ?)", (space.decode(), key, value, row_sum(space, key, value)))
db.commit()
END
}

mkdir -p state/berth
make_store state/berth/berth.db
cp state/berth/berth.db whole.db
run "$berth" store check state/berth/berth.db
expect 'store check counts the rows and bytes of each space' 0 'SPACE   ROWS  BYTES
agents     1      1
jobs       2     19'
run "$berth" store check --json --state state/berth
expect 'store check --json prints an object a space' 0 '{"space": "agents", "rows": 1, "bytes": 1}
{"space": "jobs", "rows": 2, "bytes": 19}'
run env XDG_STATE_HOME="$work/state" "$berth" store check
expect 'the store is found by XDG_STATE_HOME' 0 'SPACE   ROWS  BYTES
agents     1      1
jobs       2     19'
holds 'store check changes no file and makes none' sh -c \
  'cmp state/berth/berth.db whole.db && [ "$(ls -A state/berth)" = berth.db ]'
sed 's/first value/fIrst value/' whole.db >damaged.db
run "$berth" store check damaged.db
expect 'a row that was damaged is found, and the status is 1' 1 'SPACE   ROWS  BYTES
agents     1      1
jobs       2     19' 'damaged.db: space jobs, row 1: its checksum is wrong'
run "$berth" store check whole.ad
expect 'a store that is not there cannot be read' 2 '' 'berth: whole.ad: No such file or directory'
echo 'not a store, but a text that somebody wrote' >text.db
run "$berth" store check text.db
holds 'nor a file that is none' sh -c '[ '$status' = 2 ] && grep -q "file is not a database" err'
run "$berth" store backup whole.db copy.db
expect 'store backup copies a store' 0 'copy.db: 3 rows, 20 bytes'
run "$berth" store backup --state state/berth copy.db
expect 'but not over another file' 2 '' 'berth: copy.db: is there already: a backup is a new file'
run "$berth" store backup damaged.db no.db
holds 'of a damaged store it makes none' sh -c '[ '$status' = 2 ] && grep -q "row 1: its checksum is wrong" err && [ ! -e no.db ]'
run "$berth" store restore copy.db new.db
expect 'store restore puts a copy where there was none' 0 'new.db: 3 rows, 20 bytes'
run "$berth" store restore copy.db new.db
holds 'and keeps what was there before' sh -c '[ '$status' = 0 ] && grep -q "/new.db.old.1$" out && [ -e new.db.old.1 ]'
run "$berth" store restore new.db new.db
holds 'not a store in its own place' sh -c '[ '$status' = 2 ] && grep -q "is the store itself, not a backup of it" err'
run "$berth" store repair whole.db
expect 'store repair leaves a whole store as it is' 0 'whole.db: is whole: nothing was changed'
run "$berth" store repair damaged.db
holds 'it saves the rows of a damaged one, and complains of the others' sh -c '[ '$status' = 1 ] && grep -q "^damaged.db: 2 rows, 8 bytes were saved$" out &&
  grep -q "^damaged.db: space jobs, row 1: its checksum is wrong$" err && [ -e damaged.db.old.1 ] && "$1" store check damaged.db' sh "$berth"
run "$berth" store repair nowhere.db
holds 'of one that is gone it says what to do' sh -c '[ '$status' = 2 ] && grep -q "nowhere.db: is not there: .berth store restore." err'
wants='berth: store wants: check [STORE], backup [STORE] FILE, restore FILE [STORE], move [STORE] STORE or repair [STORE]; and --state DIR in the place of STORE'
run "$berth" store check --state state whole.db
expect 'store check takes a folder or a file' 2 '' "$wants"
run "$berth" store
expect 'store wants to know what to do' 2 '' "$wants"

# ------------------------------------------------------------------------------------------------------------- bench

run "$berth" bench parse --ads 50 --rounds 1
holds 'bench parse prints rows for parsing, printing and memory' sh -c \
  'for n in parse print memory; do grep -q "^{\"name\": \"$n\", .*\"seconds\": .*\"operations\": 50, .*\"per_second\": .*\"bytes\": " out || exit 1; done'
holds 'the ad of figure 13 has 886 bytes' grep -q '"parse".*"bytes": 44300, "bytes_per_ad": 886,' out
run "$berth" bench serve --ads 500
holds 'bench serve prints a row for each way to use a matchmaker' sh -c \
  'for name in put renew batch batch-renew get notify; do grep -q "^{\"name\": \"serve-$name\", .*per_second" out || exit 1; done'
run "$berth" bench eval --ads 50 --rounds 1
holds 'bench eval prints a row for each figure, whose constraint is true' sh -c \
  '[ '$status' = 0 ] && for n in 1 4 6 13; do grep -q "\"eval-figure-$n\"" out || exit 1; done'
run "$berth" bench pair --ads 20 --rounds 1
holds 'bench pair prints the workload of section 4.6, and a job that matches and one that does not' sh -c \
  '[ '$status' = 0 ] && grep -q "\"pair-4\".*\"operations\": 400," out && [ $(grep -c "\"pair-job\"" out) = 2 ]'
run "$berth" bench index --ads 60 --attributes 8 --mix M --rounds 1
holds 'bench index prints a row for each engine, which find the same' sh -c \
  '[ '$status' = 0 ] && [ $(grep -c "\"ads\": 60, .*\"attributes\": 8, \"mix\": \"M\"" out) = 2 ] && [ $(grep -o "\"matches\": [0-9]*" out | sort -u | wc -l) = 1 ]'
for mix in T M D; do "$berth" bench index --ads 60 --attributes 4 --mix $mix --rounds 1 --engine index; done | grep -o '"bytes": [0-9]*' >out
holds 'the index takes as much memory for few values as for many' sh -c '[ $(wc -l <out) = 3 ] && [ $(sort -u out | wc -l) = 1 ]'
run "$berth" bench index -r why_jobs.ad -o why_pool.ad --rounds 1
holds 'bench index counts the matches of files' sh -c '[ '$status' = 0 ] && [ $(grep -c "\"matches\": 1," out) = 2 ]'
run "$berth" bench index -r why_jobs.ad
expect 'bench index wants both files' 2 '' 'berth: bench index wants both -r FILE and -o FILE, or neither'
run "$berth" bench index --mix X
holds 'an unknown mix is refused' [ $status = 2 ]
run "$berth" match --plan -r why_jobs.ad -o why_pool.ad
holds 'match --plan tells the sets of the index' grep -q '^yes  *asks  other.Memory >= 16  *2  yes$' out
run "$berth" bench why --ads 500 --rounds 1
holds 'bench why prints a row a question' sh -c '[ '$status' = 0 ] && [ $(grep -c "\"why-" out) = 4 ]'
run "$berth" bench plan --ads 1000 --rounds 1
holds 'bench plan plans as many as it says' sh -c \
  '[ '$status' = 0 ] && [ "$(sed -n "s/.*\"name\": \"\([a-z-]*\)\".*\"reserved\": \([0-9]*\), \"planned\": \([0-9]*\),.*/\1 \2 \3/p" out | head -5 | paste -sd" ")" = "plan-bare 0 0 plan-none 100 0 plan-easy 100 1 plan-some 100 8 plan-many 100 100" ]'
run "$berth" bench plan --ads 999
expect 'bench plan wants a pool of some size' 2 '' 'berth: bench plan wants --ads of 1000 or more'
run "$berth" bench gang --machines 40 --algorithm all --licenses 50 --selectivity 2 --rounds 1
holds 'bench gang prints a row an algorithm' sh -c \
  '[ '$status' = 0 ] && [ $(grep -c "^{\"name\": \"gang-base\", .*\"machines\": 40, \"jobs\": 40, \"licenses\": 20, \"selectivity\": 2," out) = 9 ]'
run "$berth" bench gang --machines 40 --duds --rounds 1
holds 'bench gang runs both regimes of licences and all selectivities' sh -c \
  '[ '$status' = 0 ] && [ $(grep -c "^{\"name\": \"gang-duds\", \"algorithm\": \"auto\", .*\"gangs\": [1-9]" out) = 8 ]'
run "$berth" bench gang --workload skewed --rounds 1
holds 'the skewed pool has licences for 100 machines' grep -q '"gang-skewed", .*"licenses": 1000, .*"gangs": 100,' out
run "$berth" bench gang --workload opportunity --machines 100 --algorithm dyns --rounds 1
holds 'bench gang tells what matches took from others' sh -c \
  '[ '$status' = 0 ] && [ $(grep -c "\"gang-opportunity\", .*\"discrimination\": [0-9]*, .*\"opportunity_cost\": [1-9]" out) = 5 ]'
run "$berth" bench gang -r why_jobs.ad -o why_pool.ad --rounds 1
holds 'bench gang makes the gangs of files' sh -c '[ '$status' = 0 ] && grep -q "\"gang-files\", .*\"gangs\": 1," out'
run "$berth" bench gang --duds --workload skewed
expect 'duds go with the base workload' 2 '' 'berth: bench gang has --duds for the base workload alone'
run "$berth" bench gang -o why_pool.ad
expect 'bench gang wants both files' 2 '' 'berth: bench gang wants both -r FILE and -o FILE, or neither'
printf '[ Ports = { [ Label = a ], [ Label = a ] } ]\n' >twice.ad
run "$berth" bench gang -r twice.ad -o why_pool.ad
expect 'bench gang refuses ports that are not in order' 2 '' 'berth: twice.ad: #1: ports 1 and 2 have the same Label, a'
run "$berth" bench gang --selectivity 3
expect 'a selectivity is a power of two' 2 '' \
  "berth: bench: --selectivity: expected 1, 2, 4 or 8, got '3' (\`berth help bench\` lists the options)"
run "$berth" bench gang --algorithm best
expect 'an unknown algorithm is refused' 2 '' \
  "berth: bench: --algorithm: expected naive, lr, rl, lrc, rlc, dyn, dyns, dynsr, auto or all, got 'best' (\`berth help bench\` lists the options)"
run "$berth" bench parse --ads 99999999999999
expect 'bench refuses more ads than it could hold' 2 '' \
  "berth: bench: --ads: expected a number from 1 to 1000000, got '99999999999999' (\`berth help bench\` lists the options)"
run "$berth" bench eval --rounds 0
expect 'and no rounds' 2 '' \
  "berth: bench: --rounds: expected a number from 1 to 1000000, got '0' (\`berth help bench\` lists the options)"
run "$berth" bench grdl --ads 1000 --rounds 1
holds 'bench grdl matches shapes in place of resources' sh -c \
  '[ '$status' = 0 ] && grep -q "\"task_shapes\": 500, \"executor_shapes\": 100, \"matches\": [1-9]" out'
TMPDIR=$work run "$berth" bench store --count 50 --slots 4
holds 'bench store makes the rows of jobs durable, and leaves nothing behind' sh -c \
  '[ '$status' = 0 ] && grep -q "\"kind\": \"sqlite\", \"slots\": 4, \"rows\": 81[0-9], \"steps\": 130, \"commits\": 33," out && ! ls -d berth-bench-* 2>/dev/null'
run "$berth" bench store --slots 2,4
expect 'it takes one number of slots' 2 '' "berth: --slots wants a number from 1 to 1024 here: '2,4'"
run "$berth" bench store --store nowhere/berth.db
holds 'and says why a store cannot be opened' sh -c '[ '$status' = 1 ] && grep -q "^berth: .*nowhere" err'
run "$berth" bench everything
expect 'an unknown bench is refused' 2 '' "berth: there is no bench 'everything'; there are parse, eval, pair, index, why, engine, serve, gang, pull, plan, assign, grdl, jobs and store"

# ----------------------------------------------------------------------------------------------------------- progress

BERTH_STATUS=$work/status run "$berth" progress 0.4 epoch 12
holds 'a job says how far it is, in a line' sh -c '[ '$status' = 0 ] && [ "$(cat status)" = "40% epoch 12" ] && [ $(ls status* | wc -l) = 1 ]'
BERTH_STATUS=$work/status run "$berth" progress 87.5%
holds 'as a percentage, too' [ "$(cat status)" = 87.5% ]
for part in 1.01 -1 40 x '' 101% nan 0x1; do
  BERTH_STATUS=$work/status run "$berth" progress "$part" words
  expect "but not '$part'" 2 '' 'berth: progress wants how much is done, from 0 to 1 or as 40%, and words if you like'
done
BERTH_STATUS=$work/none/status run "$berth" progress 1
holds 'a file that cannot be written is told' sh -c '[ '$status' = 2 ] && grep -q "none/status.*: No such file or directory$" err'
run env -u BERTH_STATUS "$berth" progress 1
expect 'outside of a job there is nobody to tell' 2 '' 'berth: progress is for jobs: there is no BERTH_STATUS here'

# ------------------------------------------------------------------------------------------------------------- config

mkdir home home/.config home/.config/berth
HOME=$work/home
unset XDG_CONFIG_HOME XDG_STATE_HOME BERTH_CONFIG
export HOME
run "$berth" config Listen Tls Lease CycleInterval BodyMax Metrics
expect 'config KEY prints the values alone' 0 '{ "127.0.0.1:7600" }
auto
60
0.02
"1 MiB"
false'
printf '[ Name = "home"; Pin = 20;\n  Lease = 3 * Pin ]' >home/.config/berth/berth.ad
run "$berth" config lease name
expect 'config reads the file of the user, whose expressions are evaluated' 0 '60
home'
mkdir home/.config/berth/berth.ad.d
printf '[ Lease = 70 ]' >home/.config/berth/berth.ad.d/1.ad
run env BERTH_LEASE='90 s' "$berth" config --set Lease=100 --trace Lease Pin
sed 's/  */ /g' out >squeezed && mv squeezed out # the columns are as wide as the folder's name
expect 'config --trace tells all who had a say' 0 "KEY VALUE FROM OVER
Lease 100 --set Lease 90 (BERTH_LEASE); 70 ($HOME/.config/berth/berth.ad.d/1.ad:1); 60 ($HOME/.config/berth/berth.ad:2); 60 (default)
Pin 20 $HOME/.config/berth/berth.ad:1 30 (default)"
run "$berth" config --json --set Listen=unix:/a,127.0.0.1:1 --trace Listen BodyMax
expect 'config --json prints an object a setting, with its value as JSON' 0 \
  '{"key": "Listen", "value": ["unix:/a", "127.0.0.1:1"], "from": "--set Listen", "over": [{"value": ["127.0.0.1:7600"], "from": "default"}]}
{"key": "BodyMax", "value": 1048576, "from": "default", "over": []}'
run "$berth" config
holds 'config alone lists all settings' sh -c '[ "$(wc -l <out)" -gt 40 ] && grep -q "^AdBytesPerIdentity  *\"64 MiB\"  *default" out'
run "$berth" config --config nowhere.ad
expect 'a configuration file that is named must be there' 2 '' 'berth: nowhere.ad: there is no such file'
printf '[ Pin = 1;\n Leese = 2 ]' >typo.ad
run "$berth" config --config typo.ad
expect 'a misspelt setting is refused with its place and the right one' 2 '' \
  "berth: typo.ad:2:2: there is no setting 'Leese'; did you mean 'Lease'?"
run env BERTH_LISTN=x "$berth" config Lease
expect 'in the environment, which others use as well, it is told' 0 "$("$berth" config Lease)" \
  'berth: BERTH_LISTN is passed over: there is no such setting; did you mean BERTH_LISTEN?'
run env BERTH_JOB=1 BERTH_INDEX=0 BERTH_TRY=1 BERTH_NODE=a BERTH_CPUS=1 BERTH_STATUS=/job/.berth-status "$berth" config Lease
expect 'the variables of a job are known' 0 "$("$berth" config Lease)"
run "$berth" config Leese
expect 'and as an argument' 2 '' "berth: there is no setting 'Leese'; did you mean 'Lease'?"
run "$berth" config --listen 0.0.0.0:80 --set Tls=off
expect 'what would be open to the network in the clear is refused, with what to do' 2 '' \
  'berth: Listen (0.0.0.0:80, --listen) would be served without encryption: leave Tls at auto, listen at 127.0.0.1, or set AllowPlain to true'
run "$berth" config --set Pin
expect 'config --set wants a key and a value' 2 '' \
  "berth: config: --set: expected KEY=VALUE, got 'Pin' (\`berth help config\` lists the options)"
run "$berth" config --trace --explain
expect 'config explains or traces' 2 '' 'berth: --trace and --explain cannot be used together'

# -------------------------------------------------------------------------------------------------------- the manual

console "$BERTH_SOURCE/docs/command-line.md"
holds 'the manual has examples' [ $example -gt 10 ]

echo "1..$count"
[ $failures = 0 ]
