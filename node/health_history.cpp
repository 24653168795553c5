// Pure: no socket, clock, entropy, thread or callback.

#include "node/health_history.h"

#include "base/text.h"

namespace sheaf::node {

void HealthHistory::note(NodeHealth health, std::string_view text, Now now) {
  if (changes_.size() == most) changes_.pop_back();
  changes_.insert(changes_.begin(), {health, now.mono, std::string(text)});
  text_.clear();
}

std::string_view HealthHistory::text(Now now) {
  if (!text_.empty() && text_at_ == now.mono) return text_;
  text_at_ = now.mono;
  text_.clear();
  Deadline until = now.mono;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    text_ += i == 0 ? "is " : i == 1 ? ", before that " : ", and before that ";
    text_ += to_string(change.health);
    text_ += i == 0 ? " since " : " for ";
    text_ += format_elapsed(until - change.at);
    if (!change.text.empty() && change.health == NodeHealth::down)
      text_.append(" (").append(change.text).append(")");
    until = change.at;
  }
  return text_;
}

}  // namespace sheaf::node
