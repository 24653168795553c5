#pragma once

// What the comparisons on servers of their own share: the keys of a fleet and what each holds, what
// a thread does next, and the contestants that need no client library of a protocol.

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
  unsigned keys = 1;     // of one operation
  unsigned threads = 1;  // 32 at most
};

// A protocol as the raw contestants speak it: requests as short as its servers take them, and
// replies of a known size.
struct RawWire {
  using AddKey = void (*)(std::string& request, std::string_view key);
  using AddPair = void (*)(std::string& request, std::string_view key, std::string_view value);

  AddKey add_get;
  AddPair add_set;
  std::string_view stored;  // the reply to a set
  // Many keys are one request: its beginning, each key, its end. Or, with nothing around them, as
  // many gets.
  std::string_view list_begin;
  AddKey add_to_list;
  std::string_view list_end;
  // The reply to a get: what is before the value, the value and CRLF; then, once for all keys of a
  // request, the end.
  AddKey add_value_head;
  std::string_view values_end;
};

// The keys of one fleet, where each lives, and what each holds: its own key first, so that a
// reader of a value knows whether it is the right one.
//
// Thread rule: immutable once made.
class Data {
 public:
  static constexpr unsigned count = 4'000;  // a multiple of every Job::keys
  static constexpr unsigned block = 100;    // what is written at once; divides every thread's share
  static constexpr unsigned value_size = 100;

  // Stores every value through a client of that URI, and asks it for the owners. The wire outlives
  // the object.
  Data(std::vector<Target> servers, std::string uri, const RawWire& wire);

  const std::vector<Target>& servers() const noexcept { return servers_; }
  std::string_view key(unsigned i) const { return keys_[i % count]; }
  unsigned owner(unsigned i) const { return owners_[i % count]; }
  const std::string& uri() const noexcept { return uri_; }
  const RawWire& wire() const noexcept { return wire_; }

  static bool is_value_of(std::string_view value, std::string_view key) {
    return value.size() == value_size && value.starts_with(key);
  }

 private:
  std::vector<Target> servers_;
  std::string uri_;
  const RawWire& wire_;
  std::vector<std::string> keys_;
  std::vector<unsigned> owners_;
};

// "127.0.0.1:7000,127.0.0.1:7001", as in a URI.
std::string list_of(const std::vector<Target>& servers);

// What one thread does next: the keys to read, the key and value to write. Each thread writes keys
// of its own, and each value only once.
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
  unsigned share_;
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

// The contestants; opened when made. Data and job outlive them.

// `each`: a client for each thread instead of one for all.
Contestant fleet_sheaf(const Data& data, const Job& job, std::string name,
                       const sheaf::ClusterConfig& config, bool each);
// What fleet_sheaf wants to know, from the URI of the data.
sheaf::ClusterConfig config_of(const Data& data);
// RawWire over blocking sockets: one request, one reply, or (pipelined) all keys of an operation at
// once; Work::get and Work::set by the hundred.
Contestant fleet_raw(const Data& data, const Job& job, bool pipelined);

}  // namespace bench
