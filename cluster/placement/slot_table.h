#pragma once

// SlotTable: the owner of each slot, as far as it is known, in as few bits as the number of nodes
// needs: 4 for up to 15 nodes, 8 for up to 255, else 16. With one node there is no table.
//
// | entry       | meaning                                     |
// |-------------|---------------------------------------------|
// | unknown     | it was not needed yet                       |
// | provisional | the owner among all nodes but the newcomers |
// | known       | the owner                                   |
//
// Thread rule: set() may be called by many threads, together with the functions that read, if all
// set an entry to the same value. The others belong to the thread that builds the table.
// Pure: no socket, clock, entropy, thread or callback.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sheaf::cluster {

class SlotTable {
 public:
  // An entry is the node + 1, or `unknown`.
  static constexpr std::uint32_t unknown = 0;

  // `slots` is a power of two, and at least 8.
  SlotTable(std::uint32_t slots, std::size_t nodes)
      : size_(slots),
        packing_(packing_of(nodes)),
        bits_(16u >> packing_),
        words_(nodes == 1 ? 0 : slots >> packing_) {}

  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t get(std::uint32_t slot) const noexcept {
    if (words_.empty()) return 1;
    return word(slot).load(std::memory_order_relaxed) >> shift(slot) & mask();
  }
  bool is_provisional(std::uint32_t slot) const noexcept {
    return !provisional_.empty() && (flags(slot).load(std::memory_order_acquire) & flag(slot)) != 0;
  }
  // From now on the entry is known. Only an entry that is unknown or provisional is set.
  void set(std::uint32_t slot, std::uint32_t entry) const noexcept {
    std::uint16_t old = word(slot).load(std::memory_order_relaxed);
    std::uint16_t wanted = 0;
    do {
      const std::uint32_t others = old & ~(mask() << shift(slot));
      wanted = static_cast<std::uint16_t>(others | entry << shift(slot));
    } while (!word(slot).compare_exchange_weak(old, wanted, std::memory_order_relaxed));
    if (provisional_.empty()) return;
    flags(slot).fetch_and(static_cast<std::uint8_t>(~flag(slot)), std::memory_order_release);
  }

  // All entries that are not unknown become provisional.
  void doubt() {
    provisional_.resize(size_ / 8);
    for (std::uint32_t slot = 0; slot < size_; ++slot) {
      if (get(slot) != unknown) provisional_[slot / 8] |= flag(slot);
    }
  }

 private:
  static unsigned packing_of(std::size_t nodes) noexcept {
    if (nodes < 16) return 2;
    return nodes < 256 ? 1 : 0;
  }
  std::uint32_t mask() const noexcept { return (1u << bits_) - 1; }
  unsigned shift(std::uint32_t slot) const noexcept {
    return (slot & ((1u << packing_) - 1)) * bits_;
  }
  std::atomic_ref<std::uint16_t> word(std::uint32_t slot) const noexcept {
    return std::atomic_ref(words_[slot >> packing_]);
  }
  static std::uint8_t flag(std::uint32_t slot) noexcept {
    return static_cast<std::uint8_t>(1u << slot % 8);
  }
  std::atomic_ref<std::uint8_t> flags(std::uint32_t slot) const noexcept {
    return std::atomic_ref(provisional_[slot / 8]);
  }

  std::uint32_t size_;
  unsigned packing_;  // log2 of the number of entries in a word
  unsigned bits_;     // of an entry
  mutable std::vector<std::uint16_t> words_;
  mutable std::vector<std::uint8_t> provisional_;  // a bit for each slot; empty: none is
};

}  // namespace sheaf::cluster
