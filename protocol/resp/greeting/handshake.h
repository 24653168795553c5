#pragma once

// Handshake: makes a connection of the Redis protocol ready, in a few round trips: log in, choose
// the protocol, learn what the server is, and prove that it serves this login.
//
// | state    | sends                         | replies                               | next     |
// |----------|-------------------------------|---------------------------------------|----------|
// | login    | AUTH, nothing with it         | OK                                    | greeting |
// |          |                               | an error                              | failed   |
// | greeting | HELLO 3                       | a map, or an array of pairs           | last     |
// |          |                               | an error: RESP2                       | asking   |
// | asking   | INFO server, INFO replication | texts, or errors: facts stay unknown  | last     |
// | last     | CLIENT SETINFO name, version  | any: older servers do not know it     |          |
// |          | CLUSTER MYID, in a cluster    | its ID, or an error: stays unknown    |          |
// |          | READONLY, if requested        | OK, or no cluster; else failed        |          |
// |          | PING                          | PONG, or an error                     | ready    |
// |          |                               | the same, from a stranger             | failed   |
// | not      |                               | an error that turns the client away:  | failed   |
// | login    |                               | about the login, no data, the end     |          |
//
// An error proves that the server is alive, and says nothing about other commands: a server whose
// disk is full answers PING by MISCONF and serves reads. READONLY is the exception, because without
// it every read on the connection would be redirected.
//
// Without a login the connection begins with greeting. AUTH is sent alone, so that nothing runs
// under another user: a failed AUTH leaves the connection with its previous rights, or logs it out.
// A stranger (known_servers.h) has the address of a server of the cluster, but is not one.
//
// HELLO proves no login, because Garnet answers it before one; PING does, and also shows that the
// server is not loading its data.
//
// A reply of another type than these breaks the protocol: failed.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/known_servers.h"
#include "protocol/login.h"
#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/wire/command_writer.h"
#include "protocol/resp/wire/server_error.h"
#include "protocol/session.h"

namespace sheaf::protocol::resp {

struct HandshakeOptions {
  SharedLoginSlot login{};                      // with a password but no user: the default user
  bool readonly = false;                        // reads on a replica, without redirects
  std::shared_ptr<const KnownServers> known{};  // null: no server is a stranger
};

// Writes AUTH with this login. If it throws std::bad_alloc, nothing has changed.
OutputQueue::FrameId write_auth(CommandWriter& writer, const Login& login);

// Why a connection must end after this error refused its login, or a command sent with it. The text
// never contains the login's secrets, even if the server repeats them.
CloseReason refusal_of(std::string_view command, const ServerError& error, const Login* login);

class Handshake {
 public:
  enum class State : std::uint8_t { login, greeting, asking, last, ready, failed };

  // `options` outlive this object.
  explicit Handshake(const HandshakeOptions& options) noexcept;

  // Takes the current login. Call once, before write().
  void begin() noexcept;

  // Writes what must be sent now, if anything. Call it at the start and after each reply. If it
  // throws std::bad_alloc, the connection is useless.
  void write(CommandWriter& writer);
  // Handles the next reply in order, but no pushes. Call only while replies are owed.
  void on_reply(const Value& reply);

  State state() const noexcept { return state_; }
  std::uint32_t owed() const noexcept { return owed_; }
  // The frame of the command whose reply is next. Each command has a frame; their ids are
  // consecutive.
  OutputQueue::FrameId due_frame() const noexcept { return last_frame_ + 1 - owed_; }
  const ServerFacts& server() const noexcept { return server_; }
  UsedLogin& login() noexcept { return login_; }
  // Only after `failed`.
  const CloseReason& failure() const noexcept { return failure_; }

 private:
  enum class Question : std::uint8_t { set_info, my_id, readonly, ping };

  void enter(State state) noexcept;
  void on_login(const Value& reply);
  void on_greeting(const Value& reply);
  void on_info(const Value& reply);
  void on_last(const Value& reply);
  Question question() const noexcept;
  void on_pong();
  void fail(std::string_view command, const Value& reply);

  const HandshakeOptions& options_;
  UsedLogin login_;
  State state_ = State::greeting;
  bool written_ = false;                 // the commands of this state
  std::uint32_t owed_ = 0;               // replies to them
  OutputQueue::FrameId last_frame_ = 0;  // the last of these commands
  ServerFacts server_;
  CloseReason failure_;
};

}  // namespace sheaf::protocol::resp
