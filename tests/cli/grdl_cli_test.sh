#!/bin/sh
# grdl_cli_test.sh: berth grdl as a user runs it: on the listings of the dissertation with the outcomes that its text states, on the examples
# that are shipped, and on what is wrong. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
listings=$BERTH_SOURCE/tests/match/grdl
ln -s "$listings"/listing-*.xml .
ln -s "$BERTH_SOURCE/examples/grdl" shipped

grdl() { run "$berth" grdl "$@"; }

# --------------------------------------------------------------------------------------------------- chapter 5: types

grdl validate listing-5.1.xml listing-5.2.xml
expect 'the listings of chapter 5 are valid' 0 'FILE             RESOURCE  CLASS     CHARS  REQS  PREFS
listing-5.1.xml  testjob1  task          3     0      0
listing-5.2.xml  pentium   executor     10     0      0
listing-5.2.xml  amd       executor      6     0      0'
for listing in listing-*.xml; do
  grdl validate "$listing"
  holds "$listing is valid" [ $status = 0 ]
  for form in xml json classad; do
    grdl convert --to $form "$listing" && mv out once
    grdl convert --to xml once && mv out back
    grdl convert --to xml "$listing"
    holds "$listing as $form and back is the same" cmp out back
  done
done
printf '<t name="t"><chars><bench type="SI2K">1</bench><ghz>3</ghz><x>2 hr</x><y>7</y><z>1</z></chars><defaults><y type="MB"/></defaults></t>' >types.xml
printf 'default z day\n' >z.txt
grdl validate --explain --units z.txt types.xml
expect 'where a type comes from is told, in the order of 5.2.1' 0 'RESOURCE  IN     DIMENSION  VALUE  KIND    TYPE  FROM
t         chars  ghz        3      number  GHz   the name of the dimension says it
t         chars  z          1      number  day   a default of the reader
t         chars  bench      1      number  SI2K  its type attribute says it
t         chars  x          2 hr   number  hr    the value is written like it
t         chars  y          7      number  MB    a default of the resource' \
  "types.xml:1:60: warning: x: this dimension is not known
types.xml:1:71: warning: y: this dimension is not known"

# ------------------------------------------------------------------------------------------------- chapter 6: matching

pairs() { # the pairs of `out`, on one line
  tail -n +2 out | tr -s ' ' | sed 's/ $//' | tr '\n' ';'
}
pairs_are() { # SENTENCE STATUS PAIRS
  [ "$status" = "$2" ] && [ "$(pairs)" = "$3" ]
  if [ $? = 0 ]; then result 0 "$1"; else { echo "status $status, expected $2"; pairs; echo; echo "expected $3"; cat err; } >why; result 1 "$1"; fi
}

grdl match --kind one-way listing-6.1.xml
pairs_are 'listing 6.1: C satisfies A and not B, D satisfies B and not A' 0 'A C;B D;C A;C B;C D;D A;D B;D C;'
grdl match --kind one-way listing-6.2.xml
pairs_are 'listing 6.2: A satisfies B' 0 'A B;B A;'
sed 's|<z>1</z>\(.*\)|<z>1</z><w>1</w>|;' listing-6.2.xml | sed '/<chars>/,/<\/chars>/s|<w>1</w>||' >figure-6.10.xml
grdl inclusion listing-6.1.xml
expect 'A lies in B by equation 6.6, and not by 6.8; who asks nothing lies in everybody, and everybody in his space' 0 'RESOURCE  WITHIN  CHARS  REQS  SPACE
A         B       yes    yes   no
A         C       yes    no    yes
A         D       yes    no    yes
B         A       yes    no    no
B         C       yes    no    yes
B         D       yes    no    yes
C         A       no     yes   no
C         B       no     yes   no
C         D       no     yes   yes
D         A       no     yes   no
D         B       no     yes   no
D         C       no     yes   yes'
printf '<resources><A><reqs><mhz match=">=">2000</mhz></reqs></A><B><reqs><mhz match=">=">1500</mhz><ram match=">=">256</ram></reqs></B></resources>' >within.xml
grdl inclusion --explain --json within.xml
expect 'and it is told why not' 0 '{"resource": "A", "within": "B", "chars": "yes", "reqs": "yes", "space": "no", "why": "ram >= 256 there is implied by none here"}
{"resource": "B", "within": "A", "chars": "yes", "reqs": "no", "space": "no", "why": "mhz >= 1500 lies in no requirement there; mhz >= 2000 there is implied by none here"}'
grdl inclusion within.xml "$BERTH_SOURCE/examples/grdl/job.xml"
holds 'nobody within anybody is status 1' [ $status = 1 ]
grdl match --kind one-way figure-6.10.xml
pairs_are 'figure 6.10: not when B asks for w too' 0 'A B;'
grdl match --kind one-way --explain listing-6.3.xml
expect 'listing 6.3: each requirement is met by some characteristic, not the same one' 0 'BASE  CANDIDATE  MATCH  WHY
C     D          yes    
D     C          yes    x < 2: there are 1 and 3; y = 2: there is 2; z > 1: there are 2 and 4; z < 3: there are 2 and 4'

grdl match --kind one-way --explain listing-6.4.xml listing-6.5.xml
expect 'pentium satisfies testjob1' 0 'BASE      CANDIDATE  MATCH  WHY
testjob1  pentium    yes    mhz >= 2500: there is 2800 MHz; os = linux: there is linux; software = python: there are openssl and python'
grdl match --kind one-way --explain listing-6.5.xml listing-6.4.xml
expect 'testjob1 does not satisfy pentium: two hours are more than 60 minutes' 1 'BASE     CANDIDATE  MATCH  WHY
pentium  testjob1   no     norm_cpu <= 60 min: there is 2 hr'
grdl match listing-6.4.xml listing-6.5.xml
expect 'so they are no peers' 1 ''
grdl match listing-6.4.xml listing-6.5-480.xml
expect 'with 480 minutes they are' 0 'BASE      CANDIDATE
testjob1  pentium'
grdl match --comparator basic listing-6.4.xml listing-6.5-480.xml
expect 'but not by a comparator that converts no units' 1 ''

grdl match --kind one-way listing-6.6.xml
holds 'listing 6.6: a requirement without a value takes openssl with and without a version' sh -c 'grep -q "^encrypt *standard-server" out && grep -q "^encrypt *crypto-engine" out'
grdl match --kind one-way listing-6.6-0.9.8a.xml
holds 'with a version it takes only the engine that has it: unspecified is not that value' sh -c '! grep -q "^encrypt *standard-server" out && grep -q "^encrypt *crypto-engine" out'

grdl match --kind n-way --size 3 listing-6.9.xml
expect 'listing 6.9: James, Stephen and Harry make a team, and nobody else of three' 0 'PEERS
James Stephen Harry'
grdl match listing-6.9.xml
pairs_are 'Susan could team up with Stephen alone' 0 'James Stephen;James Harry;Stephen Harry;Stephen Susan;'
grdl match --kind n-way listing-6.9.xml
expect 'all four make no team' 1 ''
grdl match --multi listing-6.9.xml
pairs_are 'pairs that share nobody: those first who have no other' 0 'Stephen Susan;James Harry;'
grdl match --kind hierarchical --explain listing-6.9.xml
holds 'each of whom must satisfy a master: only Stephen takes all' grep -q '^Stephen *Susan *yes' out
grdl match --kind hierarchical listing-6.9.xml
expect 'and so Stephen heads a hierarchy' 0 'MASTER   SLAVES
Stephen  James Harry Susan'

grdl match listing-6.10.xml listing-5.2.xml
expect 'neither executor of listing 5.2 satisfies testjob2' 1 ''
grdl match --kind aggregated listing-6.10.xml listing-5.2.xml
expect 'together they do' 0 'BASE      PARTS
testjob2  pentium amd'
grdl match --kind aggregated --long --merge cpus=add:1 --merge bench=add --merge os=agree --merge software=drop --merge mhz=least \
  listing-6.10.xml listing-5.2.xml
holds 'the whole has what listing 6.11 says: linux, 2 cpus, a bench of 2' sh -c \
  'grep -q "<os>linux</os>" out && grep -q "<cpus>2</cpus>" out && grep -q "<bench type=\"SI2K\">2</bench>" out && grep -q "<mhz type=\"MHz\">2500</mhz>" out && ! grep -q software out'
grdl match listing-6.10.xml listing-6.11.xml
expect 'and listing 6.11 itself satisfies it' 0 'BASE      CANDIDATE
testjob2  aggregated-executor'
python3 - "$listings/listing-6.12.xml" <<'EOF'
import re, sys
text = open(sys.argv[1]).read()
parts = re.findall(r'<(task|license|executor) name=.*?</\1>\s*\n', text, re.S)
whole = [m.group() for m in re.finditer(r'  <(task|license|executor) name=.*?\n  </\1>', text, re.S)]
open('licensejob.xml', 'w').write(whole[0])
open('gang.xml', 'w').write('<resources>%s</resources>' % ''.join(whole[1:]))
EOF
grdl match --kind aggregated licensejob.xml gang.xml
expect 'listing 6.12: the licence and the executor together satisfy the job' 0 'BASE         PARTS
licensejob1  matlab-license pentium3ghz'
grdl match --kind partial licensejob.xml gang.xml
expect 'each alone is a partial match over its own dimension' 0 'BASE         CANDIDATE       OVER
licensejob1  matlab-license  license
licensejob1  pentium3ghz     mflops'
grdl match licensejob.xml gang.xml
expect 'and no match in full' 1 ''

# ------------------------------------------------------------------------------------------------ chapter 7: preferences

grdl rank --explain listing-7.1.xml
expect 'listing 7.1: prefjob ranks C, B, E, A, D' 0 'WHO      PLACE  CANDIDATE  DECIDED_BY
prefjob      1  C          
prefjob      2  B          mhz >
prefjob      3  E          cost <
prefjob      4  A          cost <
prefjob      5  D          cost <'
grdl rank --top 2 --json listing-7.1.xml
expect 'of which the first two may be asked for, as JSON' 0 '{"who": "prefjob", "place": 1, "candidate": "C"}
{"who": "prefjob", "place": 2, "candidate": "B"}'

grdl match --kind one-way listing-7.4.xml listing-7.5.xml
pairs_are 'listings 7.4 and 7.5: which executors satisfy which tasks' 0 \
  't1 x1;t1 x2;t2 x1;t2 x2;t2 x3;t2 x4;t3 x1;t3 x2;t3 x3;t3 x4;t4 x2;t4 x4;t5 x2;t5 x4;'
grdl match --kind one-way listing-7.5.xml listing-7.4.xml
pairs_are 'which tasks satisfy which executors' 0 'x1 t1;x1 t3;x2 t4;x3 t2;x4 t1;x4 t2;x4 t3;x4 t4;x4 t5;'
for engine in sets index templates; do
  grdl match --engine $engine listing-7.4.xml listing-7.5.xml
  pairs_are "and who are peers, by $engine" 0 't1 x1;t2 x3;t2 x4;t3 x1;t3 x4;t4 x2;t4 x4;t5 x4;'
done
grdl match --engine templates --stats listing-7.4.xml listing-7.5.xml
holds 'what was compared is told' grep -q '^berth: 20 pairs of all; [0-9]* times one was tried against another, with [0-9]* comparisons$' err
grdl rank --kind peer listing-7.4.xml listing-7.5.xml
pairs_are 'the order in which tasks would have their peers' 0 't1 1 x1;t2 1 x3;t2 2 x4;t3 1 x1;t3 2 x4;t4 1 x4;t4 2 x2;'
grdl rank --kind peer listing-7.5.xml listing-7.4.xml
pairs_are 'and executors theirs' 0 'x1 1 t3;x1 2 t1;x4 1 t4;x4 2 t2;x4 3 t3;x4 4 t5;'
grdl match --policy minsum listing-7.4.xml listing-7.5.xml
pairs_are 'MINSUM: whom both sides like best' 0 't2 x3 1 1;t3 x1 1 1;t4 x4 1 1;'
grdl match --policy singles listing-7.4.xml listing-7.5.xml
pairs_are 'SINGLES: whom one side has no choice but to take' 0 't1 x1 1 2;t2 x3 1 1;t4 x2 2 1;t5 x4 1 4;'

# --------------------------------------------------------------------------------------- chapter 8: profiles, templates

grdl profile listing-6.4.xml listing-6.5-480.xml
expect 'a minimal profile has the characteristics that were agreed upon' 0 '<?xml version="1.0" encoding="UTF-8"?>
<resources>
  <task name="testjob1">
    <chars>
      <norm_cpu type="hr">2</norm_cpu>
      <mem type="MB">180</mem>
    </chars>
  </task>
  <executor name="pentium">
    <chars>
      <mhz>2800</mhz>
      <os>linux</os>
      <software>python</software>
    </chars>
  </executor>
</resources>'
mv out contract.xml
grdl profile --contract contract.xml listing-6.5-480.xml
expect 'a contract holds while nothing has changed' 0 ''
sed 's/2800/2400/' listing-6.5-480.xml >slower.xml
grdl profile --contract contract.xml slower.xml
expect 'and is broken when what was agreed upon is gone' 1 'PART     BREACH   OF       WHAT
pentium  missing  pentium  mhz 2800'
grdl profile --kind full listing-6.4.xml listing-6.5-480.xml && mv out full.xml
grdl profile --contract full.xml slower.xml
expect 'a full profile is broken by a requirement that is not met any more' 1 'PART     BREACH  OF        WHAT
pentium  unmet   testjob1  mhz 2500'
sed 's/2800/2600/' listing-6.5-480.xml >slow.xml
grdl profile --contract full.xml slow.xml
expect 'and holds where they still are' 0 ''
grdl profile listing-6.4.xml listing-6.5.xml
expect 'a failure profile has the requirements that are not met, and the status is 1' 1 '<?xml version="1.0" encoding="UTF-8"?>
<resources>
  <task name="testjob1"/>
  <executor name="pentium">
    <reqs>
      <norm_cpu match="&lt;=" type="min">60</norm_cpu>
    </reqs>
  </executor>
</resources>'

grdl template listing-7.2.xml
expect 'listing 7.2: the stricter one is a template of the other' 0 'TEMPLATE  RESOURCE  TEMPLATE_OF  PEER
r1        r2        yes          no'
cd shipped || exit 1
run() { timeout 20 "$@" >"$work/out" 2>"$work/err" </dev/null; status=$?; }
grdl template template.xml job.xml
cd "$work" || exit 1
expect 'the template that is shipped is one of the job that is' 0 'TEMPLATE     RESOURCE  TEMPLATE_OF  PEER
small-linux  render    yes          no'
grdl template --queue shared-composition shipped/template.xml shipped/job.xml shipped/executors.xml
expect 'a queue that it heads takes who is good for all of its members' 0 'CANDIDATE  TAKEN  MEMBER
heron      no     
egret      yes    render
stork      no     '
printf '<t name="t"><reqs><ram match="set_ge" type="GB">2</ram></reqs></t>' >setwise.xml
grdl template setwise.xml listing-5.2.xml
says 'a requirement on all characteristics has no place in a template' 2 '' 'setwise.xml:1:1: *set_ge*'

# ---------------------------------------------------------------------------------------------------- shipped examples

grdl match shipped/job.xml shipped/executors.xml
pairs_are 'the job that is shipped has two peers' 0 'render heron;render egret;'
"$berth" grdl convert --to classad shipped/job.xml >job.ad
"$berth" grdl convert --to classad shipped/executors.xml >executors.ad
run "$berth" match -r job.ad -o executors.ad --policy shipped/policy.ad
expect 'as ads they are matched alike, by the policy that is shipped the cheapest first' 0 'REQUEST  OFFER   RANK
render   egret  -10.0'
grdl match job.ad executors.ad
pairs_are 'and ads are read as resources' 0 'render heron;render egret;'
grdl validate --units shipped/units.txt --strict shipped/executors.xml
holds 'units of one'"'"'s own are read' [ $status = 0 ]
printf '<resources><t name="a"><chars><mem type="KiB">4</mem></chars></t><t name="b"><reqs><mem match="ge" type="KB">4</mem></reqs></t></resources>' >kib.xml
grdl match --kind one-way --units shipped/units.txt kib.xml
holds 'and converted' grep -q '^b *a' out
grdl match --kind one-way kib.xml
holds 'an unknown unit is a type of its own, with a warning where the schema knows the dimension' sh -c "! grep -q '^b *a' out && grep -q 'warning: mem: type: expected one of' err"

# ---------------------------------------------------------------------------------------------------- ClassAds

echo '[ Type = "Job"; Name = "j"; Memory = 64; Constraint = other.Type == "Machine" && other.Memory >= 64 && other.HasGpu; Rank = -other.Cost ]' >classad.ad
grdl convert classad.ad
expect 'an ad whose constraint is a conjunction of comparisons is a resource' 0 '<?xml version="1.0" encoding="UTF-8"?>
<Job name="j">
  <chars>
    <Memory>64</Memory>
  </chars>
  <reqs>
    <Type match="equivalent">Machine</Type>
    <Memory match=">=">64</Memory>
    <HasGpu>true</HasGpu>
  </reqs>
  <prefs>
    <Cost match="&lt;"/>
  </prefs>
</Job>'
printf '[ Constraint = other.Memory >= 64 &&\n (other.Arch == "INTEL" || other.Fast) ]' >or.ad
grdl convert or.ad
expect 'one that is not is refused with the clause that cannot be expressed' 2 '' \
  "or.ad:1:1: Constraint: 'other.Arch == \"INTEL\" || other.Fast' cannot be expressed: expected a comparison of an attribute of the other with a constant"

# ------------------------------------------------------------------------------------------------------- what is wrong

printf '<task name="t">\n  <reqs>\n    <mhz match="=>"> 2 </mhz>\n  </reqs>\n</task>\n' >bad.xml
grdl match bad.xml
says 'a bad operator: the file, the line, and what was expected' 2 '' "bad.xml:3:5: match: expected =, !=, *"
printf '<task>\n<chars>\n<mem>lots</mem></chars></task>' >lots.xml
grdl validate lots.xml
expect 'a value that its dimension does not have is an error to validate' 2 'FILE      RESOURCE  CLASS  CHARS  REQS  PREFS
lots.xml  task      task       1     0      0' "lots.xml:3:1: mem: expected a number, got 'lots'"
grdl match lots.xml listing-5.1.xml
says 'and a warning to others: what cannot be compared is false, never an error' 0 '*
task*' "lots.xml:3:1: warning: mem: expected a number, got 'lots'"
grdl match --strict lots.xml listing-5.1.xml
expect 'unless they are strict' 2 '' "lots.xml:3:1: mem: expected a number, got 'lots'"
printf '<t><chars><pots>1</pots></chars></t>' >pots.xml
grdl validate pots.xml
says 'an unknown dimension is a warning' 0 '*
*' 'pots.xml:1:11: warning: pots: this dimension is not known'
grdl validate --strict pots.xml
says 'and an error with --strict' 2 '*
*' 'pots.xml:1:11: pots: this dimension is not known'
printf '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><t><chars><os>&x;</os></chars></t>' >entity.xml
grdl validate entity.xml
expect 'entities are refused' 2 '' 'entity.xml:1:13: a document type with declarations of its own is refused'
printf 'unit KiB\n' >units.bad
grdl validate --units units.bad lots.xml
expect 'so is a line of units that is wrong' 2 '' 'units.bad:1:1: expected unit NAME CATEGORY FACTOR'
grdl
expect 'an operation is wanted' 2 '' 'berth: grdl wants validate, match, rank, profile, template, inclusion or convert, and files'
grdl match
expect 'and a file' 2 '' 'berth: grdl match wants a file of resources, or - for standard input'
grdl match --kind both listing-6.9.xml
expect 'a kind that is none is told' 2 '' "berth: grdl match: --kind: expected one-way, hierarchical, peer, n-way, partial or aggregated, got 'both'"
grdl match none.xml
expect 'a file that is not there is told' 2 '' 'none.xml: No such file or directory'

# -------------------------------------------------------------------------------------------------------- the manual

console "$BERTH_SOURCE/docs/grdl.md"
holds 'the manual has examples' [ $example -gt 5 ]

echo "1..$count"
[ $failures = 0 ]
