#pragma once

// What a memcached server keeps, as a pure table: versions, lifetimes in whole seconds of a clock
// that is read about once a second, restarts and evictions. It takes operations, not bytes.
//
// Thread rule: one thread.

#include <cstdint>
#include <map>
#include <string>

#include "base/random.h"
#include "protocol/operation.h"

namespace sheaf::sim {

// When the server reads its clock: a little more than a second after the last reading, so that the
// readings drift through the second. Counts from the server's start.
class CacheClock {
 public:
  // `phase`, 0 .. 1: how far into a second the first reading is.
  explicit CacheClock(double phase);
  std::chrono::nanoseconds next_reading() const { return next_; }
  // Reads the clock at next_reading(). The next reading is due `late` more than a second later.
  void read(std::chrono::nanoseconds late);
  std::int64_t second() const { return second_; }

 private:
  std::chrono::nanoseconds next_;
  std::int64_t second_ = 0;
};

class CacheTable {
 public:
  struct Answer {
    protocol::Status status = protocol::Status::done;
    std::string value;
    std::string version;
    std::int64_t seconds_left = -1;  // get; -1: it never expires
    std::uint32_t flags = 0;         // get
  };

  // Executes get, set, touch and remove, with the conditions of memcached.
  Answer execute(const protocol::Operation& operation, const CacheClock& clock);
  // Forgets everything; versions count from 1 again.
  void restart();
  void evict(const std::string& key) { items_.erase(key); }
  std::size_t size() const { return items_.size(); }

 private:
  struct Item {
    std::string value;
    std::uint64_t version = 0;
    std::int64_t ends = 0;  // second; 0 = never
    std::uint32_t flags = 0;
  };
  static std::int64_t end_of(const protocol::Operation& operation, const CacheClock& clock);
  Answer set(const protocol::Operation& operation, Item* present, const CacheClock& clock);

  std::map<std::string, Item> items_;
  std::uint64_t last_version_ = 0;
};

}  // namespace sheaf::sim
