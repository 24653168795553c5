#pragma once

// Strangers: hosts that servers redirect to although neither configuration nor map names them. The
// next map may name such a host, so its requests wait for that map. If it does not, they and later
// ones are refused until a map does.
//
// | a redirect to a host that is not allowed                | then            |
// |---------------------------------------------------------|-----------------|
// | no map requested after the first such one has arrived   | waits for one   |
// | such a map has arrived                                  | is refused      |
// | no redirect for the time of two maps, then another      | counts as first |
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sheaf::cluster {

class Strangers {
 public:
  // More hosts than this are not remembered: their requests wait until their deadlines.
  static constexpr std::size_t most = 64;

  // A redirect leads to this host. Returns true if the map may still name it.
  bool may_be_named(std::string_view host) {
    auto found = hosts_.find(host);
    if (found == hosts_.end()) {
      if (hosts_.size() >= most) return true;
      found = hosts_.emplace(host, Times{asked_, asked_}).first;
    }
    found->second.last = asked_;
    return good_ <= found->second.first;
  }
  // The map is asked for.
  void on_asked() noexcept { ++asked_; }
  // It has arrived, and the hosts that it names are no longer strangers.
  void on_map() {
    good_ = asked_;
    std::erase_if(hosts_, [&](const auto& host) { return host.second.last + 2 <= asked_; });
  }

 private:
  // As numbers of maps.
  struct Times {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  std::map<std::string, Times, std::less<>> hosts_;
  std::uint64_t asked_ = 0;
  std::uint64_t good_ = 0;  // the latest that has arrived
};

}  // namespace sheaf::cluster
