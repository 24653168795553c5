// A session of memcached's meta protocol with a server that may say anything.

#include "protocol/memcached/meta_session.h"
#include "tests/fuzz/memcached_drive.h"

namespace sheaf::fuzz {

using namespace protocol::memcached;

void run(std::string_view bytes) { play_memcached<MetaSession>(bytes); }

std::vector<std::string> seeds() {
  using protocol::Verb;
  const std::string greeting = "VERSION 1.6.18\r\n";
  const Script ready = Script().take_output().feed(16);
  const auto talk = [&](const Script& script, std::string_view answers) {
    return '\0' + script.with(greeting + std::string(answers));
  };
  return {
      talk(Script(ready).submit(Verb::get).submit(Verb::get, 1).take_output(),
           "VA 10 f0 c7 O2\r\nA\r\nEN O4\r\n\r\nEN O3\r\n"),
      talk(Script(ready)
               .submit(Verb::set, 2)
               .submit(Verb::remove)
               .submit(Verb::increment)
               .take_output(),
           "SERVER_ERROR object too large for cache\r\nHD O3\r\nVA 2 c3 O4\r\n12\r\n"),
      talk(Script(ready)
               .submit(Verb::lease, 2)
               .submit(Verb::touch, 2)
               .submit(Verb::get_and_touch, 2)
               .take_output(),
           "VA 0 W f0 c7 O2\r\n\r\nHD O3\r\nVA 1 X Z f0 c7 O4\r\nA\r\n"),
      talk(Script(ready)
               .submit(Verb::stats)
               .take_output()
               .feed(21)
               .pass_time(13)
               .pass_time(13)
               .take_output(),
           "STAT pid 1\r\nEND\r\nMN\r\nMN\r\n"),
      talk(Script(ready)
               .submit(Verb::append, 2)
               .submit(Verb::prepend, 4)
               .take_output(10)
               .cancel(0)
               .take_output(),
           "HD O2\r\nNS O3\r\n"),
      '\2' + Script(ready)
                 .submit(Verb::get)
                 .submit(Verb::get, 1)
                 .take_output()
                 .with(greeting + "VA 60 f0 c7 O2\r\n" + std::string(60, 'x') + "\r\nEN O3\r\n"),
      '\0' + Script().take_output().with("ERROR Too many open connections\r\n"),
      '\1' + Script().take_output().feed(30).take_output().feed(8).take_output().with(
                 "CLIENT_ERROR unauthenticated\r\nSTORED\r\n" + greeting)};
}

}  // namespace sheaf::fuzz
