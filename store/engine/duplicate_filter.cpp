// Pure: no socket, clock, entropy, thread or callback.

#include "store/engine/duplicate_filter.h"

#include <limits>

#include "base/hash.h"
#include "store/engine/engine.h"

namespace sheaf::store {
namespace {

constexpr std::uint64_t second_seed = 0x9e3779b97f4a7c15;
constexpr std::uint64_t node_overhead = 64;  // in the list and the index, roughly

std::string join_texts(const DuplicateKey& key) {
  std::string out;
  out.reserve(key.client_id.size() + key.correlation.size() + key.timestamp.value_or("").size() +
              key.fencing_token.value_or("").size());
  out.append(key.client_id).append(key.correlation);
  out.append(key.timestamp.value_or("")).append(key.fencing_token.value_or(""));
  return out;
}

// The same key, as a view of its joined texts.
DuplicateKey viewing(std::string_view texts, DuplicateKey key) {
  const auto take = [&](std::string_view& text) {
    const std::size_t size = text.size();
    text = texts.substr(0, size);
    texts.remove_prefix(size);
  };
  take(key.client_id);
  take(key.correlation);
  if (key.timestamp) take(*key.timestamp);
  if (key.fencing_token) take(*key.fencing_token);
  return key;
}

}  // namespace

std::size_t DuplicateFilter::KeyHasher::operator()(const DuplicateKey& key) const {
  std::uint64_t hash = seed ^ key.payload_hash;
  if (key.fencing_token) hash = hash64(*key.fencing_token, hash);
  if (key.timestamp) hash = hash64(*key.timestamp, hash);
  return hash64(key.client_id, hash64(key.correlation, hash));
}

DuplicateKey DuplicateFilter::key_of(const Request& request) const noexcept {
  return {.client_id = request.client_id,
          .correlation = request.correlation.value_or(""),
          .timestamp = request.timestamp,
          .fencing_token = request.fencing_token,
          .payload_size = request.payload.size(),
          .payload_hash = hash64(request.payload, seed_),
          .payload_hash_2 = hash64(request.payload, seed_ ^ second_seed)};
}

const DuplicateFilter::Remembered* DuplicateFilter::find(const DuplicateKey& key, Deadline mono) {
  forget_old(mono, std::numeric_limits<std::size_t>::max());
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  if (!overtaken(*found->second)) return &found->second->answer;
  forget(found->second);
  return nullptr;
}

void DuplicateFilter::remember(const DuplicateKey& key, std::string_view written,
                               std::string_view payload, std::string_view timestamp,
                               Deadline mono) {
  const std::uint64_t size = cost(key, payload, timestamp);
  if (max_entries_ == 0 || size > max_bytes_) return;
  while (entries_.size() >= max_entries_ || bytes_ + size > max_bytes_) forget(entries_.begin());
  std::list<Entry> fresh;
  fresh.push_back({join_texts(key),
                   {std::string(payload), std::string(timestamp)},
                   key,
                   mono + duplicate_lifetime});
  Entry& entry = fresh.front();
  entry.key = viewing(entry.texts, key);
  if (!key.timestamp) {
    entry.written_hash = hash64(written, seed_);
    entry.writes = unstamped_[entry.written_hash].writes;
  }
  index_.emplace(entry.key, fresh.begin());
  entries_.splice(entries_.end(), fresh);
  bytes_ += size;
  if (!key.timestamp) ++unstamped_[entry.written_hash].answers;
}

void DuplicateFilter::note_write(std::string_view written) {
  if (unstamped_.empty()) return;
  const auto found = unstamped_.find(hash64(written, seed_));
  if (found != unstamped_.end()) ++found->second.writes;
}

void DuplicateFilter::forget_old(Deadline mono, std::size_t limit) {
  for (; limit > 0 && !entries_.empty() && entries_.front().until <= mono; --limit) {
    forget(entries_.begin());
  }
}

std::uint64_t DuplicateFilter::cost(const DuplicateKey& key, std::string_view payload,
                                    std::string_view timestamp) noexcept {
  return sizeof(Entry) + node_overhead + key.client_id.size() + key.correlation.size() +
         key.timestamp.value_or("").size() + key.fencing_token.value_or("").size() +
         payload.size() + timestamp.size() + (key.timestamp ? 0 : node_overhead);
}

bool DuplicateFilter::overtaken(const Entry& entry) const {
  return !entry.key.timestamp && unstamped_.at(entry.written_hash).writes != entry.writes;
}

void DuplicateFilter::forget(std::list<Entry>::iterator entry) {
  bytes_ -= cost(entry->key, entry->answer.payload, entry->answer.timestamp);
  index_.erase(entry->key);
  if (!entry->key.timestamp) {
    const auto noted = unstamped_.find(entry->written_hash);
    if (--noted->second.answers == 0) unstamped_.erase(noted);
  }
  entries_.erase(entry);
}

}  // namespace sheaf::store
