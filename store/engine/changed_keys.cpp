// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/changed_keys.h"

#include <utility>

namespace sheaf::store {

const std::string* ChangedKeys::take() {
  if (waiting_.empty()) return nullptr;
  auto node = waiting_.extract(waiting_.begin());
  return &*taken_.insert(std::move(node)).position;
}

void ChangedKeys::saved() {
  if (taken_.bucket_count() > kept_buckets) {
    taken_ = Keys(initial_buckets, KeyHash{seed_});
  } else {
    taken_.clear();
  }
  if (waiting_.empty() && waiting_.bucket_count() > kept_buckets) {
    waiting_ = Keys(initial_buckets, KeyHash{seed_});
  }
}

void ChangedKeys::lost() {
  waiting_.merge(taken_);
  taken_.clear();  // keys that have changed again in the meantime
}

}  // namespace sheaf::store
