#pragma once

// RequestWriter: turns an operation into the commands of a frame, and gives it a place among the
// requests.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <initializer_list>
#include <span>
#include <string_view>

#include "protocol/resp/changes/changes.h"
#include "protocol/resp/changes/request_queue.h"
#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/greeting/session_options.h"
#include "protocol/resp/mget_use.h"
#include "protocol/resp/tracking.h"
#include "protocol/resp/wire/command_writer.h"

namespace sheaf::protocol::resp {

class RequestWriter {
 public:
  // All outlive this object.
  RequestWriter(const SessionOptions& options, const ServerFacts& server, RequestQueue& queue,
                OutputQueue& output, Changes& changes, Tracking& tracking, const MgetUse& mget,
                const MsetUse& mset) noexcept
      : options_(options),
        server_(server),
        queue_(queue),
        commands_(output),
        changes_(changes),
        tracking_(tracking),
        mget_(mget),
        mset_(mset) {}

  // Queues the request, or refuses it. If it throws std::bad_alloc, nothing has changed.
  std::expected<Ticket, LocalError> write(const Operation& operation);
  // Writes a PING of the session's own, without a ticket.
  OutputQueue::FrameId write_no_op();

 private:
  Pending& write_one(Question question, const Operation& operation, Command command);
  Pending& write_one(Question question, const Operation& operation,
                     std::initializer_list<Argument> command) {
    return write_one(question, operation, Command(command.begin(), command.size()));
  }
  Pending& write_set(const Operation& operation);
  Pending& write_touch(const Operation& operation);
  Pending& write_getex(Question question, const Operation& operation);
  Pending& write_stats(const Operation& operation);
  Pending& write_words(const Operation& operation);
  Pending& write_commands(const Operation& operation);
  Pending& write_many(const Operation& operation);
  Pending& write_set_many(const Operation& operation);
  Pending& write_watch(const Operation& operation);
  Pending& add(Question question, OutputQueue::FrameId frame, bool with_ticket = true) noexcept;

  const SessionOptions& options_;
  const ServerFacts& server_;
  RequestQueue& queue_;
  CommandWriter commands_;
  Changes& changes_;
  Tracking& tracking_;
  const MgetUse& mget_;
  const MsetUse& mset_;
};

}  // namespace sheaf::protocol::resp
