#pragma once

// BatchMemory: memory for the bookkeeping of a blocking batch, so that a small batch allocates only
// its results.
//
// Thread rule: one thread at a time; outlives the batch and its plan.

#include <array>
#include <cstddef>
#include <memory_resource>

namespace sheaf::client::calls {

class BatchMemory {
 public:
  explicit BatchMemory(std::size_t keys) : arena_fits_(keys <= most_keys) {}
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;

  std::pmr::memory_resource& operator*() noexcept {
    return arena_fits_ ? static_cast<std::pmr::memory_resource&>(arena_)
                       : *std::pmr::new_delete_resource();
  }

 private:
  // An arena keeps memory that was given back, which would be too much for larger batches.
  static constexpr std::size_t most_keys = 1'024;

  bool arena_fits_;
  alignas(std::max_align_t) std::array<std::byte, 4'096> first_;
  std::pmr::monotonic_buffer_resource arena_{first_.data(), first_.size(),
                                             std::pmr::new_delete_resource()};
};

}  // namespace sheaf::client::calls
