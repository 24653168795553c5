// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/client_ids.h"

#include <algorithm>
#include <string_view>

namespace sheaf::protocol::statestore {
namespace {

std::string_view suffix_of(SessionUse use) noexcept {
  switch (use) {
    case SessionUse::probes:
      return "-probe";
    case SessionUse::watches:
      return "-watch";
    case SessionUse::requests:
    case SessionUse::reads:
      break;
  }
  return "";
}

}  // namespace

std::string ClientIds::take(SessionUse use, const ConnectionLife& holder) {
  std::erase_if(taken_, [](const Taken& each) { return each.holder->closed(); });
  const std::string first = exact_ + std::string(suffix_of(use));
  std::string id = first;
  const auto is_taken = [&] { return std::ranges::find(taken_, id, &Taken::id) != taken_.end(); };
  for (unsigned number = 2; is_taken(); ++number) {
    id = first + "-" + std::to_string(number);
  }
  taken_.push_back({id, &holder});
  return id;
}

void ClientIds::give_back(const ConnectionLife& holder) noexcept {
  std::erase_if(taken_, [&](const Taken& each) { return each.holder == &holder; });
}

}  // namespace sheaf::protocol::statestore
