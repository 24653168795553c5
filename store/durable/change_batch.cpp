// Pure: no socket, clock, entropy, thread or callback.

#include "store/durable/change_batch.h"

namespace sheaf::store {

void ChangeBatch::add(const Change& change) {
  Copy copy{.kind = change.kind,
            .key = std::string(change.key),
            .value = std::string(change.value),
            .owner = std::string(change.owner),
            .fence_node = {},
            .fence = {},
            .version = change.version,
            .until = change.until};
  if (change.fence) {
    copy.fence_node = change.fence->node;
    copy.fence = Token{change.fence->wall, change.fence->counter};
  }
  changes_.push_back(std::move(copy));
}

StoreFile::Done ChangeBatch::write_to(StoreFile& file) const {
  for (const Copy& copy : changes_) {
    Change change{.kind = copy.kind,
                  .key = copy.key,
                  .value = copy.value,
                  .owner = copy.owner,
                  .version = copy.version,
                  .until = copy.until};
    if (copy.fence) change.fence = {copy.fence->wall, copy.fence->counter, copy.fence_node};
    if (StoreFile::Done written = file.write(change); !written) return written;
  }
  return {};
}

}  // namespace sheaf::store
