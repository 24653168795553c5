#pragma once

// DeadlineHeap: items ordered by deadline. It is a binary heap in which each item knows its own
// position, so an item that is answered in time leaves in O(log n). It allocates only to grow, and
// keeps its storage.
//
// The heap does not own its items. An item derives from DeadlineHook, is in at most one heap, and
// must leave it before it dies.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <vector>

#include "base/checks.h"
#include "base/clock.h"

namespace sheaf {

template <class T>
class DeadlineHeap;

template <class T>
class DeadlineHook {
 public:
  DeadlineHook() = default;
  DeadlineHook(const DeadlineHook&) = delete;
  DeadlineHook& operator=(const DeadlineHook&) = delete;

 private:
  friend class DeadlineHeap<T>;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::size_t index_ = nowhere;  // the item's place in the heap
};

template <class T>
class DeadlineHeap {
 public:
  DeadlineHeap() = default;
  DeadlineHeap(const DeadlineHeap&) = delete;
  DeadlineHeap& operator=(const DeadlineHeap&) = delete;

  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  void reserve(std::size_t count) { heap_.reserve(count); }
  bool contains(const T& item) const noexcept {
    const std::size_t index = hook(item).index_;
    return index < heap_.size() && heap_[index].item == &item;
  }
  // The earliest deadline; `never` if the heap is empty.
  Deadline next() const noexcept { return heap_.empty() ? never : heap_.front().at; }
  // The item with the earliest deadline; null if the heap is empty.
  T* front() const noexcept { return heap_.empty() ? nullptr : heap_.front().item; }

  // Calls `action` with every item, in no order.
  template <class Action>
  void for_each(const Action& action) const {
    for (const Entry& entry : heap_) action(*entry.item);
  }

  void push(T& item, Deadline at) {
    SHEAF_CHECK(hook(item).index_ == DeadlineHook<T>::nowhere);
    heap_.push_back({at, &item});
    rise(heap_.size() - 1);
  }
  // Does nothing if the item is not in a heap.
  void remove(T& item) noexcept {
    const std::size_t index = hook(item).index_;
    if (index == DeadlineHook<T>::nowhere) return;
    SHEAF_CHECK(contains(item));
    const Entry last = heap_.back();
    heap_.pop_back();
    hook(item).index_ = DeadlineHook<T>::nowhere;
    if (index == heap_.size()) return;
    put(index, last);
    rise(index);
    sink(hook(*last.item).index_);
  }
  // Removes and returns the earliest item if its deadline has come; null otherwise.
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

  static DeadlineHook<T>& hook(T& item) noexcept { return item; }
  static const DeadlineHook<T>& hook(const T& item) noexcept { return item; }

  void put(std::size_t index, const Entry& entry) noexcept {
    heap_[index] = entry;
    hook(*entry.item).index_ = index;
  }
  void rise(std::size_t index) noexcept {
    const Entry entry = heap_[index];
    while (index > 0 && entry.at < heap_[(index - 1) / 2].at) {
      put(index, heap_[(index - 1) / 2]);
      index = (index - 1) / 2;
    }
    put(index, entry);
  }
  void sink(std::size_t index) noexcept {
    const Entry entry = heap_[index];
    for (;;) {
      std::size_t child = 2 * index + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].at < heap_[child].at) ++child;
      if (heap_[child].at >= entry.at) break;
      put(index, heap_[child]);
      index = child;
    }
    put(index, entry);
  }

  std::vector<Entry> heap_;
};

}  // namespace sheaf
