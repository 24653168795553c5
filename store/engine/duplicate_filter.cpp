#include "store/engine/duplicate_filter.h"

#include <limits>

#include "base/hash.h"
#include "store/engine/engine.h"

namespace sheaf::store {
namespace {

constexpr std::uint64_t kSecondSeed = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kNodeOverhead = 64;  // of the list and the index, roughly

}  // namespace

std::size_t DuplicateFilter::KeyHasher::operator()(const DuplicateKey& key) const {
  return hash64(key.client_id, hash64(key.correlation, seed ^ key.payload_hash));
}

DuplicateKey DuplicateFilter::key_of(std::string_view client_id, std::string_view correlation,
                                     std::string_view payload) const noexcept {
  return {client_id, correlation, payload.size(), hash64(payload, seed_),
          hash64(payload, seed_ ^ kSecondSeed)};
}

const DuplicateFilter::Remembered* DuplicateFilter::find(const DuplicateKey& key, Deadline mono) {
  forget_old(mono, std::numeric_limits<std::size_t>::max());
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &found->second->answer;
}

void DuplicateFilter::remember(const DuplicateKey& key, std::string_view payload,
                               std::string_view timestamp, Deadline mono) {
  const std::uint64_t size = cost(key, payload, timestamp);
  if (max_entries_ == 0 || size > max_bytes_) return;
  while (entries_.size() >= max_entries_ || bytes_ + size > max_bytes_) forget_oldest();
  std::list<Entry> fresh;
  fresh.push_back({std::string(key.client_id),
                   std::string(key.correlation),
                   {std::string(payload), std::string(timestamp)},
                   key,
                   mono + duplicate_lifetime});
  Entry& entry = fresh.front();
  entry.key.client_id = entry.client_id;
  entry.key.correlation = entry.correlation;
  index_.emplace(entry.key, fresh.begin());
  entries_.splice(entries_.end(), fresh);
  bytes_ += size;
}

void DuplicateFilter::forget_old(Deadline mono, std::size_t limit) {
  for (; limit > 0 && !entries_.empty() && entries_.front().until <= mono; --limit) forget_oldest();
}

std::uint64_t DuplicateFilter::cost(const DuplicateKey& key, std::string_view payload,
                                    std::string_view timestamp) noexcept {
  return sizeof(Entry) + kNodeOverhead + key.client_id.size() + key.correlation.size() +
         payload.size() + timestamp.size();
}

void DuplicateFilter::forget_oldest() {
  const Entry& oldest = entries_.front();
  bytes_ -= cost(oldest.key, oldest.answer.payload, oldest.answer.timestamp);
  index_.erase(oldest.key);
  entries_.pop_front();
}

}  // namespace sheaf::store
