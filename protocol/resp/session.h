#pragma once

// RespSession: the client's end of one connection in the Redis protocol, RESP2 or RESP3, whichever
// the server speaks. The life of the connection is that of every session (session_base.h,
// connection_life.h).
//
// | state    | input                           | then                             | next     |
// |----------|---------------------------------|----------------------------------|----------|
// | greeting | replies to the handshake        | its next commands                | greeting |
// | greeting | the last of them (handshake.h)  | event ready                      | ready    |
// | greeting | a reply that fails it           |                                  | closed   |
// | ready    | submit()                        | the request (request_writer.h)   | ready    |
// | ready    | another login                   | AUTH (renewal.h)                 | ready    |
// | ready    | a reply (answers.h)             | an event, or it is dropped       | ready    |
// | ready    | another server, or another role | event outdated                   | ready    |
// |          | (identity_watch.h)              |                                  |          |
// | ready    | a push about keys (tracking.h)  | events notification              | ready    |
// | any      | any other push                  | it is dropped and counted        | the same |
// | ready    | a reply above a limit, where    | it is skipped; then a reply      | ready    |
// |          | allowed (answers.h)             |                                  |          |
// | any      | no RESP, a reply of another     | events failed, closed            | closed   |
// |          | type, or one to no request      |                                  |          |
//
// Real servers sometimes send bytes that are not RESP, and then continue as if nothing had
// happened. Nothing after such bytes is reliable, so the first of them end the connection.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <expected>

#include "protocol/resp/answers.h"
#include "protocol/resp/greeting/handshake.h"
#include "protocol/resp/identity_watch.h"
#include "protocol/resp/mget_use.h"
#include "protocol/resp/renewal.h"
#include "protocol/resp/request_writer.h"
#include "protocol/resp/tracking.h"
#include "protocol/resp/wire/reply_reader.h"
#include "protocol/session_base.h"

namespace sheaf::protocol::resp {

class RespSession final : public SessionBase<RequestQueue> {
 public:
  explicit RespSession(SessionOptions options);

  bool clean() const override { return ready() && requests().only_own(); }
  bool renew_login(Now now) override;
  Peer peer() const override;

  const ServerFacts& server() const noexcept { return handshake_.server(); }
  // Capacity for elements of replies, for tests of bounds.
  std::size_t reply_capacity() const noexcept { return reader_.capacity(); }

 private:
  void greet() override {
    handshake_.begin();
    handshake_.write(commands_);
  }
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now) override {
    identity_.before_request(now);
    return writer_.write(operation);
  }
  OutputQueue::FrameId write_no_op() override { return writer_.write_no_op(); }
  void before_output() override;
  std::size_t free_slots() const override;
  Step next_step(Event& event) override;
  Step on_reply(Event& event);
  Step on_push(const Value& push);
  Step on_greeting(const Value& reply, Event& event);
  Step pass_over();

  const SessionOptions options_;
  ReplyReader reader_;
  CommandWriter commands_;
  Handshake handshake_;
  Changes changes_;
  Tracking tracking_;
  MgetUse mget_;
  MsetUse mset_;
  RequestWriter writer_;
  Renewal renewal_;
  IdentityWatch identity_;
  Answers answers_;
};

}  // namespace sheaf::protocol::resp
