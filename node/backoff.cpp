#include "node/backoff.h"

#include <algorithm>

namespace sheaf::node {

void Backoff::on_ready(Now now) noexcept { ready_since_ = now.mono; }

void Backoff::reset() noexcept {
  span_ = options_.first;
  ready_since_ = never;
}

Deadline Backoff::on_failed(Now now, Random& random) noexcept {
  if (ready_since_ != never && now.mono - ready_since_ >= options_.stable) span_ = options_.first;
  ready_since_ = never;
  const auto wait = std::chrono::nanoseconds(
      static_cast<std::int64_t>(random.between(0.0, static_cast<double>(span_.count()))));
  span_ = std::min(span_ * 2, options_.limit);
  return now.mono + wait;
}

}  // namespace sheaf::node
