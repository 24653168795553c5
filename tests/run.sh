#!/usr/bin/env bash
# Installs what is missing, then builds and runs the suite. Everything is left in build/.
#
#   tests/run.sh          quick: one optimised build; the rules of the tree, all pure tests, fewer
#                         seeds, the contract on one variant of each kind of endpoint, real servers,
#                         the program, the samples. Ends with a list of what it left out
#   tests/run.sh all      everything, as CI runs it: the whole optimised suite with warnings as
#                         errors, packages and rebuilds (dev), then AddressSanitizer and UBSan
#                         (asan), what crosses threads with ThreadSanitizer (tsan), and each fuzz
#                         target for five seconds (fuzz)
#   tests/run.sh long     all, with ten times the seeds, kills and fuzzing, then the live hour
#                         (hour), and then on fresh machines of each Debian (tests/on.sh)
#   tests/run.sh PART...  of these: quick dev asan tsan fuzz lint hour; lint is clang-tidy over dev,
#                         hour is five minutes of events on live clusters of each software, the
#                         ends of leaders that a machine with other work would judge wrongly, and
#                         each source and internal header compiled alone
#
# tests/suites.cmake says what runs where.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit
cd "$root" || exit
. cmake/deps.sh

fresh_machines=()
case ${1:-quick} in
  all) parts=(dev asan tsan fuzz) ;;
  long)
    parts=(dev asan tsan fuzz hour)
    fresh_machines=(bookworm trixie sid)
    export SHEAF_TEST_EXTENT=1000
    ;;
  *) parts=("${@:-quick}") ;;
esac
for part in "${parts[@]}"; do
  case $part in
    quick | dev | asan | tsan | fuzz | lint | hour) ;;
    *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

PATH=$PATH:/usr/sbin  # where Debian keeps mosquitto
jobs=$(nproc)
passed=0
failed=0
summary=$(mktemp)
export SHEAF_TEST_STARTS  # the tests write a line for each server that they start
SHEAF_TEST_STARTS=$(mktemp)
trap 'rm -f "$summary" "$SHEAF_TEST_STARTS"' EXIT

# Adds a part's results to the sums, and its failed and skipped tests to the summary.
add_report() {
  local part=$1 build=$2 report
  report=$(python3 tests/report.py "$part" "build/$build/tests.xml" "build/$build/results")
  head -n -1 <<<"$report" >>"$summary"
  read -r good bad <<<"$(tail -n 1 <<<"$report")"
  passed=$((passed + good))
  failed=$((failed + bad))
}

# Passwords and tokens that tests give to servers, clients and programs. A run's output, including
# errors and logs, must contain none of them.
passwords='s3cret|hunter2|canary-'
look_for_passwords() {
  local log=build/$2/Testing/Temporary/LastTest.log found
  [ -s "$log" ] || return
  found=$(grep -Ei -m 5 -- "$passwords" "$log") || return
  failed=$((failed + 1))
  printf 'failed in %s: a password is in the output of a test:\n%s\n' "$1" "$found" >>"$summary"
}

# Quick stays quick only if its tests share servers (CONTRIBUTING.md).
most_starts=200
count_starts() {
  local total
  total=$(wc -l <"$SHEAF_TEST_STARTS")
  echo "== $1 started $total servers:" \
    "$(sort "$SHEAF_TEST_STARTS" | uniq -c | awk '{ print $1, $2 }' | paste -sd , | sed 's/,/, /g')"
  [ "$1" = quick ] && [ "$total" -gt "$most_starts" ] || return
  failed=$((failed + 1))
  echo "failed in quick: $total servers were started, and $most_starts are allowed" >>"$summary"
}

run_part() {
  local part=$1 build=$1 targets=$1 started=$SECONDS
  local at_once=$((3 * jobs))  # most tests spend two thirds of their time waiting for servers
  local extent=${SHEAF_TEST_EXTENT:-100}
  case $part in
    quick) build=dev ;;
    lint | hour) build=dev targets=dev ;;
    asan) at_once=$((2 * jobs)) extent=$((extent / 4)) ;;  # dev makes all attempts
    tsan | fuzz) at_once=$((2 * jobs)) ;;
  esac
  echo "== $part"
  rm -rf "build/$build/tests.xml" "build/$build/results"
  : >"$SHEAF_TEST_STARTS"
  if cmake --preset "$build" && cmake --build --preset "$targets" -j "$jobs"; then
    echo "== $part built in $((SECONDS - started)) s"
    SHEAF_TEST_EXTENT=$extent \
      ctest --preset "$part" -j "$at_once" --no-tests=error --output-junit tests.xml
  else
    echo "== $part does not build" >&2
  fi
  add_report "$part" "$build"
  look_for_passwords "$part" "$build"
  count_starts "$part"
  echo "== $part took $((SECONDS - started)) s"
}

# Lists the tests of this build that quick did not run.
left_out() {
  echo "Left out, and run by \`tests/run.sh all\`:"
  ctest --test-dir build/dev -N -LE '^(quick|lint|hour)$' 2>/dev/null |
    sed -n 's/^ *Test *#[0-9]*: //p' | sed 's/\.[0-9]$//' | sort -u | paste -sd ' ' - |
    fold -sw 96 | sed 's/^/  /'
  echo "  three quarters of the seeds, of the kills and of the crashes"
  echo "  the suite under AddressSanitizer with UBSan, and under ThreadSanitizer; fuzzing"
}

# Packages that only builds and tests of `all` need.
only_all=' clang-19 clang-tidy-19 libclang-rt-19-dev llvm-19 doxygen libhiredis-dev valgrind '
packages=()
for package in "${SHEAF_CORE_PACKAGES[@]}" "${SHEAF_BROKER_PACKAGES[@]}" \
  "${SHEAF_DURABLE_PACKAGES[@]}" "${SHEAF_CLI_PACKAGES[@]}" "${SHEAF_TLS_PACKAGES[@]}" \
  "${SHEAF_TEST_PACKAGES[@]}"; do
  [ "${parts[*]}" = quick ] && [[ $only_all == *" $package "* ]] || packages+=("$package")
done
started=$SECONDS
sheaf_install "${packages[@]}" || exit
[ "${parts[*]}" = quick ] || sheaf_install_garnet "$root/build/garnet"
echo "== installed in $((SECONDS - started)) s"

for part in "${parts[@]}"; do
  run_part "$part"
done
for release in "${fresh_machines[@]}"; do
  echo "== on $release"
  if tests/on.sh "$release"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed on $release" >>"$summary"
  fi
done

cat "$summary"
[ "${parts[*]}" != quick ] || left_out
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
