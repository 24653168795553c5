#!/usr/bin/env bash
# The main job, live: installs what is missing, builds, starts three MQTT brokers with the state
# store on free ports, runs samples/quickstart with them and stops them again. Everything is left in
# build/quickstart. If no broker can be installed, the program runs on three embedded stores.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
cd "$root" || exit
. cmake/deps.sh

PATH=$PATH:/usr/sbin  # where Debian keeps mosquitto
build=build/quickstart
log=$build/build.log
brokers=
trap 'stop_brokers' EXIT
trap 'exit 130' HUP INT TERM

stop_brokers() {
  [ -n "$brokers" ] || return 0
  kill -TERM "$brokers" 2>/dev/null
  wait "$brokers" 2>/dev/null
  brokers=
}

# build_it BROKERS: configures and builds what this run needs; BROKERS is ON or OFF.
build_it() {
  local targets=(quickstart)
  [ "$1" = OFF ] || targets+=(sheaf_cli sheaf_statestore)
  mkdir -p "$build"
  echo "Building in $build (a few minutes the first time) ..."
  if ! { cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHEAF_TESTS=OFF \
           -DSHEAF_SAMPLES=ON -DSHEAF_TLS=OFF "-DSHEAF_CLI=$1" "-DSHEAF_PLUGIN=$1" &&
         cmake --build "$build" --target "${targets[@]}"; } >"$log" 2>&1; then
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 40 >&2
    echo "The build failed; all of its output is in $log" >&2
    exit 1
  fi
}

# Starts the brokers; sets `uri`, and `pids` in the same order, when all of them answer.
start_brokers() {
  local words=$build/brokers.log
  coproc DEV { exec "$build/cli/sheaf" dev --brokers 3 2>"$words"; }
  brokers=$DEV_PID
  if ! read -r -t 60 uri <&"${DEV[0]}"; then
    cat "$words" >&2
    echo "The brokers did not start." >&2
    exit 1
  fi
  pids=$(sed -n 's/.* runs as process \([0-9]*\)\.$/\1/p' "$words" | paste -sd, -)
  echo "Three brokers answer: $uri"
}

sheaf_install "${SHEAF_CORE_PACKAGES[@]}" || exit
if sheaf_install "${SHEAF_BROKER_PACKAGES[@]}" "${SHEAF_CLI_PACKAGES[@]}" &&
   command -v mosquitto >/dev/null; then
  build_it ON
  start_brokers
  "$build/samples/quickstart" "$uri" --pids "$pids"
else
  echo "No MQTT broker can be installed here: running on three stores inside the program instead."
  build_it OFF
  "$build/samples/quickstart" embedded://3
fi
