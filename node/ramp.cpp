#include "node/ramp.h"

#include <algorithm>

namespace sheaf::node {

std::uint64_t ramp_limit(std::uint64_t full, Deadline since, std::chrono::nanoseconds length,
                         Now now) noexcept {
  const auto passed = now.mono - since;
  if (passed >= length) return full;
  const double part =
      std::max(0.0, static_cast<double>(passed.count())) / static_cast<double>(length.count());
  const std::uint64_t least =
      std::min<std::uint64_t>(full, std::max<std::uint64_t>(1, full / ramp_parts));
  return std::clamp(static_cast<std::uint64_t>(static_cast<double>(full) * part), least, full);
}

}  // namespace sheaf::node
