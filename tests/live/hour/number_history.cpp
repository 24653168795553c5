#include "tests/live/hour/number_history.h"

#include <algorithm>

namespace sheaf::test {

const char* name_of(Breach breach) {
  constexpr const char* names[breach_count] = {"foreign", "wrong", "reordered", "stale"};
  return names[static_cast<std::size_t>(breach)];
}

std::vector<NumberHistory::Finding> NumberHistory::judge(std::span<const NumberedCall> batch,
                                                         std::span<const LossTime> losses) {
  std::uint64_t first_of_batch = begun_ + 1;
  for (const NumberedCall& call : batch) {
    if (call.writes) first_of_batch = std::min(first_of_batch, call.number);
  }
  std::vector<Finding> findings;
  for (const NumberedCall& call : batch) {
    if (call.writes) {
      note_write(call);
    } else if (call.end == NumberedCall::End::done) {
      const std::uint64_t right = latest_;
      const auto breach = judge_read(call, first_of_batch, losses);
      if (breach) findings.push_back({.breach = *breach, .read = call.number, .right = right});
    }
  }
  return findings;
}

void NumberHistory::note_write(const NumberedCall& set) {
  switch (set.end) {
    case NumberedCall::End::done:
      latest_ = set.number;
      latest_since_ = set.begun;
      break;
    case NumberedCall::End::unknown:
      unknown_.insert(set.number);
      break;
    case NumberedCall::End::not_executed:
      without_effect_.insert(set.number);
      break;
  }
}

std::optional<Breach> NumberHistory::judge_read(const NumberedCall& get,
                                                std::uint64_t first_of_batch,
                                                std::span<const LossTime> losses) {
  if (get.number == latest_) return std::nullopt;
  if (unknown_.erase(get.number) > 0) {
    latest_ = get.number;
    latest_since_ = get.begun;
    return std::nullopt;
  }
  if (get.number > begun_ || without_effect_.contains(get.number)) return Breach::wrong;
  if (may_be_lost(get, losses)) {
    // Once the servers agree again, what is read has survived.
    const bool over = std::ranges::all_of(
        losses, [&](const LossTime& loss) { return loss.ended && *loss.ended < get.begun; });
    if (over) {
      latest_ = get.number;
      latest_since_ = get.begun;
    }
    return std::nullopt;
  }
  return get.number >= first_of_batch ? Breach::reordered : Breach::stale;
}

bool NumberHistory::may_be_lost(const NumberedCall& get, std::span<const LossTime> losses) const {
  return std::ranges::any_of(losses, [&](const LossTime& loss) {
    return loss.begun <= get.ended && (!loss.ended || latest_since_ <= *loss.ended);
  });
}

}  // namespace sheaf::test
