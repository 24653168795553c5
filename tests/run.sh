#!/usr/bin/env bash
# Installs what is missing, then builds and runs the whole suite three times: optimised with
# warnings as errors (dev), with AddressSanitizer and UBSan (asan), and what crosses threads with
# ThreadSanitizer (tsan). Then each fuzz target runs for five seconds (fuzz). `tests/run.sh dev`
# runs a part. One more part is run only when asked for: lint, which is clang-tidy over the dev
# build. Everything is left in build/.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
cd "$root" || exit
. cmake/deps.sh

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(dev asan tsan fuzz)
for part in "${parts[@]}"; do
  case $part in
    dev | asan | tsan | fuzz | lint) ;;
    *) echo "usage: tests/run.sh [dev] [asan] [tsan] [fuzz] [lint]" >&2; exit 2 ;;
  esac
done

PATH=$PATH:/usr/sbin  # where Debian keeps mosquitto
jobs=$(nproc)
passed=0
failed=0
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

# How many lines of a JUnit report contain a text.
lines_with() {
  grep -c -- "$1" "$2"
}

# Adds a run to the sums. A run that left no report is one failure; a test that could not be started
# stands in the report as skipped, but is a failure as well.
count() {
  local report=$1 tests good skipped
  if [ ! -s "$report" ]; then
    failed=$((failed + 1))
    return
  fi
  tests=$(lines_with '<testcase ' "$report")
  good=$(lines_with '<testcase .*status="run"' "$report")
  skipped=$(lines_with '<skipped message="SKIP_\|<testcase .*status="disabled"' "$report")
  passed=$((passed + good))
  failed=$((failed + tests - good - skipped))
  [ "$skipped" -eq 0 ] || echo "$skipped tests were skipped"
  skip_reasons "$report"
}

# Why tests were skipped, and how many for each reason: what follows GoogleTest's "FILE:LINE:
# Skipped".
skip_reasons() {
  sed -n '/: Skipped$/{n;p}' "$1" | sort | uniq -c
}

# Which tests failed, with the first lines of why: what a log of thousands of lines hides.
failures() {
  awk -v part="$1" '
    function begin() {
      print "failed in " part ": " name
      failed = 1
      left = 40
    }
    /<testcase / {
      match($0, / name="[^"]*"/)
      name = substr($0, RSTART + 7, RLENGTH - 8)
      not_run = /status="notrun"/
      if (/status="fail"/) begin()
    }
    not_run && /<skipped / {
      not_run = 0
      if (!/message="SKIP_/) begin()
    }
    /<\/testcase>/ { failed = 0 }
    failed && /: Failure|ERROR: |WARNING: ThreadSanitizer|runtime error: |^Traceback/ { near = 14 }
    failed && near > 0 && left > 0 { print "  " substr($0, 1, 300); near--; left-- }
  ' "$2"
}

# Passwords and tokens that tests give to servers, clients and programs. What the tests of a run
# have put out, with the errors and logs in it, may not have one.
passwords='s3cret|hunter2|canary-'
look_for_passwords() {
  local log=build/$2/Testing/Temporary/LastTest.log found
  [ -s "$log" ] || return
  found=$(grep -Ei -m 5 -- "$passwords" "$log") || return
  failed=$((failed + 1))
  printf 'failed in %s: a password is in the output of a test:\n%s\n' "$1" "$found"
}

run_part() {
  local preset=$1 build=${1/lint/dev} started=$SECONDS
  local report=build/$build/tests.xml
  echo "== $preset"
  rm -f "$report"
  if cmake --preset "$build" && cmake --build --preset "$build" -j "$jobs"; then
    echo "== $preset built in $((SECONDS - started)) s"
    # Most tests wait for servers half of the time.
    ctest --preset "$preset" -j $((2 * jobs)) --no-tests=error --output-junit tests.xml
  else
    echo "== $preset does not build" >&2
  fi
  count "$report"
  [ ! -s "$report" ] || failures "$preset" "$report" >> "$failures"
  look_for_passwords "$preset" "$build" >> "$failures"
  echo "== $preset took $((SECONDS - started)) s"
}

sheaf_install "${SHEAF_CORE_PACKAGES[@]}" "${SHEAF_BROKER_PACKAGES[@]}" \
  "${SHEAF_DURABLE_PACKAGES[@]}" "${SHEAF_CLI_PACKAGES[@]}" "${SHEAF_TLS_PACKAGES[@]}" \
  "${SHEAF_TEST_PACKAGES[@]}" || exit
sheaf_install_garnet "$root/build/garnet"

for part in "${parts[@]}"; do
  run_part "$part"
done

cat "$failures"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
