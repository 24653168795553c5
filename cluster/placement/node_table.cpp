#include "cluster/placement/node_table.h"

#include <map>
#include <set>
#include <utility>

#include "base/mutex.h"

namespace sheaf::cluster {

class NodeTable::Indices {
 public:
  // `self` is this object; the entry shares it.
  std::shared_ptr<const NodeEntry> entry(const std::shared_ptr<Indices>& self,
                                         const std::string& identity) {
    const sync::MutexLock lock(mutex_);
    std::weak_ptr<const NodeEntry>& known = entries_[identity];
    if (auto entry = known.lock()) return entry;
    const std::uint32_t index = free_.empty() ? used_++ : free_.extract(free_.begin()).value();
    const std::shared_ptr<const NodeEntry> made(new NodeEntry{index, identity},
                                                [self](const NodeEntry* entry) {
                                                  self->free(*entry);
                                                  delete entry;
                                                });
    known = made;
    return made;
  }

 private:
  // The server may already have a new entry.
  void free(const NodeEntry& entry) {
    const sync::MutexLock lock(mutex_);
    free_.insert(entry.index);
    const auto at = entries_.find(entry.identity);
    if (at != entries_.end() && at->second.expired()) entries_.erase(at);
  }

  sync::Mutex mutex_;
  std::map<std::string, std::weak_ptr<const NodeEntry>> entries_ SHEAF_GUARDED_BY(mutex_);
  std::set<std::uint32_t> free_ SHEAF_GUARDED_BY(mutex_);  // below used_
  std::uint32_t used_ SHEAF_GUARDED_BY(mutex_) = 0;
};

NodeTable::NodeTable() : indices_(std::make_shared<Indices>()) {}

std::shared_ptr<const NodeEntry> NodeTable::entry(const std::string& identity) {
  return indices_->entry(indices_, identity);
}

}  // namespace sheaf::cluster
