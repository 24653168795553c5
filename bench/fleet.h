#pragma once

// Shared by the comparisons on servers of their own: the keys of a fleet and their values, the next
// operation of each thread, and the contestants that need no protocol's client library.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

#include "bench/measure.h"

namespace bench {

enum class Work { get, set, get_many, execute };  // execute: many commands of the user, GETs

struct Job {
  Work work = Work::get;
  unsigned keys = 1;     // in one operation
  unsigned threads = 1;  // at most 32
};

// A protocol as the raw contestants speak it: the shortest requests that its servers take, and
// replies of a known size.
struct RawWire {
  using AddKey = void (*)(std::string& request, std::string_view key);
  using AddPair = void (*)(std::string& request, std::string_view key, std::string_view value);

  AddKey add_get;
  AddPair add_set;
  std::string_view stored;  // the reply to a set
  // A request for many keys is its beginning, each key and its end. If beginning and end are empty,
  // it is that many gets.
  std::string_view list_begin;
  AddKey add_to_list;
  std::string_view list_end;
  // The reply to a get is the head, the value and CRLF. The end follows once, after all keys of a
  // request.
  AddKey add_value_head;
  std::string_view values_end;
};

// The keys of one fleet, the server that owns each, and each value. A value begins with its own
// key, so a reader can check that it got the right one.
//
// Thread rule: immutable once made.
class Data {
 public:
  static constexpr unsigned count = 4'000;  // a multiple of every Job::keys
  static constexpr unsigned block = 100;    // written at once; divides every thread's share
  static constexpr unsigned value_size = 100;

  // Stores every value through a client of that URI and asks it for the owners. `wire` must outlive
  // this object.
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

// The next operation of one thread: the keys to read, the key and value to write. Each thread
// writes its own keys, and each value only once.
class Turn {
 public:
  Turn(const Data& data, const Job& job, unsigned thread);

  void advance();
  // The first key of this operation.
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

// One round: all threads run operations until `length` has passed; then what they set is checked.
// `weight` is the number of requests in one operation, if they are counted one by one. `finish` is
// each thread's last step.
using Act = std::function<void(unsigned thread, const Turn&)>;
Round run_job(const Data& data, const Job& job, std::chrono::milliseconds length,
              const Act& operation, unsigned weight = 1, const Act& finish = {});

[[noreturn]] void wrong_value(std::string_view who, std::string_view key);

// The contestants. They connect when they are made. Data and job must outlive them.

// With `each`, every thread has its own client instead of sharing one.
Contestant fleet_sheaf(const Data& data, const Job& job, std::string name,
                       const sheaf::ClusterConfig& config, bool each);
// The configuration that fleet_sheaf needs, from the URI of the data.
sheaf::ClusterConfig config_of(const Data& data);
// RawWire over blocking sockets: one request and one reply at a time or, if `pipelined`, all keys
// of an operation at once, and Work::get and Work::set a hundred at a time.
Contestant fleet_raw(const Data& data, const Job& job, bool pipelined);

}  // namespace bench
