#include "extras/discovery/follow_plan.h"

#include "extras/discovery/found_servers.h"

namespace sheaf::discovery {

std::expected<FollowPlan::Verdict, std::string> FollowPlan::judge(const Found& found) {
  if (found.version < version_) {
    return std::unexpected("the list of servers has version " + std::to_string(found.version) +
                           ", but version " + std::to_string(version_) +
                           " was seen before: an older list is ignored");
  }
  version_ = found.version;
  const bool same = taken_ && same_servers(found.servers, *taken_);
  return same ? Verdict::same : Verdict::differ;
}

}  // namespace sheaf::discovery
