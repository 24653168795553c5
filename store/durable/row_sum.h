#pragma once

// Checksums of a file's contents: SQLite checks the structure of its pages, but not the bytes in
// them.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>

#include "store/durable/store_file.h"

namespace sheaf::store {

// `row` is of kind put or keep_fence.
std::uint64_t sum_of(const Change& row) noexcept;
std::uint64_t sum_of(const FileHeader& header) noexcept;

}  // namespace sheaf::store
