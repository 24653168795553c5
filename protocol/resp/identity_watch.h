#pragma once

// IdentityWatch: notices that the server behind a connection is no longer what it was in the
// greeting, although the connection continues. A server that becomes a replica does not say so: it
// refuses writes, and still answers reads, with values that get older. A server that is reset and
// put into another cluster answers with the values of that one.
//
// | state | input                          | then                                   | next  |
// |-------|--------------------------------|----------------------------------------|-------|
// | idle  | a request, 1 s after the last  | a question is queued before it         | asked |
// |       | question                       |                                        |       |
// | asked | the same role or ID            |                                        | idle  |
// | asked | replica; another ID            | a change                               | idle  |
// | asked | an error: a right is missing   |                                        | off   |
// | any   | READONLY in answer to a write  | a change                               | same  |
//
// The question is CLUSTER MYID in a cluster, where replicas redirect requests anyway. Elsewhere it
// is HELLO, if the server was a primary in the greeting. A connection for reads on a replica asks
// nothing.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <utility>

#include "base/clock.h"
#include "protocol/resp/changes/request_queue.h"
#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/greeting/session_options.h"
#include "protocol/resp/wire/command_writer.h"
#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

class IdentityWatch {
 public:
  // All outlive this object.
  IdentityWatch(const SessionOptions& options, const ServerFacts& server, RequestQueue& queue,
                OutputQueue& output) noexcept
      : options_(options), server_(server), queue_(queue), commands_(output) {}

  // A request is about to be queued. If it throws std::bad_alloc, nothing has changed.
  void before_request(Now now);
  // Handles the reply to the question. False if its type is wrong.
  bool on_reply(const Value& reply);
  void on_read_only() noexcept { changed_ = true; }
  // True once for each change.
  bool take_change() noexcept { return std::exchange(changed_, false); }

 private:
  enum class State : std::uint8_t { idle, asked, off };

  bool has_id() const noexcept { return server_.cluster && !server_.id.empty(); }
  bool has_role() const noexcept;

  const SessionOptions& options_;
  const ServerFacts& server_;
  RequestQueue& queue_;
  CommandWriter commands_;
  State state_ = State::idle;
  Deadline ask_at_{0};  // 0: no request yet
  bool changed_ = false;
};

}  // namespace sheaf::protocol::resp
