#!/bin/sh
# folders_live_test.sh: folders of a machine that its owner shows to jobs: every job sees them and cannot write there, the machine's ad has them, a
# job that needs one goes to no other machine; what an owner must not show is refused in plain words. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
shown=$(mktemp -d -p /var/tmp berth-shown.XXXXXX) || exit 1
trap 'ends; rm -rf "$shown"' EXIT
chmod 755 "$shown"
mkdir "$shown/opt" "$shown/opt/inner" "$shown/other"
echo 'of the machine' >"$shown/opt/word"
echo 'not shown' >"$shown/other/word"
ln -s "$shown/other/word" "$shown/opt/out"
ln -s "$shown/opt" "$shown/link"
ln -s /etc "$shown/etc"

# ------------------------------------------------------------------------------------------------------------- refused

echo '[ Visible = { "/opt", "/proc" } ]' >bad.ad
"$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$work/bad.ad" >up 2>pool.err </dev/null &
pids=$!
holds 'a machine whose owner shows what must not be shown does not start, and says why' \
  soon grep -q "the provider does not start: $work/bad.ad: Visible: '/proc' cannot be shown to jobs: jobs have their own" pool.err
kill $pids && wait $pids
pids=

# ------------------------------------------------------------------------------------------------------------- a pool

mkdir -m 700 "$shown/state"
BERTH_STATE=$shown/state
log=$shown/state/log/provider.log
cat >owner.ad <<END
[ Visible = { "$shown/opt/", "$shown/link", "$shown/etc", "$shown/gone", "$shown/state/provider" }; Writable = { "/scratch" } ]
END
: >up
"$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$work/owner.ad" >up 2>pool.err </dev/null &
pids=$!
holds 'a pool is up whose machine shows folders' soon grep -q 'To end it' up
holds 'that Writable has no effect is told' soon grep -q 'Writable has no effect: no job runs here as the user who sent it' "$log"
holds 'that one folder is not there is told' soon grep -q "Visible: '$shown/gone' is not there: No such file or directory" "$log"
holds 'a link to what may not be shown is followed, and told' \
  soon grep -q "Visible: '/etc' cannot be shown to jobs: what programs need of it jobs see already" "$log"
holds 'the folder of the provider itself is not shown, and that is told' \
  soon grep -q "Visible: '$shown/state/provider' cannot be shown to jobs: the provider's own files lie there" "$log"
holds 'the ad of the machine has those that jobs see' soon listed 'ads -c Type=="Machine"' "rows and rows[0]['Visible'] == ['$shown/opt', '$shown/link']"

run "$berth" run -q -- sh -c "cat $shown/opt/word $shown/link/word; ls $shown"
expect 'a job sees them, and nothing beside them' 0 'of the machine
of the machine
link
opt' ''
run "$berth" run -q -- sh -c "echo x >$shown/opt/new; echo x >$shown/opt/word; cat $shown/opt/out; mkdir $shown/more; echo end"
says 'it can write nothing there, and links lead nowhere' 0 'end' "*$shown/opt/new: Read-only file system
*$shown/opt/word: Read-only file system
*$shown/opt/out: No such file or directory
*$shown/more*: Read-only file system"
run "$berth" run -q --needs "$shown/opt/inner/" -- sh -c "ls -d $shown/opt/inner"
expect 'a job that needs a folder in one of them runs' 0 "$shown/opt/inner" ''
run "$berth" run -q --needs /cvmfs -- true
status_of=$status
holds 'one that needs another is not sent to a machine without it' test "$status_of" != 0
holds 'and the reason is in its constraint' grep -q 'isMember("/cvmfs", other.Visible)' err
echo '[ Cmd = "/bin/true"; Needs = { "cvmfs" } ]' >relative.ad
run "$berth" submit -f relative.ad
says 'a relative path is refused' 2 '' "berth: *Needs: expected a list of up to 16 folders, as paths from the root without '.' and '..'"
echo "[ Cmd = \"/bin/cat\"; Args = { \"$shown/opt/word\" }; Needs = { \"$shown/opt\" }; Constraint = other.Type == \"Machine\" ]" >job.ad
run "$berth" submit job.ad
id=$(sed -n 's/^1 job submitted: //p' out)
run "$berth" wait "$id"
run "$berth" logs "$id"
expect 'an ad says it as well' 0 'of the machine' ''
run "$berth" job "$id" --long
holds 'the clause is there once' sh -c "[ \$(grep -o 'other.Visible' out | wc -l) = \$(grep -o 'isMember' out | wc -l) ] && grep -q 'isMember(\"$shown/opt\", other.Visible)' out"

echo "1..$count"
[ $failures -eq 0 ]
