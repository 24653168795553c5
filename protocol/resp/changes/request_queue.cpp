// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/request_queue.h"

#include <algorithm>

namespace sheaf::protocol::resp {

bool concerns(const Pending& request, std::uint16_t slot) noexcept {
  using enum Pending::Part;
  if (request.part == asking || request.part == opening || request.part == closing) return false;
  const bool has_texts = is_list(request) || request.question == Question::command;
  if (!has_texts) return request.slot == slot;
  if (request.state != Pending::State::waiting) return true;
  const auto is_of_slot = [slot](std::string_view text) { return hash_slot(text) == slot; };
  if (is_list(request)) return is_of_slot(request.texts[request.at]);
  return std::ranges::any_of(request.texts, is_of_slot);
}

}  // namespace sheaf::protocol::resp
