#pragma once

// Takeovers: decides whether the end of a connection means that another process uses its client ID,
// and how long we then stay away. A server lets the newest connection have an ID and ends the one
// before. Two processes that reconnect at once would end each other's connections for ever.
//
// | a connection with a name of its own ends                           | decision               |
// |--------------------------------------------------------------------|------------------------|
// | the server says that another one took the session over             | taken over             |
// | the same, soon after an attempt that failed, so it may be our own  | as the next rows       |
// | the peer cuts it without a word                                    | none: servers restart  |
// | one that was made since is cut, too, after less than `cut_life`,   | taken over: some       |
// | and no attempt has failed in between, as it would during a restart | servers say nothing    |
// | in any of these ways, soon after we came back from a pause         | taken over, longer     |
// | in another way                                                     | none                   |
//
// The first pause is `first`. If the other process comes back for its ID it has waited as long as
// we have, so a takeover within twice the pause and `short_life` after our return doubles it, up to
// `most`. After that, the pauses begin with `first` again. With two such processes, the ID changes
// hands about ten times in the first minute, and then once a minute.
//
// Connections of a pool that end together are one takeover, or one cut.
//
// An attempt that we have given up may reach a server that hangs after our next one, and take over
// that. This is why a failed attempt excuses one takeover.
//
// Pure: no socket, clock, entropy, thread or callback.
// Thread rule: belongs to one lane.

#include <chrono>
#include <optional>
#include <string_view>

#include "protocol/session.h"

namespace sheaf::node {

struct TakeoverOptions {
  std::chrono::nanoseconds first = std::chrono::seconds(2);
  std::chrono::nanoseconds most = std::chrono::seconds(60);
  std::chrono::nanoseconds short_life = std::chrono::seconds(10);
  // Two processes that reconnect at once cut each other within a round trip or two. If one of them
  // has understood that, it comes back after `first`, and the other one must understand it, too.
  std::chrono::nanoseconds cut_life = std::chrono::milliseconds(2'250);
};

class Takeovers {
 public:
  // A connection, or an attempt to make one, has ended. `name`: Session::own_name(); nothing is
  // taken over without one. Returns how long not to connect, if another process has the name; else
  // nothing.
  std::optional<std::chrono::nanoseconds> on_ended(const protocol::CloseReason& why,
                                                   std::string_view name, bool was_ready,
                                                   Deadline created, Now now) noexcept;

 private:
  static constexpr TakeoverOptions options{};

  unsigned cuts_ = 0;         // in a row, each of a connection made after the one before
  Deadline last_cut_{0};      // meaningful if there is one
  bool may_be_ours_ = false;  // an attempt has failed since the last connection that was ready
  std::chrono::nanoseconds pause_{0};  // the last one; 0: none
  Deadline taken_{0};                  // when it began
  Deadline returned_{0};               // when it ended
};

// Why a node cannot be used while another process has the client ID `name`. `why`: how the last
// connection ended.
protocol::CloseReason name_is_taken(std::string_view name, const protocol::CloseReason& why);

}  // namespace sheaf::node
