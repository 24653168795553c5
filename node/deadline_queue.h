#pragma once

// Items in the order of their deadlines: a binary heap in which each item knows its place, so that
// one that is answered leaves in O(log n). Allocates only to grow; the storage stays.
//
// `Place` is a member of T that this queue keeps; it is `no_place` while the item is not queued.
// The queue does not own; an item must leave before it dies.
//
// Thread rule: one thread at a time. Pure.

#include <cstddef>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "base/clock.h"

namespace sheaf::node {

template <class T, std::size_t T::* Place>
class DeadlineQueue {
 public:
  static constexpr std::size_t no_place = static_cast<std::size_t>(-1);

  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  void reserve(std::size_t count) { heap_.reserve(count); }
  bool contains(const T& item) const noexcept {
    return item.*Place < heap_.size() && heap_[item.*Place].item == &item;
  }
  // The earliest deadline; `never` if empty.
  Deadline next() const noexcept { return heap_.empty() ? never : heap_.front().at; }

  void push(T& item, Deadline at) {
    SHEAF_CHECK(item.*Place == no_place);
    heap_.push_back({at, &item});
    rise(heap_.size() - 1);
  }
  // Does nothing if the item is not queued.
  void remove(T& item) noexcept {
    const std::size_t place = item.*Place;
    if (place == no_place) return;
    SHEAF_CHECK(contains(item));
    const Entry last = heap_.back();
    heap_.pop_back();
    item.*Place = no_place;
    if (place == heap_.size()) return;
    put(place, last);
    rise(place);
    sink(last.item->*Place);
  }
  // Takes the earliest item whose deadline has come; nullptr if there is none.
  T* pop_due(Deadline now) noexcept {
    if (heap_.empty() || heap_.front().at > now) return nullptr;
    T* item = heap_.front().item;
    remove(*item);
    return item;
  }

 private:
  struct Entry {
    Deadline at;
    T* item;
  };

  void put(std::size_t place, const Entry& entry) noexcept {
    heap_[place] = entry;
    entry.item->*Place = place;
  }
  void rise(std::size_t place) noexcept {
    const Entry entry = heap_[place];
    while (place > 0 && entry.at < heap_[(place - 1) / 2].at) {
      put(place, heap_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    put(place, entry);
  }
  void sink(std::size_t place) noexcept {
    const Entry entry = heap_[place];
    for (;;) {
      std::size_t child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].at < heap_[child].at) ++child;
      if (heap_[child].at >= entry.at) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
};

}  // namespace sheaf::node
