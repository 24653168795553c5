#pragma once

// The same store, written as simply as possible: one map, and the rules of the protocol page, one
// after another. The engine is compared with it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/statestore/clock.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {

// One request, as the model reads it.
struct ModelRequest {
  enum class Verb { set, get, del, vdel, watch, stop };
  Verb verb = Verb::get;
  ClientHandle client = 1;
  std::string key;
  std::string value;
  bool nx = false;
  bool nex = false;
  std::int64_t px = 0;
  std::pair<std::uint64_t, std::uint64_t> timestamp;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> fence;
};

class ModelStore {
 public:
  using Number = std::pair<std::uint64_t, std::uint64_t>;  // wall, counter

  explicit ModelStore(Spelling spelling) : page_(spelling == Spelling::page) {}

  // Returns the answer that the engine must give. Notifications are recorded as "client payload
  // timestamp".
  Got execute(const ModelRequest& request, Now now);
  // Expires everything that is due.
  void expire(Now now);
  std::multiset<std::string> take_notified() { return std::exchange(notified_, {}); }
  std::size_t keys() const { return records_.size(); }
  std::uint64_t bytes() const;

 private:
  struct Record {
    std::string value;
    Number version;
    std::optional<Deadline> expiry;
    std::optional<Number> fence;
    std::uint64_t turn = 0;  // when it was set
  };
  Got set(const ModelRequest& request, Now now);
  Got remove(const ModelRequest& request, Now now);
  Got refuse(std::string_view error) const;
  Got with(std::string payload, Number version, Now now) const;
  std::optional<Number> next(Number after, Now now) const;
  void drop(const std::string& key, Number after, Now now);
  void notify(const std::string& key, const std::vector<std::string>& items, Number version);
  std::string text(Number number) const;

  bool page_;
  Number clock_{0, 0};
  std::uint64_t turns_ = 0;
  std::map<std::string, Record> records_;
  std::set<std::pair<std::string, ClientHandle>> watches_;
  std::multiset<std::string> notified_;
};

}  // namespace sheaf::store
