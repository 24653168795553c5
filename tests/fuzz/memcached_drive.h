#pragma once

// Drives a session of one of memcached's protocols with a server that may say anything.
//
// Thread rule: one thread.

#include "protocol/memcached/session.h"
#include "tests/fuzz/session_drive.h"
#include "tests/support/logins.h"

namespace sheaf::fuzz {

// The input begins with two flags: log in, and a value_limit that few bytes exceed. The drive reads
// the rest.
template <class Session>
void play_memcached(std::string_view bytes) {
  Input input(bytes);
  protocol::memcached::SessionOptions options;
  options.max_in_flight = 20;
  const std::uint8_t flags = input.u8();
  options.value_limit = (flags & 2) != 0 ? 50 : 20'000;
  const std::string_view played = input.rest();
  play_twice([&](std::size_t piece) {
    const auto slot = test::login_slot((flags & 1) != 0 ? "ann" : "", "");
    options.login = slot;
    Session session(options);
    SessionDrive drive(session, piece, slot);
    drive.play(played);
    expect(session.input_capacity() < 300'000, "the input buffer is bounded");
    return drive.transcript();
  });
}

}  // namespace sheaf::fuzz
