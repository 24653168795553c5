#pragma once

// Negotiation: finds out which of memcached's two protocols a server speaks, by how its connections
// go. One per server, shared by its connections.
//
// Without a password meta is tried first. With one, a question comes first, on a connection that is
// thrown away: the server's version, asked in binary. A server that answers in binary takes SASL,
// one that answers in text takes `-Y`. So no password is shown to a server that takes it the other
// way.
//
// | next           | a connection made so                      | next           | whose fault |
// |----------------|-------------------------------------------|----------------|-------------|
// | question       | is answered in binary                     | binary         | nobody's    |
// | question       | is answered in text                       | meta           | nobody's    |
// | question       | ends without an answer                    | question       | the server's|
// | meta or binary | becomes ready: this way is proven         | the same       |             |
// | meta or binary | ends, though the server has understood it | the same       | the server's|
// | meta or binary | is not understood, there is a password    | question       | see below   |
// | meta           | is not understood, there is none          | binary         | see below   |
// | binary         | is not understood, there is none          | meta           | see below   |
//
// A connection that is not understood is nobody's fault if there is another way to try: if this way
// was proven before (the server has been replaced), or if the way before it was not a failure too.
// After two ways have failed it is the server's fault, and the first is tried again.
//
// Connections that were begun before the way changed say nothing new by their end; one that becomes
// ready shows the way.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>

#include "protocol/memcached/server_facts.h"
#include "protocol/session.h"

namespace sheaf::protocol::memcached {

// How a connection is begun.
enum class Way : std::uint8_t { meta, binary, question };

class Negotiation {
 public:
  explicit Negotiation(bool with_password) noexcept
      : with_password_(with_password), next_(first()) {}

  Way next() const noexcept { return next_; }
  // Whether there is a password from now on. A way that is proven stays.
  void expect_password(bool with_password) noexcept;
  // True if a connection of this way has been ready.
  bool proven() const noexcept { return proven_; }

  // What became of a connection that was begun in `way`.
  void on_answer(Dialect answered) noexcept;  // to the question; not unknown
  void on_ready(Way way) noexcept;
  // It has ended before it was ready. True if that is nobody's fault: the next one goes another
  // way.
  bool on_end(Way way, const CloseReason& reason, const ServerFacts& server) noexcept;

 private:
  Way first() const noexcept { return with_password_ ? Way::question : Way::meta; }
  Way after(Way way) const noexcept;

  bool with_password_;
  Way next_;
  bool proven_ = false;
  bool other_failed_ = false;  // the way before this one was not understood either
};

}  // namespace sheaf::protocol::memcached
