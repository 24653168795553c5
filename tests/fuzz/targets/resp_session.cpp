// A session of the Redis protocol with a server that may say anything.

#include "protocol/resp/changes/value_version.h"
#include "protocol/resp/session.h"
#include "tests/fuzz/session_drive.h"
#include "tests/support/logins.h"

namespace sheaf::fuzz {

using namespace protocol::resp;

// Changes by version expect the value "v".
class RespDrive final : public SessionDrive {
 public:
  using SessionDrive::SessionDrive;

 private:
  std::string_view version() const override { return version_.text(); }
  const ValueVersion version_ = ValueVersion::of("v");
};

// The input begins with two flags: log in, and a value_limit that few bytes exceed. The drive reads
// the rest.
void run(std::string_view bytes) {
  Input input(bytes);
  SessionOptions options;
  options.max_in_flight = 20;
  const std::uint8_t flags = input.u8();
  options.value_limit = (flags & 2) != 0 ? 50 : 20'000;
  const std::string_view played = input.rest();
  play_twice([&](std::size_t piece) {
    const auto slot = test::login_slot("", (flags & 1) != 0 ? "secret" : "");
    options.handshake.login = slot;
    RespSession session(options);
    RespDrive drive(session, piece, slot);
    drive.play(played);
    expect(session.input_capacity() < 2'500'000, "the input buffer is bounded");
    expect(session.reply_capacity() <= 8'192, "and so is the tree of a reply");
    return drive.transcript();
  });
}

// Garnet makes changes by transactions.
std::string transaction_seed() {
  using protocol::Verb;
  const std::string garnet = "%2\r\n+garnet_version\r\n+2.2.5\r\n+proto\r\n:3\r\n";
  const std::string last = "+OK\r\n+OK\r\n+PONG\r\n";
  return '\0' + Script()
                    .take_output()
                    .feed(static_cast<std::uint8_t>(garnet.size()))
                    .take_output()
                    .feed(static_cast<std::uint8_t>(last.size()))
                    .submit(Verb::append, 1)
                    .submit(Verb::set, 12)
                    .submit(Verb::get)
                    .take_output()
                    .feed(17)
                    .take_output()
                    .feed(26)
                    .take_output()
                    .with(garnet + last + "+OK\r\n$1\r\nv\r\n_\r\n" +
                          "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n" + "+OK\r\n_\r\n+OK\r\n");
}

// A Valkey that can compare. A value that is not equal is read again.
std::string comparison_seed() {
  using protocol::Verb;
  const std::string valkey = "%3\r\n+server\r\n+valkey\r\n+version\r\n+9.1.2\r\n+proto\r\n:3\r\n";
  const std::string last = "+OK\r\n+OK\r\n+PONG\r\n";
  return '\0' + Script()
                    .take_output()
                    .feed(static_cast<std::uint8_t>(valkey.size()))
                    .take_output()
                    .feed(static_cast<std::uint8_t>(last.size()))
                    .submit(Verb::set, 12)
                    .submit(Verb::remove, 4)
                    .take_output()
                    .feed(11)
                    .take_output()
                    .feed(6)
                    .take_output()
                    .with(valkey + last + "$1\r\nv\r\n:0\r\n" + "_\r\n_\r\n" + "$1\r\nw\r\n");
}

// The greeting.
Script greeted(const std::string& hello, const std::string& last) {
  return Script()
      .take_output()
      .feed(static_cast<std::uint8_t>(hello.size()))
      .take_output()
      .feed(static_cast<std::uint8_t>(last.size()));
}

std::vector<std::string> seeds() {
  using protocol::Verb;
  const std::string hello = "%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n";
  const std::string last = "+OK\r\n+OK\r\n+PONG\r\n";
  const Script ready = greeted(hello, last);
  const auto talk = [&](const Script& script, std::string_view answers) {
    return '\0' + script.with(hello + last + std::string(answers));
  };
  const std::string old = "-ERR unknown command\r\n";
  const std::string info = "$20\r\nredis_version:6.0.1\n\r\n$0\r\n\r\n";
  return {
      talk(Script(ready).submit(Verb::get).submit(Verb::set, 1).submit(Verb::remove).take_output(),
           "$1\r\nv\r\n+OK\r\n:0\r\n"),
      talk(Script(ready).submit(Verb::set_many, 6).submit(Verb::get).take_output(), "+OK\r\n_\r\n"),
      talk(Script(ready).submit(Verb::get_many, 6).submit(Verb::get).take_output(),
           "_\r\n$1\r\n1\r\n-MOVED 4576 a:1\r\n$-1\r\n_\r\n_\r\n$1\r\n7\r\n_\r\n"),
      talk(Script(ready).submit(Verb::command, 2).submit(Verb::command, 1).take_output(),
           "_\r\n-ERR no\r\n*1\r\n:1\r\n+OK\r\n"),
      talk(Script(ready).submit(Verb::get, 6).submit(Verb::get).take_output(),
           "+OK\r\n$1\r\nv\r\n+PONG\r\n_\r\n"),
      talk(Script(ready).submit(Verb::get_and_set).submit(Verb::get_and_set, 4).take_output(),
           "$1\r\nv\r\n_\r\n"),
      talk(Script(ready).submit(Verb::set, 3).take_output(30).cancel(0).take_output(), "+OK\r\n"),
      talk(Script(ready).submit(Verb::touch, 2).submit(Verb::get_and_touch, 2).take_output(),
           ":1\r\n-CLUSTERDOWN Hash slot not served\r\n"),
      talk(Script(ready)
               .submit(Verb::stats)
               .submit(Verb::server_version)
               .take_output()
               .pass_time(13)
               .pass_time(13)
               .take_output(),
           "=9\r\ntxt:a:1\n\n\r\n>1\r\n+x\r\n+PONG\r\n+PONG\r\n"),
      talk(Script(ready)
               .submit(Verb::set, 12)
               .submit(Verb::remove, 4)
               .submit(Verb::increment)
               .take_output()
               .feed(18)
               .take_output(),
           "$1\r\nv\r\n_\r\n$1\r\n8\r\n:1\r\n"),
      transaction_seed(),
      comparison_seed(),
      talk(Script(ready).submit(Verb::watch).take_output().submit(Verb::unwatch).take_output(),
           "+OK\r\n:0\r\n>2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n+PONG\r\n"),
      talk(Script(ready).submit(Verb::get).submit(Verb::get).take_output(),
           "-NOAUTH Authentication required.\r\n"),
      '\2' + Script(ready).submit(Verb::get).submit(Verb::get).take_output().with(
                 hello + last + "$60\r\n" + std::string(60, 'x') + "\r\n$2000000\r\n"),
      '\1' + Script().take_output().feed(5).take_output().with("+OK\r\n" + hello),
      talk(Script(ready)
               .submit(Verb::get)
               .renew(2)
               .renew(3)
               .submit(Verb::get)
               .take_output()
               .feed(12)
               .take_output(),
           "$1\r\nv\r\n+OK\r\n_\r\n+OK\r\n"),
      '\1' + Script().renew(3).take_output().with("-WRONGPASS no\r\n"),
      '\0' + Script()
                 .take_output()
                 .feed(static_cast<std::uint8_t>(old.size()))
                 .take_output()
                 .feed(static_cast<std::uint8_t>(info.size()))
                 .take_output()
                 .with(old + info + last)};
}

}  // namespace sheaf::fuzz
