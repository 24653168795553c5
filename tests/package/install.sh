#!/usr/bin/env bash
# Tests the Debian packages as users get them: builds and installs them with the commands of
# README.md, uses what is installed, and removes them. It changes the machine, so tests/on.sh runs
# it in a separate root.
set -eu
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$tree"
if [ "$(id -u)" -ne 0 ] || [ "${1:-}" != --on-this-machine ]; then
  echo "usage: tests/package/install.sh --on-this-machine    as root; better: tests/on.sh" >&2
  exit 2
fi

work=$(mktemp -d)
broker=
clean_up() {
  [ -z "$broker" ] || kill "$broker" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# is WANTED FOUND WHAT
is() {
  [ "$1" = "$2" ] || fail "$3: wanted '$1', found '$2'"
  echo "ok: $3"
}

# Prints the part of README.md that is fenced as LANGUAGE below a heading.
fenced() {
  sed -n "/^## $1\$/,/^## /{/^\`\`\`$2\$/,/^\`\`\`\$/{/^\`\`\`/d;p}}" README.md
}

# As README.md says, but answers yes to apt's questions.
echo 'APT::Get::Assume-Yes "true";' >"$work/apt.conf"
export APT_CONFIG=$work/apt.conf DEBIAN_FRONTEND=noninteractive
needed=$(fenced 'Build it' sh | sed -n '/^apt install/,/[^\\]$/p')
build=$(fenced 'Build it' sh | grep -- '--preset deb ')
[ -n "$needed" ] || fail 'README.md does not say what a build needs'
for command in 'apt update' "$needed" "$build"; do
  echo "$ $command"
  eval "$command" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail 'it failed'; }
done

cd "$work"
version=$(sed -n 's/^project(sheaf VERSION \([0-9.]*\) .*/\1/p' "$tree/CMakeLists.txt")
is "sheaf $version" "$(sheaf --version)" 'the program runs'

(cd "$tree" && fenced 'Use it' cpp) >program.cpp
# shellcheck disable=SC2046
g++ -std=c++20 -Wall -Wextra -Werror program.cpp -o program $(pkg-config --cflags --libs sheaf)
is 'line4/speed = 21.5 line4/torque = 21.5 line4/heat = absent' \
  "$(sheaf dev --brokers 3 -- sh -c './program "$SHEAF_SERVERS"' | paste -sd' ')" \
  'the program of README.md runs on three brokers'

# Debian's own broker, with the package's configuration.
port=$(perl -MIO::Socket::INET -e \
  'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
sed "s/^listener 1883 /listener $port /" \
  /usr/share/doc/mosquitto-sheaf/examples/sheaf-store.conf >/etc/mosquitto/conf.d/sheaf-store.conf
echo 'log_dest stderr' >/etc/mosquitto/conf.d/log.conf
install -d -o mosquitto -g mosquitto /run/mosquitto  # normally done by the unit
uri=mqtt://127.0.0.1:$port

start_broker() {
  coproc BROKER { exec /usr/sbin/mosquitto -c /etc/mosquitto/mosquitto.conf 2>&1; }
  broker=$BROKER_PID
  local line said=
  while read -r -t 60 line <&"${BROKER[0]}"; do
    case $line in *' running') return ;; esac
    said+=$line$'\n'
  done
  fail "the broker did not start: $said"
}

stop_broker() {
  kill "$broker"
  wait "$broker" || true
  broker=
}

start_broker
sheaf --servers "$uri" set key value
stop_broker
start_broker
is value "$(sheaf --servers "$uri" get key)" 'a value outlives a restart of the broker'
stop_broker

mapfile -t packages < <(cd "$tree/build/deb" && for file in *.deb; do echo "${file%%_*}"; done)
apt-get -q purge "${packages[@]}" >log 2>&1 || { cat log; fail 'they cannot be removed'; }
hash -r
is '' "$(command -v sheaf || true)" "removed: ${packages[*]}"
