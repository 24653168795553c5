#pragma once

// MemcachedSession: what the sessions of memcached's two protocols have in common. The life of the
// connection is that of every session (session_base.h, connection_life.h).
//
// | state    | input                     | then                              | next     |
// |----------|---------------------------|-----------------------------------|----------|
// | greeting | version, log-in if needed | event ready                       | ready    |
// | greeting | anything else             |                                   | closed   |
// | ready    | submit()                  | the request                       | ready    |
// | ready    | reply to the oldest       | event reply, or dropped, counted  | ready    |
// | any      | any other reply           | events failed, closed             | closed   |
//
// A reply belongs to a request only if that is the oldest that owes one and the reply has its
// opaque. A cancelled request keeps its place until its reply has passed. Any contradiction ends
// the connection, and so does every error that means that client and server are out of step.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/memcached/answers.h"
#include "protocol/memcached/request_queue.h"
#include "protocol/memcached/server_facts.h"
#include "protocol/memcached/session_options.h"
#include "protocol/session_base.h"

namespace sheaf::protocol::memcached {

class MemcachedSession : public SessionBase<RequestQueue> {
 public:
  bool clean() const final { return ready() && requests().only_own(); }
  // A connection of memcached cannot log in again.
  bool renew_login(Now now) final;

  const ServerFacts& server() const noexcept { return server_; }
  Peer peer() const override;

 protected:
  explicit MemcachedSession(SessionOptions options);

  // ---- what each protocol adds
  // Called after the refusals that both protocols share.
  virtual std::expected<Ticket, LocalError> write_request(const Operation& operation, Now now) = 0;
  // Handles the next reply of the input.
  virtual Step next_reply(Event& event) = 0;

  // The server has the version after VERSION, and speaks the protocol of this session.
  void learn_version(std::string_view text) {
    server_ = {ServerVersion::parse(text), Dialect::this_one};
  }
  void learn_dialect(Dialect dialect) noexcept { server_.dialect = dialect; }

  const SessionOptions& options() const noexcept { return options_; }
  // Call at the start. Null: no login.
  const Login* take_login() noexcept { return login_.take(); }
  const Login* login() const noexcept { return login_.get(); }
  bool has_credentials() const noexcept { return login() != nullptr && !login()->user.empty(); }
  Answers& answers() noexcept { return answers_; }
  // Ends the connection because the server does not accept its login, or the lack of one.
  Step refuse_login(std::string text);

 private:
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now) final;
  Step next_step(Event& event) final;
  Step next_step_after_refusal(Event& event);
  std::size_t free_slots() const final;
  std::optional<LocalError> refusal_of(const Operation& operation) const;

  const SessionOptions options_;
  UsedLogin login_;
  ServerFacts server_;
  Answers answers_;
};

}  // namespace sheaf::protocol::memcached
