// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/record_table.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::store {
namespace {

// A short value must not keep the memory of a long one, because the quota counts bytes in use.
constexpr std::size_t spare_capacity = 64;

void assign(std::string& to, std::string_view value) {
  if (to.capacity() > 2 * value.size() + spare_capacity) {
    std::string(value).swap(to);  // assigning a short string would keep the buffer
  } else {
    to.assign(value);
  }
}

}  // namespace

RecordTable::Entry* RecordTable::find(std::string_view key) {
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : &*found;
}

RecordTable::Entry& RecordTable::put(Entry* existing, std::string_view key, std::string_view value,
                                     Deadline expiry, Account account, bool persists) {
  // Everything that may fail comes before the first change.
  reserve();
  if (account != nobody && account >= usage_.size()) usage_.resize(account + std::size_t{1});
  if (existing == nullptr) {
    Record record;
    record.value = value;
    existing = &*records_.emplace(std::string(key), std::move(record)).first;
    existing->second.place_ = places_.size();
    places_.push_back(existing);
    bytes_ += key.size() + value.size();
  } else {
    const std::size_t before = existing->second.value.size();
    const Account last = existing->second.account_;
    assign(existing->second.value, value);
    bytes_ += value.size();
    bytes_ -= before;
    discount(last, key.size() + before);
  }
  existing->second.account_ = account;
  existing->second.persists_ = persists;
  count(account, key.size() + value.size());
  set_expiry(*existing, expiry);
  return *existing;
}

void RecordTable::erase(Entry& entry) {
  leave_heap(entry);
  places_.back()->second.place_ = entry.second.place_;
  places_[entry.second.place_] = places_.back();
  places_.pop_back();
  discount(entry.second.account_, entry.first.size() + entry.second.value.size());
  bytes_ -= entry.first.size() + entry.second.value.size();
  const auto found = records_.find(entry.first);
  SHEAF_CHECK(found != records_.end());
  records_.erase(found);
}

std::optional<Deadline> RecordTable::next_expiry() const noexcept {
  if (heap_.empty()) return std::nullopt;
  return heap_.front()->second.expiry_;
}

Usage RecordTable::usage(Account account) const noexcept {
  return account < usage_.size() ? usage_[account] : Usage{};
}

void RecordTable::count(Account account, std::uint64_t size) noexcept {
  if (account == nobody) return;
  ++usage_[account].keys;
  usage_[account].bytes += size;
}

void RecordTable::discount(Account account, std::uint64_t size) noexcept {
  if (account == nobody) return;
  --usage_[account].keys;
  usage_[account].bytes -= size;
}

void RecordTable::reserve() {
  for (std::vector<Entry*>* const list : {&places_, &heap_}) {
    if (list->size() == list->capacity())
      list->reserve(std::max<std::size_t>(16, 2 * list->size()));
  }
}

void RecordTable::set_expiry(Entry& entry, Deadline expiry) noexcept {
  Record& record = entry.second;
  if (expiry == never) return leave_heap(entry);
  const bool waits = record.expiry_ != never;
  record.expiry_ = expiry;
  record.turn_ = ++turns_;
  if (!waits) {
    record.heap_index_ = heap_.size();
    heap_.push_back(&entry);  // reserve() has made room
  }
  sift(&entry, record.heap_index_);
}

void RecordTable::leave_heap(Entry& entry) noexcept {
  if (entry.second.expiry_ == never) return;
  const std::size_t at = entry.second.heap_index_;
  Entry* const last = heap_.back();
  heap_.pop_back();
  entry.second.expiry_ = never;
  if (last != &entry) sift(last, at);
}

void RecordTable::put_into_heap(Entry* entry, std::size_t at) noexcept {
  heap_[at] = entry;
  entry->second.heap_index_ = at;
}

// Moves `entry` from the free index `at` to the place of its expiry.
void RecordTable::sift(Entry* entry, std::size_t at) noexcept {
  const auto earlier = [](const Entry* a, const Entry* b) {
    return std::pair(a->second.expiry_, a->second.turn_) <
           std::pair(b->second.expiry_, b->second.turn_);
  };
  while (at > 0 && earlier(entry, heap_[(at - 1) / 2])) {
    put_into_heap(heap_[(at - 1) / 2], at);
    at = (at - 1) / 2;
  }
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child + 1 < heap_.size() && earlier(heap_[child + 1], heap_[child])) ++child;
    if (child >= heap_.size() || !earlier(heap_[child], entry)) break;
    put_into_heap(heap_[child], at);
    at = child;
  }
  put_into_heap(entry, at);
}

}  // namespace sheaf::store
