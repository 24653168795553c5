#pragma once

// MetaListReader: the replies to get_many in the meta protocol.
//
// A line of many keys costs a server half as much as a line for each key, and a server writes as
// soon as it has answered a line. So the keys go as two lines that are answered in one go:
//
//   mg KEY v f c O<opaque>       the first key
//   gets KEY KEY ...             all others, in one line
//
// The server answers the list with the values of the keys that it has, in the order asked, each
// with its key, then END. A value of any other key ends the connection. A key without a value is a
// miss, but END does not name its request. It counts as the end of this list because it comes after
// the reply to mg, which has an opaque, and before the reply to the next request, if there is one:
// no miss is reported until that reply has begun. No other reply begins with END: `stats`, whose
// answer may be empty, is sent after a no-op.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <string_view>

#include "protocol/memcached/answers.h"
#include "protocol/memcached/meta_input.h"
#include "protocol/memcached/meta_lines.h"
#include "protocol/memcached/meta_replies.h"
#include "protocol/memcached/server_facts.h"

namespace sheaf::protocol::memcached {

class MetaListReader {
 public:
  // All outlive this object.
  MetaListReader(const ServerFacts& server, ConnectionLife& life, RequestQueue& queue,
                 Answers& answers, MetaInput& input) noexcept
      : server_(server), life_(life), queue_(queue), answers_(answers), input_(input) {}

  // Handles the reply to mg, for the first of the keys; `size` is the size of the whole line.
  Step on_first(Pending& request, const ReplyLine& line, std::size_t size, Event& event);
  // Call after that: handles the next line of the list, if it is there.
  Step next(Pending& request, Event& event);

 private:
  Step on_value(Pending& request, const ListedHead& head, std::size_t size, Event& event);
  Step on_end(Pending& request, std::size_t size, Event& event);
  bool begins_reply(const Pending& request, const ReplyLine& line) const;

  const ServerFacts& server_;
  ConnectionLife& life_;
  RequestQueue& queue_;
  Answers& answers_;
  MetaInput& input_;
};

}  // namespace sheaf::protocol::memcached
