#pragma once

// Strangers: the hosts to which servers redirect although nobody has said that they belong to the
// cluster. The map that is asked for next may name such a host, so its requests wait for that map.
// If it does not, they are refused, and so are later ones, until a map does.
//
// | a redirect to a host that is not allowed                | then            |
// |---------------------------------------------------------|-----------------|
// | no map that was asked for after the first such has come | waits for one   |
// | one has come                                            | is refused      |
// | none for the time of two maps, then another             | is a first such |
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
  // More than these are not remembered: requests for them wait until their deadlines.
  static constexpr std::size_t most = 64;

  // A redirect leads to this host. Whether the map may name it yet.
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
  // It has come, and the hosts it names are no strangers any more.
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
  std::uint64_t good_ = 0;  // the latest that has come
};

}  // namespace sheaf::cluster
