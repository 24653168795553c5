#pragma once

// FollowPlan: decides which answers of a source of servers count.
//
// Thread rule: one thread at a time.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "extras/discovery/lookup.h"

namespace sheaf::discovery {

class FollowPlan {
 public:
  enum class Verdict : std::uint8_t {
    same,   // equal to those last taken
    differ  // must be taken
  };
  // An error says in one sentence why they do not count: the list is older than one seen before.
  std::expected<Verdict, std::string> judge(const Found& found);
  void take(Found found) { taken_ = std::move(found.servers); }

 private:
  std::optional<std::vector<NodeConfig>> taken_;
  std::uint64_t version_ = 0;  // the largest seen
};

}  // namespace sheaf::discovery
