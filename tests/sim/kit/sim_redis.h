#pragma once

// The servers of a Redis cluster behind simulated ports: GET and SET, slots that migrate key by key
// or all at once, and servers that disagree meanwhile about who owns them.
//
// Thread rule: one thread.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

class SimRedisCluster {
 public:
  static constexpr std::uint16_t port = 6379;
  static std::string host(unsigned server) { return "r" + std::to_string(server); }

  // Servers 0 .. servers - 1 own equal shares. The object outlives them.
  SimRedisCluster(SimNetwork& network, unsigned servers);
  SimRedisCluster(const SimRedisCluster&) = delete;
  SimRedisCluster& operator=(const SimRedisCluster&) = delete;

  unsigned owner(std::uint16_t slot, unsigned in_the_eyes_of) const {
    return views_[in_the_eyes_of][slot];
  }
  // A slot begins to migrate; then its keys move one by one, and then it belongs to the target.
  void begin_migration(std::uint16_t slot, unsigned target);
  bool move_a_key(std::uint16_t slot);  // false: none is left
  // The slot belongs to the target in the eyes of one server, from now on.
  void finish_migration(std::uint16_t slot, unsigned target, unsigned in_the_eyes_of);
  // All its keys go at once, before any server knows.
  void move_keys(std::uint16_t slot, unsigned from, unsigned target);
  bool down = false;  // CLUSTERDOWN for everything

  // How often this was stored. Values are all different.
  unsigned stored(const std::string& value) const {
    const auto at = stores_.find(value);
    return at != stores_.end() ? at->second : 0;
  }
  std::uint64_t redirects() const { return redirects_; }  // MOVED and ASK, of all servers

  // One command; `asking` is the state of its connection. The reply as bytes.
  std::string execute(unsigned server, const std::vector<std::string>& words, bool& asking);

 private:
  using Data = std::map<std::string, std::string>;

  std::string elsewhere(std::string_view word, std::uint16_t slot, unsigned target);

  std::vector<std::vector<unsigned>> views_;   // by server and slot
  std::map<std::uint16_t, unsigned> targets_;  // of slots that migrate
  std::vector<Data> data_;                     // by server
  std::map<std::string, unsigned> stores_;
  std::uint64_t redirects_ = 0;
};

}  // namespace sheaf::sim
