// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/journal.h"

#include <memory>
#include <utility>

namespace sheaf::store {

void Journal::restore(const Change& saved) {
  if (saved.kind == Change::Kind::keep_fence) {
    if (saved.fence) fences_.restore(saved.key, Fence(*saved.fence), saved.until);
    return;
  }
  const bool owned = accounts_ != nullptr && !saved.owner.empty();
  RecordTable::Entry& entry =
      records_.put(records_.find(saved.key), saved.key, saved.value, saved.until,
                   owned ? accounts_->number_of(saved.owner) : nobody);
  entry.second.version = saved.version;
  entry.second.fence = saved.fence ? std::make_unique<Fence>(*saved.fence) : nullptr;
}

bool Journal::beyond_ceiling() const noexcept {
  const protocol::statestore::Timestamp last = clock_.last();
  return std::pair(last.wall, last.counter) > std::pair(ceiling_.wall, ceiling_.counter);
}

void Journal::begin() noexcept {
  changed_records_.begin();
  changed_fences_.begin();
}

bool Journal::poll(Change& out) {
  out = {};
  if (const std::string* const key = changed_records_.take()) {
    out.key = *key;
    const RecordTable::Entry* const entry = records_.find(*key);
    const bool filed = entry != nullptr && RecordTable::persists(*entry);
    out.kind = filed ? Change::Kind::put : Change::Kind::remove;
    if (!filed) return true;
    out.value = entry->second.value;
    if (accounts_ != nullptr) out.owner = accounts_->name_of(RecordTable::account(*entry));
    out.version = entry->second.version;
    if (entry->second.fence) out.fence = entry->second.fence->token();
    out.until = RecordTable::expiry(*entry);
    return true;
  }
  if (const std::string* const key = changed_fences_.take()) {
    out.key = *key;
    const RetainedFences::Entry* const kept = fences_.entry(*key);
    out.kind = kept == nullptr ? Change::Kind::forget_fence : Change::Kind::keep_fence;
    if (kept == nullptr) return true;
    out.fence = kept->fence.token();
    out.until = kept->until;
    return true;
  }
  return false;
}

void Journal::saved() {
  changed_records_.saved();
  changed_fences_.saved();
}

void Journal::lost() {
  changed_records_.lost();
  changed_fences_.lost();
}

}  // namespace sheaf::store
