#include "cli/dev/rotation.h"

#include <algorithm>

namespace sheaf::cli {

std::optional<RotationStep> Rotation::due(Deadline now) {
  if (period_.count() == 0 || now < next_) return std::nullopt;
  next_ = now + period_;
  return rotation_step(++number_);
}

std::chrono::milliseconds Rotation::pause(Deadline now) const {
  if (period_.count() == 0) return std::chrono::milliseconds(-1);
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(next_ - now),
                  std::chrono::milliseconds(0));
}

}  // namespace sheaf::cli
