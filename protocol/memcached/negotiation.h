#pragma once

// Negotiation: finds out which of memcached's two protocols a server speaks, from how its
// connections end. One per server, shared by its connections.
//
// Without a password meta is tried first. With a password a question comes first, on a connection
// that is used for nothing else: the server's version, asked in binary. A server that answers in
// binary uses SASL, one that answers in text uses `-Y`. So the password is never shown to a server
// that expects it in the other form.
//
// | next           | a connection made so                      | next           | whose fault |
// |----------------|-------------------------------------------|----------------|-------------|
// | question       | is answered in binary                     | binary         | no one's    |
// | question       | is answered in text                       | meta           | no one's    |
// | question       | ends without an answer                    | question       | the server's|
// | meta or binary | becomes ready: this way is proven         | the same       |             |
// | meta or binary | ends, though the server has understood it | the same       | the server's|
// |                | or is of another kind                     |                |             |
// | meta or binary | is not understood, there is a password    | question       | see below   |
// | meta           | is not understood, without a password     | binary         | see below   |
// | binary         | is not understood, without a password     | meta           | see below   |
//
// A connection that is not understood is no one's fault if there is another way to try: if this way
// was proven before (the server has been replaced), or if the previous way did not fail too. After
// both ways have failed it is the server's fault, and the first is tried again.
//
// The end of a connection that began before the way changed says nothing new; one that becomes
// ready decides the way.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string>

#include "protocol/memcached/server_facts.h"
#include "protocol/session.h"

namespace sheaf::protocol::memcached {

// How a connection begins.
enum class Way : std::uint8_t { meta, binary, question };

class Negotiation {
 public:
  explicit Negotiation(bool with_password) noexcept
      : with_password_(with_password), next_(first()) {}

  Way next() const noexcept { return next_; }
  // Says whether there is a password from now on. A proven way stays.
  void expect_password(bool with_password) noexcept;
  // True if a connection of this way has been ready.
  bool proven() const noexcept { return proven_; }

  // How a connection that began in `way` ended.
  void on_answer(Dialect answered) noexcept;  // to the question; not unknown
  void on_ready(Way way) noexcept;
  enum class End : std::uint8_t {
    meant,        // the server has understood, and refuses
    another_way,  // no one's fault: the next connection uses another way
    no_way        // both ways have failed; other_failure() is how the other one ended
  };
  // It ended before it was ready.
  End on_end(Way way, const CloseReason& reason, const ServerFacts& server);
  const std::string& other_failure() const noexcept { return other_failure_; }

 private:
  Way first() const noexcept { return with_password_ ? Way::question : Way::meta; }
  Way after(Way way) const noexcept;

  bool with_password_;
  Way next_;
  bool proven_ = false;
  bool other_failed_ = false;  // the previous way was not understood either
  std::string other_failure_;
};

}  // namespace sheaf::protocol::memcached
