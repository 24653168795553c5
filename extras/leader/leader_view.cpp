// Pure: no socket, clock, entropy, thread or callback.

#include "extras/leader/leader_view.h"

namespace sheaf::leader {
namespace {

// `value`: what the lock's key holds; null: nothing.
Leader leader_by(const std::string* value) {
  Leader leader;
  if (value != nullptr) leader.holder.emplace(holder_of(*value));
  return leader;
}

}  // namespace

std::string_view holder_of(std::string_view value) noexcept {
  constexpr std::size_t digits = 32;
  if (value.size() <= digits) return value;
  const std::size_t colon = value.size() - digits - 1;
  const bool ours =
      value[colon] == ':' && value.find_first_not_of("0123456789abcdef", colon + 1) == value.npos;
  return ours ? value.substr(0, colon) : value;
}

Result<Leader> leader_of(const Result<GetResult>& got) {
  if (!got) return Failure(got.error());
  return leader_by(*got ? &(*got)->data : nullptr);
}

std::optional<Leader> LeaderView::see(const std::optional<std::string>& value) {
  if (known_ && seen_ == value) return std::nullopt;
  known_ = true;
  seen_ = value;
  return leader_by(value ? &*value : nullptr);
}

}  // namespace sheaf::leader
