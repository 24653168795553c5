#!/usr/bin/env bash
# Installs what is missing, then builds and runs the whole suite three times: optimised with warnings
# as errors (dev), with AddressSanitizer and UBSan (asan), and what crosses threads with
# ThreadSanitizer (tsan). `tests/run.sh dev` runs a part. Everything is left in build/.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
cd "$root" || exit
. cmake/deps.sh

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(dev asan tsan)
for part in "${parts[@]}"; do
  case $part in
    dev | asan | tsan) ;;
    *) echo "usage: tests/run.sh [dev] [asan] [tsan]" >&2; exit 2 ;;
  esac
done

PATH=$PATH:/usr/sbin  # where Debian keeps mosquitto
jobs=$(nproc)
passed=0
failed=0

# One attribute of the <testsuite> line of a JUnit file.
attribute() {
  sed -n '/<testsuite/,/>/s/.*[[:space:]]'"$1"'="\([0-9]*\)".*/\1/p' "$2" | head -n 1
}

# Adds a run to the sums; a run that left no report is one failure.
count() {
  local report=$1 tests failures skipped disabled
  if [ ! -s "$report" ]; then
    failed=$((failed + 1))
    return
  fi
  tests=$(attribute tests "$report")
  failures=$(attribute failures "$report")
  skipped=$(attribute skipped "$report")
  disabled=$(attribute disabled "$report")
  passed=$((passed + tests - failures - skipped - disabled))
  failed=$((failed + failures))
  [ $((skipped + disabled)) -eq 0 ] || echo "$((skipped + disabled)) tests were skipped"
}

run_part() {
  local preset=$1 report="build/$1/tests.xml" started=$SECONDS
  echo "== $preset"
  rm -f "$report"
  if cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs"; then
    echo "== $preset built in $((SECONDS - started)) s"
    ctest --preset "$preset" -j "$jobs" --no-tests=error --output-junit tests.xml
  else
    echo "== $preset does not build" >&2
  fi
  count "$report"
  echo "== $preset took $((SECONDS - started)) s"
}

sheaf_install "${SHEAF_CORE_PACKAGES[@]}" "${SHEAF_BROKER_PACKAGES[@]}" \
  "${SHEAF_CLI_PACKAGES[@]}" "${SHEAF_TEST_PACKAGES[@]}" || exit

for part in "${parts[@]}"; do
  run_part "$part"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
