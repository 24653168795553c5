#pragma once

// The answers to recent writes. QoS 1 and clients that reconnect may deliver a request twice; it is
// executed once.
//
// Two requests are the same if client ID, correlation data, timestamp (`__ts`) and fencing token
// (`__ft`) are equal byte for byte, and the payloads have the same size and the same two 64-bit
// hashes under secret seeds. Only a client that repeats all the rest can produce a collision, and
// only with itself.
//
// A client may leave out the timestamp of a DEL or VDEL, and use the same correlation data for all
// of its requests. So the answer to such a request counts only while its key has not been written
// since: afterwards the same bytes are a new request.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"

namespace sheaf::store {

struct Request;

struct DuplicateKey {
  std::string_view client_id;
  std::string_view correlation;
  std::optional<std::string_view> timestamp;
  std::optional<std::string_view> fencing_token;
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

  // Keeps at most `max_entries` answers of at most `max_bytes` together; the oldest are dropped
  // first.
  DuplicateFilter(std::uint64_t max_entries, std::uint64_t max_bytes, std::uint64_t seed)
      : max_entries_(max_entries),
        max_bytes_(max_bytes),
        seed_(seed),
        index_(16, KeyHasher{seed}) {}
  DuplicateFilter(const DuplicateFilter&) = delete;
  DuplicateFilter& operator=(const DuplicateFilter&) = delete;

  // Returns views into the request, which must have correlation data.
  DuplicateKey key_of(const Request& request) const noexcept;
  // Null if the request is new. Forgets old answers, and the one that no longer counts because its
  // key was written. Valid until the next call.
  const Remembered* find(const DuplicateKey& key, Deadline mono);
  // `key` must be new; `written` is the key that the request was to change.
  void remember(const DuplicateKey& key, std::string_view written, std::string_view payload,
                std::string_view timestamp, Deadline mono);
  // The store has set or removed this key.
  void note_write(std::string_view written);
  // Forgets at most `limit` answers that are too old.
  void forget_old(Deadline mono, std::size_t limit);

  std::size_t size() const noexcept { return entries_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::size_t noted_keys() const noexcept { return unstamped_.size(); }

 private:
  // A key with answers to requests without a timestamp.
  struct Unstamped {
    std::size_t answers = 0;
    std::uint64_t writes = 0;  // of the key, since the first of them
  };
  struct Entry {
    std::string texts;  // client ID, correlation data, timestamp and fencing token, joined
    Remembered answer;
    DuplicateKey key;  // views into `texts`
    Deadline until;
    std::uint64_t written_hash = 0;  // without a timestamp: the key of the store, and how often it
    std::uint64_t writes = 0;        // had been written
  };
  struct KeyHasher {
    std::size_t operator()(const DuplicateKey& key) const;
    std::uint64_t seed = 0;
  };
  static std::uint64_t cost(const DuplicateKey& key, std::string_view payload,
                            std::string_view timestamp) noexcept;
  bool overtaken(const Entry& entry) const;
  void forget(std::list<Entry>::iterator entry);

  std::uint64_t max_entries_;
  std::uint64_t max_bytes_;
  std::uint64_t seed_;
  std::uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // oldest first
  std::unordered_map<DuplicateKey, std::list<Entry>::iterator, KeyHasher> index_;
  // By the hash of the store's key: a collision only makes a repeated remove a new one.
  std::unordered_map<std::uint64_t, Unstamped> unstamped_;
};

}  // namespace sheaf::store
