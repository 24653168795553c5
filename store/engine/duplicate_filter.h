#pragma once

// The answers of recent writes, so that a request that arrives twice is executed once. QoS 1 and
// clients that reconnect repeat requests under the same correlation data.
//
// A request is the same if client ID and correlation data are equal byte for byte and the payload
// has the same size and the same two 64-bit hashes of secret seeds. Only a client that repeats its
// own correlation data can meet a collision.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"

namespace sheaf::store {

struct DuplicateKey {
  std::string_view client_id;
  std::string_view correlation;
  std::uint64_t payload_size = 0;
  std::uint64_t payload_hash = 0;
  std::uint64_t payload_hash_2 = 0;

  friend bool operator==(const DuplicateKey&, const DuplicateKey&) = default;
};

class DuplicateFilter {
 public:
  struct Remembered {
    std::string payload;
    std::string timestamp;
  };

  // At most `max_entries` answers that take at most `max_bytes`; the oldest go first.
  DuplicateFilter(std::uint64_t max_entries, std::uint64_t max_bytes, std::uint64_t seed)
      : max_entries_(max_entries),
        max_bytes_(max_bytes),
        seed_(seed),
        index_(16, KeyHasher{seed}) {}
  DuplicateFilter(const DuplicateFilter&) = delete;
  DuplicateFilter& operator=(const DuplicateFilter&) = delete;

  // Views into the request.
  DuplicateKey key_of(std::string_view client_id, std::string_view correlation,
                      std::string_view payload) const noexcept;
  // Null if the request is new. Forgets what is too old first. Lives until the next call.
  const Remembered* find(const DuplicateKey& key, Deadline mono);
  // `key` must not be there.
  void remember(const DuplicateKey& key, std::string_view payload, std::string_view timestamp,
                Deadline mono);
  // Forgets at most `limit` answers that are too old.
  void forget_old(Deadline mono, std::size_t limit);

  std::size_t size() const noexcept { return entries_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Entry {
    std::string client_id;
    std::string correlation;
    Remembered answer;
    DuplicateKey key;  // views of the two above
    Deadline until;
  };
  struct KeyHasher {
    std::size_t operator()(const DuplicateKey& key) const;
    std::uint64_t seed = 0;
  };
  static std::uint64_t cost(const DuplicateKey& key, std::string_view payload,
                            std::string_view timestamp) noexcept;
  void forget_oldest();

  std::uint64_t max_entries_;
  std::uint64_t max_bytes_;
  std::uint64_t seed_;
  std::uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // oldest first
  std::unordered_map<DuplicateKey, std::list<Entry>::iterator, KeyHasher> index_;
};

}  // namespace sheaf::store
