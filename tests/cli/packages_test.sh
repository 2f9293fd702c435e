#!/bin/bash
# packages_test.sh: what the packages are made of fits together: what they install is there, they depend on what the program loads, the units are such as
# systemd takes, and what they start is there; and one version everywhere. `./dev release` makes the packages, `./dev soak` installs them. Prints TAP.
set -u
berth=${BERTH:?the program}
source=${BERTH_SOURCE:?the sources}
. "$source/tests/common/live.sh"
need python3

# What meson installs, as below /usr and with units where Debian has them.
build=$(dirname "$berth")
installed() {
  python3 - "$build" "$source" <<'END'
import fnmatch, glob, json, os, subprocess, sys
build, source = sys.argv[1:]
plan = json.load(open(os.path.join(build, "meson-info/intro-install_plan.json")))
there = set()
for kind in plan.values():
    for each in kind.values():
        path = each["destination"]
        for name, value in (("{prefix}", "usr"), ("{bindir}", "usr/bin"), ("{includedir}", "usr/include"), ("{libdir_shared}", "usr/lib/x"), ("{libdir}", "usr/lib/x"),
                            ("{mandir}", "usr/share/man"), ("{datadir}", "usr/share")):
            path = path.replace(name, value)
        there.add(path.replace("usr/lib/systemd/", "lib/systemd/").lstrip("/"))
there |= {"usr/lib/x/libberth.so.1", "usr/lib/x/libberth.so", "usr/lib/x/pkgconfig/berth.pc"}
made = {"usr/share/bash-completion/completions/berth", "usr/share/fish/vendor_completions.d/berth.fish", "usr/share/zsh/vendor-completions/_berth",
        "etc/berth/berth.ad.d/10-pool.ad"}  # by debian/rules
taken, missing = set(), []
for listing in glob.glob(os.path.join(source, "debian/*.install")):
    for line in open(listing):
        pattern = line.split()[0]
        if pattern.startswith("python/"):
            continue
        found = {p for p in there | made if fnmatch.fnmatch(p, pattern) or p.startswith(pattern + "/")}
        missing += [] if found else [pattern]
        taken |= found
assert not missing, ("nothing is installed by these names", missing)
left = sorted(there - taken)
assert not left, ("in no package", left)
END
}
check 'all that is installed is in a package, and all that packages name is installed' installed

# Libraries that are loaded when they are needed are linked by nothing: the packages name them by hand.
loaded() {
  local library package missing=0
  for library in $(grep -rhoE '"lib[A-Za-z0-9_-]+\.so\.[0-9]+"' "$source"/src --include='*.c' | tr -d '"' | sort -u); do
    case $library in
      libcuda.so.* | libhsa* | libnvidia*) continue ;; # of drivers, where there are any
      libgsl.*) continue ;;                            # left out of packages: its licence is the GPL
    esac
    package=$(dpkg-query -S "*/$library" 2>/dev/null | sed 's/:.*//' | head -n 1)
    [ -n "$package" ] || { echo "$library belongs to no package here" && missing=1; continue; }
    sed -n '/^Package: berth$/,/^Description/p' "$source/debian/control" | grep -qE "[ ,]$package(,|$)" || { echo "berth does not depend on $package ($library)" && missing=1; }
  done
  return $missing
}
check 'the package depends on each library that the program loads when it is needed' loaded

versions() {
  local version
  version=$("$berth" --version | sed 's/berth //')
  grep -qxF "## $version" "$source/CHANGELOG.md" && head -n 1 "$source/debian/changelog" | grep -qF "berth ($version)" &&
    grep -qxF "version = \"$version\"" "$source/python/pyproject.toml" && grep -qF "version: '$version'" "$source/meson.build"
}
check 'program, packages, Python and the list of changes have one version' versions

for unit in berth-customer@ berth-matchmaker berth-pool berth-provide berth-provider; do
  # The program that they start is where this build would install it; here it is that of the build.
  sed "s|@bindir@|$build|" "$source/packaging/$unit.service.in" >"$unit.service"
done
words() { # UNIT: what it starts is a command with such options
  local line
  line=$(sed -n "s|^ExecStart=$build/berth ||p" "$1.service")
  # shellcheck disable=SC2086 # words
  [ -n "$line" ] && "$berth" ${line%% *} --help >help && for word in $line; do case $word in --*) grep -q -- "$word" help || return 1 ;; esac; done
}
for unit in berth-customer@ berth-matchmaker berth-pool berth-provide berth-provider; do
  check "$unit starts a command that there is, with options that it has" words "$unit"
done
for unit in berth-pool berth-provider; do
  check "the jobs of $unit go on when it is restarted, and their limits are its own to give" sh -c 'grep -qx KillMode=process "$1" && grep -qx Delegate=yes "$1"' sh $unit.service
done
check 'the settings of the pool are such as the program takes' "$berth" config --config "$source/packaging/pool.ad"

# Without these sockets it knows no address of its machine: in a network without a way out it would tell others a name that leads nowhere.
check "the matchmaker may ask for its machine's addresses" grep -q '^RestrictAddressFamilies=.*AF_NETLINK' berth-matchmaker.service
if command -v systemd-analyze >/dev/null; then
  verified() { systemd-analyze verify --man=no ./*.service; }
  check 'systemd takes the units as they are' verified
  shut_in() { systemd-analyze security --offline=yes --threshold=20 ./berth-matchmaker.service; }
  check 'the matchmaker is shut in: its exposure is below 2' shut_in
fi
echo "1..$count"
[ $failures = 0 ]
