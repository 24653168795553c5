// The command line of `sheaf`. CLI11 throws inside; nothing may come out of it.

#include "cli/line/arguments.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

// Words are separated by line ends. The parser is the same for all inputs.
void run(std::string_view bytes) {
  std::vector<std::string> words;
  while (!bytes.empty() && words.size() < 64) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    words.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  static cli::ArgumentParser parser;
  const auto parsed = parser.parse(words);
  if (!parsed) return expect(!parsed.error().text.empty(), "an early exit says something");
  using cli::Command;
  const auto& keys = parsed->keys;
  switch (parsed->command) {
    case Command::get:
    case Command::set:
    case Command::incr:
    case Command::touch:
      return expect(keys.size() == 1, "a command for one key has one");
    case Command::del:
      expect(keys.empty() == parsed->from_stdin, "keys come from the line or from the input");
      if (parsed->if_value || parsed->if_version || !parsed->fence.empty())
        expect(keys.size() == 1, "a condition is for one key");
      return;
    case Command::lock:
      return expect(!parsed->lock.words.empty(), "lock has a command to run");
    case Command::bench:
      return expect(parsed->bench.callers >= 1 && parsed->bench.callers <= 256, "bench is bounded");
    case Command::migrate:
      return expect(!parsed->migrate.from.empty() && !parsed->migrate.to.empty() &&
                        !parsed->migrate.state.empty(),
                    "migrate has servers and a file");
    case Command::dev:
      return expect(parsed->dev.servers >= 1 && parsed->dev.servers <= 64, "dev is bounded");
    default:
      return;
  }
}

std::vector<std::string> seeds() {
  return {"--servers\nmqtt://b1,b2\nget\nkey",
          "set\nkey\nvalue\n--ttl\n5m\n--if-absent\n--json",
          "set\nkey\n-\n--if-absent-or-equal\n--fence\n1:2:n",
          "del\n--if-value\nold\nkey\n--timeout\n250ms",
          "mget\na\nb\nc\n--json",
          "mset\n-",
          "incr\nkey\n-5\n--initial\n7",
          "touch\nkey\n--ttl\n1s",
          "list\npush\nname\nitem",
          "list\nrange\nname\n0\n-1",
          "lock\nname\n--lease\n10s\n--wait\n0ms\n--\necho\nhi",
          "locate\na\nb",
          "ring\n--keys\n100",
          "nodes\n--config\nfile\n--cluster\nmain",
          "stats\nitems",
          "watch\na\nb",
          "top\n--interval\n500ms\n--count\n3",
          "bench\n--callers\n8\n--time\n3s\n--rate\n1000\n--batch\n10",
          "migrate\n--from\nmemcached://a\n--to\nmemcached://b\n--state\nfile\n--until\ndrain",
          "dev\n--brokers\n3\n--spelling\npage",
          "--help",
          "get\n--help",
          "--version",
          "get\n--\n--help"};
}

}  // namespace sheaf::fuzz
