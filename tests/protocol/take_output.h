#pragma once

// Everything that a session wants to write; the kernel takes it at once.

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "protocol/session.h"

namespace sheaf::protocol {

inline std::string take_output(Session& session, Now now, std::size_t most) {
  std::string bytes;
  while (bytes.size() < most) {
    std::string turn;
    for (const Bytes part : session.poll_output()) turn += as_text(part);
    if (turn.empty()) break;
    turn.resize(std::min(turn.size(), most - bytes.size()));
    session.on_output(turn.size(), now);
    bytes += turn;
  }
  return bytes;
}

}  // namespace sheaf::protocol
