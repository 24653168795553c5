#pragma once

// What memcached_compare compares: the work, the data it works on, and the contestants.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

#include "bench/measure.h"

namespace bench {

enum class Work { get, set, get_many };

struct Job {
  Work work = Work::get;
  unsigned keys = 1;  // of one operation
  unsigned threads = 1;
};

// The keys of one fleet, where each lives, and what each holds: its own key first, so that a
// reader of a value knows whether it is the right one.
//
// Thread rule: immutable once made.
class Data {
 public:
  static constexpr unsigned count = 4'000;  // a multiple of every Job::keys
  static constexpr unsigned value_size = 100;

  // Finds the owners by libmemcached's ring, and stores every value.
  explicit Data(std::vector<Target> servers);

  const std::vector<Target>& servers() const noexcept { return servers_; }
  std::string_view key(unsigned i) const { return keys_[i % count]; }
  unsigned owner(unsigned i) const { return owners_[i % count]; }
  // The fleet's URI for sheaf, with the ring that libmemcached uses, too.
  std::string uri() const;

  static bool is_value_of(std::string_view value, std::string_view key) {
    return value.size() == value_size && value.starts_with(key);
  }

 private:
  std::vector<Target> servers_;
  std::vector<std::string> keys_;
  std::vector<unsigned> owners_;
};

// What one thread does next: the keys to read, the key and value to write. Of 8 threads each writes
// keys of its own, and each value only once.
class Turn {
 public:
  Turn(const Data& data, const Job& job, unsigned thread);

  void advance();
  // The first of the keys of this operation.
  unsigned index() const noexcept { return at_; }
  // The value to set.
  std::string_view value() const noexcept { return value_; }
  // After sets: throws if the server does not hold the last value.
  void check() const;

 private:
  const Data& data_;
  const Job& job_;
  unsigned first_;
  unsigned at_;
  unsigned long number_ = 0;
  std::string value_;
};

// One round: operations of all threads until `length` has passed, then the check of what they set.
// `weight`: requests in one operation, if they count one by one. `finish`: the last of each thread.
using Act = std::function<void(unsigned thread, const Turn&)>;
Round run_job(const Data& data, const Job& job, std::chrono::milliseconds length,
              const Act& operation, unsigned weight = 1, const Act& finish = {});

[[noreturn]] void wrong_value(std::string_view who, std::string_view key);

// The contestants; opened when made. The data outlives them.
struct SheafKind {
  sheaf::MemcachedProtocol protocol = sheaf::MemcachedProtocol::meta;
  bool spin = true;
  bool each = false;  // a client for each thread instead of one for all
};
Contestant memcached_sheaf(const Data& data, const Job& job, const SheafKind& kind);
enum class LibKind {
  binary,         // versions come with every value
  text,           // without versions, as it is by default
  text_versions,  // SUPPORT_CAS: what sheaf always gives
  unacknowledged  // BUFFER_REQUESTS and NOREPLY
};
Contestant memcached_lib(const Data& data, const Job& job, LibKind kind);
// Requests spelled as briefly as memcached takes them, over blocking sockets: one request, one
// reply, or (pipelined) all keys of an operation at once; Work::get and Work::set by the hundred.
Contestant memcached_raw(const Data& data, const Job& job, bool pipelined);

}  // namespace bench
