#!/usr/bin/env bash
# Runs the README's commands on a fresh machine: a clean root of a Debian release, made by
# debootstrap, that contains a clone of this tree and nothing else from this machine. `tests/on.sh
# --help` says more.
set -u
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
. "$tree/cmake/deps.sh"

usage='usage: tests/on.sh [--mirror URL] [--ccache FOLDER]
                   bookworm|trixie|sid [quick|all|COMMAND...]'

help() {
  cat <<END
$usage

Makes a clean root of that Debian release, clones the last commit of this tree
into it and runs there, as root, what README.md says:

  (nothing)   samples/quickstart.sh, tests/run.sh, and the Debian packages:
              tests/package/install.sh builds, installs and uses them
  all         the same with tests/run.sh all
  quick       samples/quickstart.sh and tests/run.sh quick
  COMMAND...  this instead, as a line of shell in the folder of the clone

Each run has a root of its own, which is removed when it ends. The root that it
is copied from is made once a day, in ~/.cache/sheaf/roots or \$SHEAF_ROOTS.
The last line is a row for docs/compatibility.md; the exit code is that of the
command that failed, or 0.

  --mirror URL     where packages come from: http://deb.debian.org/debian, or
                   \$SHEAF_MIRROR
  --ccache FOLDER  installs ccache there and keeps what it compiles in FOLDER.
                   The minutes are then not those of a fresh machine.

Needs root, for mounts and chroot, and debootstrap, which it installs. Needs no
Docker.

The kernel, its clock and its network are those of this machine; environment,
processes, /proc, /dev and the name of the machine are the root's own. What
cannot be tried there:
  - units of systemd: no service manager runs
  - Docker and Kubernetes
  - Garnet: Debian has no .NET SDK, so its tests are skipped
  - names of other machines, but for those that this machine's DNS knows
  - a user who is not root, and sudo
END
}

fail() {
  echo "tests/on.sh: $1" >&2
  exit "${2:-1}"
}

debian=http://deb.debian.org
mirror=${SHEAF_MIRROR:-$debian/debian}
ccache=
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) help; exit ;;
    --mirror | --ccache)
      [ $# -gt 1 ] || fail "$1 needs a value" 2
      if [ "$1" = --mirror ]; then mirror=$2; else ccache=$2; fi
      shift ;;
    -*) fail "there is no option $1"$'\n'"$usage" 2 ;;
    *) break ;;
  esac
  shift
done
release=${1:-}
case $release in
  bookworm | trixie | sid) shift ;;
  '') fail "which release?"$'\n'"$usage" 2 ;;
  *) fail "there is no root of '$release'"$'\n'"$usage" 2 ;;
esac
packages='tests/package/install.sh --on-this-machine'
case "$#:${1:-}" in
  0:) commands=(samples/quickstart.sh tests/run.sh "$packages") ;;
  1:all) commands=(samples/quickstart.sh 'tests/run.sh all' "$packages") ;;
  1:quick) commands=(samples/quickstart.sh 'tests/run.sh quick') ;;
  *:quick | *:all) fail "nothing follows $1"$'\n'"$usage" 2 ;;
  *) commands=("$*") ;;
esac

[ "$(id -u)" -eq 0 ] || fail "this needs root, for mounts and chroot"
commit=$(git -C "$tree" rev-parse --short=12 HEAD 2>/dev/null) ||
  fail "this is no git tree, and the script runs in a clone of one"
[ -z "$(git -C "$tree" status --porcelain)" ] ||
  echo "What is not committed is left out: this tries $commit." >&2
sheaf_install debootstrap debian-archive-keyring || exit

roots=${SHEAF_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/sheaf/roots}
mkdir -p "$roots" || exit
run=$(mktemp -d "$roots/run.XXXXXX") || exit
root=$run/root
child=

# Every process in a namespace of this run has file 9, the lock, open. They all end with the
# namespace's first process. The mounts, visible only there, disappear with the last one.
exec 9>"$run/lock"
flock 9

clean_up() {
  trap '' HUP INT TERM
  [ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null
  exec 7>&- 9>&-  # tee ends, too, when its last writer ends
  flock "$run/lock" true
  rm -rf --one-file-system "$run"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# isolated COMMAND...: runs it with its own mounts, processes and host name. It runs in the
# background because bash handles no signal while it waits for a foreground command.
isolated() {
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --uts --ipc \
    env --default-signal=INT,QUIT "$@" </dev/null 7>&- 8>&- &
  child=$!
  wait "$child"
  local code=$?
  child=
  return "$code"
}

# The first process of a namespace: in_root ROOT CCACHE COMMAND runs a shell command in ROOT, inside
# the clone if there is one.
in_root() {
  local root=$1 ccache=$2 command=$3 node
  hostname -F "$root/etc/hostname" || return
  mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" &&
    mount -t tmpfs -o mode=755 dev "$root/dev" && mkdir "$root/dev/pts" "$root/dev/shm" &&
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts" &&
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm" && ln -s pts/ptmx "$root/dev/ptmx" || return
  for node in null zero full random urandom tty; do
    : >"$root/dev/$node" && mount --bind "/dev/$node" "$root/dev/$node" || return
  done
  ln -s /proc/self/fd "$root/dev/fd"
  for node in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${node%:*}" "$root/dev/${node#*:}"
  done
  if [ -n "$ccache" ]; then
    mkdir -p "$root/root/.cache/ccache" && mount --bind "$ccache" "$root/root/.cache/ccache" ||
      return
  fi
  chroot "$root" /usr/bin/env -i HOME=/root USER=root LOGNAME=root SHELL=/bin/bash TERM=dumb \
    LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /bin/bash -c "cd /srv/sheaf 2>/dev/null; $command"
  return $?
}

in_new_root() {
  isolated bash -c "$(declare -f in_root); in_root \"\$@\"; exit \$?" bash "$root" "$@"
}

# Writes what the mirror needs: its address, and this machine's proxy if it has one.
write_sources() {
  local proxy security=$mirror-security
  [ "$mirror" != "$debian/debian" ] || security=http://security.debian.org/debian-security
  {
    echo "deb $mirror $release main"
    if [ "$release" != sid ]; then
      echo "deb $mirror $release-updates main"
      echo "deb $security $release-security main"
    fi
  } >"$root/etc/apt/sources.list" || return
  proxy=$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)
  eval "${proxy:-proxy=}"
  proxy=${proxy:-${http_proxy:-}}
  [ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/90proxy"
}

# The root that each run copies. It is as minimal as that of a container, so that a package that
# this tree needs and does not install is detected. It has today's updates.
make_base() {
  local log=$run/log
  echo "Making a root of $release ..." >&2
  isolated debootstrap --variant=minbase "$release" "$root" "$mirror" >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; return 1; }
  write_sources || return
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  echo "fresh-$release" >"$root/etc/hostname"
  printf '%s\n' '127.0.0.1 localhost' "127.0.1.1 fresh-$release" \
    '::1 localhost ip6-localhost ip6-loopback' >"$root/etc/hosts"
  in_new_root '' 'apt-get -q update' >"$log" 2>&1
  if grep -q 'is expired\|is not valid yet' "$log"; then
    echo "The mirror's Release file of $release is out of date; its date is not checked." >&2
    printf 'Acquire::Check-Valid-Until "false";\nAcquire::Check-Date "false";\n' \
      >"$root/etc/apt/apt.conf.d/90dates"
  fi
  in_new_root '' 'apt-get -q -o APT::Update::Error-Mode=any update &&
    DEBIAN_FRONTEND=noninteractive apt-get -qy dist-upgrade && apt-get clean' >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; return 1; }
}

# Sets up the run's root.
make_root() {
  local base old
  base=$roots/$release.$(date +%F)
  exec 8>"$roots/$release.lock"
  flock 8 || return
  if [ ! -d "$base" ]; then
    make_base || return
    for old in "$roots/$release".????-??-??; do
      [ ! -d "$old" ] || rm -rf --one-file-system "$old"
    done
    mv "$root" "$base" || return
  fi
  cp -a --reflink=auto "$base" "$root" || return
  exec 8>&-
  git clone -q --no-hardlinks "file://$tree" "$root/srv/sheaf" || return
  if [ -n "$ccache" ]; then
    mkdir -p "$ccache" && in_new_root '' 'apt-get -qqy update && apt-get -qqy install ccache' \
      >"$run/log" 2>&1 || return
  fi
}

# Adds up the last lines of tests/run.sh.
counts() {
  awk '
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; seen = 1 }
    /^[0-9]+ tests were skipped$/ { skipped += $1 }
    END { if (seen) printf "%d passed, %d failed, %d skipped", passed, failed, skipped }
  ' "$1"
}

# The versions that the root's commands used.
versions() {
  local mosquitto
  mosquitto=$(chroot "$root" dpkg-query -W -f='${Version}' mosquitto 2>/dev/null)
  echo "g++ $(chroot "$root" g++ -dumpfullversion 2>/dev/null || echo -)," \
    "Mosquitto ${mosquitto%%-*}"
}

for left in "$roots"/run.??????; do  # left by runs that were killed
  if [ "$left" != "$run" ] && [ -e "$left/lock" ]; then
    flock -n "$left/lock" rm -rf --one-file-system "$left"
  fi
done
make_root || fail "the root of $release could not be made"
echo "== $release: a fresh root, $commit"
output=$run/output
exec 7> >(tee -i "$output" 9>&-)
tee=$!
result=0
took=
for command in "${commands[@]}"; do
  echo "== $release: $command"
  started=$SECONDS
  in_new_root "$ccache" "$command" >&7 2>&1
  result=$?
  took+="${took:+, }\`${command//|/\\|}\`: $(((SECONDS - started + 30) / 60)) min"
  [ "$result" -eq 0 ] || { took+=", exit code $result"; break; }
done
exec 7>&-
wait "$tee"
[ -z "$ccache" ] || took+=", with ccache"
tests=$(counts "$output")
echo "| $release, $(date +%F) | $(versions) |" \
  "$took, $(nproc) cores | ${tests:-no tests} |"
exit "$result"
