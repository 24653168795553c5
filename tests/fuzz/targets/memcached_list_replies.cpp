// The answer to `gets` of many keys: VALUE lines and END, from a server that may say anything. Two
// lists and single gets are in flight; no key may get another key's value.

#include "protocol/memcached/meta_session.h"
#include "tests/fuzz/session_drive.h"

namespace sheaf::fuzz {
namespace {

// Asks for seven keys, one key and three keys. All requests have left when the server's bytes
// arrive.
std::string asked(std::string_view server) {
  using protocol::Verb;
  return Script()
      .take_output()
      .feed(16)
      .submit(Verb::get_many, 6)
      .submit(Verb::get)
      .submit(Verb::get_many, 2)
      .take_output()
      .with("VERSION 1.6.18\r\n" + std::string(server));
}

}  // namespace

void run(std::string_view bytes) {
  const std::string input = asked(bytes);
  protocol::memcached::SessionOptions options;
  options.value_limit = 100;
  play_twice([&](std::size_t piece) {
    protocol::memcached::MetaSession session(options);
    SessionDrive drive(session, piece);
    drive.play(input);
    return drive.transcript();
  });
}

std::vector<std::string> seeds() {
  const std::string first = "VA 1 f0 c7 O2\r\n1\r\n";  // k1 goes alone and proves the rest
  const std::string list = "VALUE k2 0 1 7\r\n2\r\nVALUE k5 0 10 8\r\n5\r\nEN O4\r\n\r\n";
  const std::string end = "END\r\n";
  const std::string single = "EN O3\r\n";
  return {
      first + list + end + single + "EN O4\r\nEND\r\n",
      "EN O2\r\n" + end + single + "EN O4\r\nVALUE k2 0 0 1\r\n\r\nVALUE k3 0 1 1\r\n3\r\nEND\r\n",
      first + "VALUE k3 0 200 7\r\n" + std::string(200, 'x') + "\r\nEND\r\n" + single,
      first + list + single,
      first + "VALUE k5 0 1 7\r\n5\r\nVALUE k2 0 1 7\r\n2\r\nEND\r\n",
      first + list + end + end + single,
      first + "SERVER_ERROR out of memory writing get response\r\n" + single};
}

}  // namespace sheaf::fuzz
