// A session of memcached's binary protocol with a server that may say anything.

#include "protocol/memcached/binary_session.h"
#include "tests/fuzz/memcached_drive.h"

namespace sheaf::fuzz {

using namespace protocol::memcached;

void run(std::string_view bytes) { play_memcached<BinarySession>(bytes); }

std::vector<std::string> seeds() {
  using protocol::Verb;
  const std::string version = encoded(TextReply{.opaque = 1, .text = "1.6.18"});
  const auto no_op = [](std::uint32_t opaque) {
    return encoded(PlainReply{.opcode = Opcode::no_op, .opaque = opaque});
  };
  const auto quiet = [](std::uint32_t opaque, std::string_view value) {
    return encoded(
        GetReply{.opcode = Opcode::get_quiet, .opaque = opaque, .cas = 7, .value = value});
  };
  const std::string gets =
      encoded(GetReply{.opaque = 3, .cas = 7, .value = "A\r\nEN O4\r\n"}) +
      encoded(GetReply{.status = StatusCode::key_not_found, .opaque = 4, .text = "Not found"});
  const std::string list =
      quiet(3, "B") + quiet(5, std::string(100, 'x')) + quiet(9, "") + no_op(10);
  const std::string writes =
      encoded(
          PlainReply{.status = StatusCode::value_too_large, .opaque = 3, .text = "Too large."}) +
      encoded(PlainReply{.opcode = Opcode::remove, .opaque = 4}) +
      encoded(ArithmeticReply{.opaque = 5, .cas = 3, .number = 12});
  const std::string stats = encoded(StatReply{.opaque = 3, .name = "pid", .value = "1"}) +
                            encoded(StatReply{.opaque = 3});

  const auto size = static_cast<std::uint8_t>(version.size());
  const Script ready = Script().take_output().feed(size).take_output().feed(24);
  const auto talk = [&](const Script& script, std::string_view answers) {
    return '\0' + script.with(version + no_op(2) + std::string(answers));
  };
  return {talk(Script(ready).submit(Verb::get).submit(Verb::get, 1).take_output(), gets),
          talk(Script(ready).submit(Verb::get_many, 6).take_output().feed(50).cancel(0), list),
          talk(Script(ready)
                   .submit(Verb::set, 2)
                   .submit(Verb::remove)
                   .submit(Verb::increment)
                   .take_output(),
               writes),
          talk(Script(ready)
                   .submit(Verb::stats)
                   .take_output()
                   .feed(52)
                   .pass_time(13)
                   .pass_time(13)
                   .take_output(),
               stats + no_op(4)),
          talk(Script(ready).submit(Verb::set, 3).take_output(200).cancel(0), ""),
          '\2' + Script(ready)
                     .submit(Verb::get)
                     .submit(Verb::get_many, 6)
                     .take_output()
                     .with(version + no_op(2) +
                           encoded(GetReply{.opaque = 3, .cas = 7, .value = std::string(60, 'x')}) +
                           quiet(5, std::string(60, 'x')) + no_op(11)),
          '\0' + Script().take_output().with("ERROR Too many open connections\r\n"),
          '\1' + Script().take_output().feed(size).take_output().with(
                     version + encoded(TextReply{.opcode = Opcode::sasl_auth, .opaque = 2}))};
}

}  // namespace sheaf::fuzz
