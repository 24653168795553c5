// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/retained_fences.h"

#include "store/engine/journal.h"

namespace sheaf::store {

const Fence* RetainedFences::find(std::string_view key, Deadline mono) const {
  const auto found = index_.find(key);
  if (found == index_.end() || found->second->until <= mono) return nullptr;
  return &found->second->fence;
}

void RetainedFences::keep(std::string_view key, const Fence& fence, Deadline mono) {
  if (retention_.count() == 0) return;
  add(key, fence, mono + retention_);
}

void RetainedFences::restore(std::string_view key, const Fence& fence, Deadline until) {
  if (retention_.count() != 0) add(key, fence, until);
}

const RetainedFences::Entry* RetainedFences::entry(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &*found->second;
}

void RetainedFences::add(std::string_view key, const Fence& fence, Deadline until) {
  if (const auto found = index_.find(key); found != index_.end()) forget(found->second);
  std::list<Entry> fresh;
  fresh.push_back({std::string(key), fence, until});
  const std::uint64_t size = fresh.front().bytes();
  if (size > max_bytes_) return;
  while (!entries_.empty() && (entries_.size() >= max_entries_ || bytes_ + size > max_bytes_)) {
    forget(entries_.begin());
  }
  index_.emplace(fresh.front().key, fresh.begin());
  entries_.splice(entries_.end(), fresh);
  bytes_ += size;
  if (journal_ != nullptr) journal_->note_fence(key);
}

void RetainedFences::forget_old(Deadline mono, std::size_t limit) {
  for (; limit > 0 && !entries_.empty() && entries_.front().until <= mono; --limit) {
    forget(entries_.begin());
  }
}

void RetainedFences::forget(std::list<Entry>::iterator entry) {
  if (journal_ != nullptr) journal_->note_fence(entry->key);
  bytes_ -= entry->bytes();
  index_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace sheaf::store
