#include "node/takeovers.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sheaf::node {

std::optional<std::chrono::nanoseconds> Takeovers::on_ended(const protocol::CloseReason& why,
                                                            std::string_view name, bool was_ready,
                                                            Deadline created, Now now) noexcept {
  if (name.empty()) return std::nullopt;
  if (!was_ready && !why.taken_over) {
    cuts_ = 0;
    may_be_ours_ = true;
    return std::nullopt;
  }
  const bool short_lived = now.mono - created < options.short_life;
  const bool excused = std::exchange(may_be_ours_, false) && short_lived;
  const bool silent =
      why.cut && (why.reason == Reason::connection_lost || why.reason == Reason::closed);
  const bool suspect = why.taken_over || silent;
  if (now.mono - created >= options.cut_life || !suspect) cuts_ = 0;
  if (!suspect) return std::nullopt;
  if (pause_.count() > 0 && created < taken_) {  // it ended together with the one before
    return now.mono < returned_ ? std::optional(returned_ - now.mono) : std::nullopt;
  }
  if (cuts_ == 0 || created >= last_cut_) ++cuts_;
  last_cut_ = now.mono;
  const bool again = pause_.count() > 0 && now.mono - returned_ < 2 * pause_ + options.short_life;
  const bool told = why.taken_over && !excused;
  if (!told && !again && cuts_ < 2) return std::nullopt;
  pause_ = again ? std::min(2 * pause_, options.most) : options.first;
  taken_ = now.mono;
  returned_ = now.mono + pause_;
  return pause_;
}

protocol::CloseReason name_is_taken(std::string_view name, const protocol::CloseReason& why) {
  std::string text(why.taken_over ? "another process uses the client ID "
                                  : "another process seems to use the client ID ");
  text.append(name).append(": ").append(why.text);
  return {.reason = Reason::authentication, .text = std::move(text)};
}

}  // namespace sheaf::node
