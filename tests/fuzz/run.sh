#!/usr/bin/env bash
# Builds one fuzz target, then gives it inputs until it finds something or the time is over. An
# input that caused a finding is saved in build/fuzz/findings/, and the same program reproduces it:
# build/fuzz/tests/fuzz/fuzz_TARGET FILE. The fuzzer's corpus is kept in build/fuzz/corpus/.
#
#   tests/fuzz/run.sh mqtt5_packets            60 seconds
#   tests/fuzz/run.sh mqtt5_packets 2h         2 hours; also s and m
#   tests/fuzz/run.sh mqtt5_packets 5000000    so many executions
#   tests/fuzz/run.sh                          the names of all targets
#
# The suite calls it as `run.sh --built BUILD TARGET 5s`: it runs the program that is built there,
# with a fixed seed, for the percentage of that time that SHEAF_TEST_EXTENT gives.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/../../build/fuzz
seed=0 # libFuzzer picks one
percent=100

if [ $# -eq 0 ]; then
  for file in "$here"/targets/*.cpp; do basename "$file" .cpp; done
  exit
fi
if [ "$1" = --built ]; then
  build=$2 seed=1 percent=${SHEAF_TEST_EXTENT:-100}
  shift 2
else
  cd "$here/../.."
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz --target "fuzz_$1"
fi
target=$1

time=${2:-60s}
case $time in
  *s) limit=-max_total_time=$((${time%s} * percent / 100)) ;;
  *m) limit=-max_total_time=$((${time%m} * 60)) ;;
  *h) limit=-max_total_time=$((${time%h} * 3600)) ;;
  *) limit=-runs=$time ;;
esac

# A target with state takes a step for every few bytes, and twice the bytes take twice the time. So
# its inputs are short.
length=4096
case $target in *session | *host | *list_replies | engine_requests) length=512 ;; esac

mkdir -p "$build/corpus/$target" "$build/findings"
# Only the run that reproduces a finding reports where memory was allocated.
export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=1
exec "$build/tests/fuzz/fuzz_$target" "$limit" -seed="$seed" -max_len="$length" -timeout=10 \
  -rss_limit_mb=512 -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
  "$build/corpus/$target" "$build/seeds/$target"
