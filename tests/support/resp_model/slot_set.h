#pragma once

// SlotSet: a subset of the 16,384 slots.
//
// Thread rule: a plain value.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::test::resp_model {

class SlotSet {
 public:
  bool has(std::uint16_t slot) const { return (words_[slot / 64] >> slot % 64 & 1) != 0; }
  void add(std::uint16_t slot) { words_[slot / 64] |= std::uint64_t{1} << slot % 64; }
  void remove(std::uint16_t slot) { words_[slot / 64] &= ~(std::uint64_t{1} << slot % 64); }
  std::size_t size() const {
    std::size_t size = 0;
    for (const std::uint64_t word : words_) size += static_cast<std::size_t>(std::popcount(word));
    return size;
  }
  // The slots that only one of the two has, in ascending order.
  std::vector<std::uint16_t> differences(const SlotSet& other) const {
    std::vector<std::uint16_t> slots;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i] ^ other.words_[i]; left != 0; left &= left - 1) {
        slots.push_back(
            static_cast<std::uint16_t>(64 * i + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
    return slots;
  }

 private:
  std::array<std::uint64_t, protocol::resp::slot_count / 64> words_{};
};

}  // namespace sheaf::test::resp_model
