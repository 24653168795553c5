#!/usr/bin/env bash
# Shows that fuzzing finds planted bugs. Removes one bound from a copy of each of three parsers and
# runs its target, which must find that within 60 seconds. The tree is not changed.
#
#   tests/fuzz/planted.sh                    after cmake --build --preset fuzz, with its compiler
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build/fuzz}
work=$build/planted
clang=$(sed -n 's/^SHEAF_CLANG_CXX:[A-Z]*=//p' "$build/CMakeCache.txt")
failures=0
said='not true: .*|runtime error: .*|AddressSanitizer: [a-z-]*' # how a finding is reported

# planted TARGET FILE EDIT: EDIT is a sed script that is applied to a copy of FILE.
planted() {
  local target=$1 file=$2 edit=$3 started
  sed -E "$edit" "$root/$file" >"$work/$target.cpp"
  if cmp -s "$root/$file" "$work/$target.cpp"; then
    echo "$target: the bound is no longer in $file: $edit" >&2
    failures=$((failures + 1))
    return
  fi
  # The changed file is linked before the library, which has the original in a batch with others.
  # The linker uses the first of two definitions.
  if ! "$clang" -std=c++23 -O1 -g1 -I"$root" -I"$root/include" -I"$build/include" \
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Wl,-z,muldefs \
    "$root/tests/fuzz/targets/$target.cpp" "$work/$target.cpp" \
    "$build/tests/fuzz/libfuzz_parts.a" "$build/libsheaf_protocol.a" "$build/libsheaf_base.a" \
    -o "$work/$target"; then
    failures=$((failures + 1))
    return
  fi
  started=$SECONDS
  if "$work/$target" -max_total_time=60 -seed=1 -max_len=4096 -artifact_prefix="$work/" \
    -print_final_stats=1 "$build/seeds/$target" >"$work/$target.log" 2>&1; then
    echo "$target: NOT found in 60 s: $edit" >&2
    failures=$((failures + 1))
  else
    echo "$target: found in $((SECONDS - started)) s, after" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log") executions:" \
      "$(grep -m 1 -oE "$said" "$work/$target.log")"
  fi
}

mkdir -p "$work"
# Key and extras may be longer than the body.
planted memcached_packets protocol/memcached/header.cpp \
  's/header\.total_body_length < [^)]*\)/false)/'
# A property's number may be outside the table of properties.
planted mqtt5_properties protocol/mqtt5/properties.cpp \
  's/id < (\w+)\.size\(\) \? \w+\[id\] : Rule\{\}/\1[id]/'
# A bulk string may be longer than the payload.
planted statestore_requests protocol/statestore/payload.cpp \
  's/ \|\| \*size > ahead\.left_\.size\(\)//'
[ "$failures" -eq 0 ]
