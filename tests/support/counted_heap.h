#pragma once

// The heap of this process, counted exactly. A program that links counted_heap.cpp has allocation
// functions that count: what malloc() has handed out to all callers and not got back. What glibc
// keeps to hand out again does not count. Not for sanitizers, which have functions of their own.
// Counting takes time, above all while several threads allocate.
//
// Thread rule: any thread.

#include <cstddef>

namespace sheaf::test {

// In bytes, as malloc_usable_size() gives them.
std::size_t heap_in_use() noexcept;
// How often memory was handed out.
std::size_t allocations() noexcept;

// Stops counting, or counts again. It is on at first. heap_in_use() lacks what happens while it is
// off.
void count_heap(bool on) noexcept;

}  // namespace sheaf::test
