// A server's table of commands, the keys of commands according to it, and replies as users see
// them.

#include <algorithm>

#include "protocol/resp/changes/command_rules.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/wire/command_reply.h"
#include "tests/fuzz/fuzz.h"
#include "tests/protocol/resp/live_commands.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::resp;

std::size_t count(const CommandReply& reply, unsigned depth) {
  expect(depth < 64, "a reply is not deep");
  std::size_t values = 1;
  for (const CommandReply value : reply) values += count(value, depth + 1);
  return values;
}

}  // namespace

// The input is an answer to COMMAND, then commands of up to 15 words.
void run(std::string_view bytes) {
  Input input(bytes);
  const std::uint16_t size = static_cast<std::uint16_t>(input.u8() << 8 | input.u8());
  const std::string answer(input.text(size));
  if (const auto reply = read_command_reply(answer)) {
    expect(count(*reply, 0) <= answer.size(), "a value has bytes");
  }
  CommandTable table;
  protocol::Reply reply;
  reply.value = answer;
  expect(table.on_reply(reply).has_value() == table.known(), "an answer is of use or not");
  while (!input.done() && table.known()) {
    std::vector<std::string> texts;
    for (unsigned left = 1 + input.u8() % 15; left > 0; --left) {
      texts.emplace_back(input.text(input.u8() % 16));
    }
    const std::vector<std::string_view> words(texts.begin(), texts.end());
    protocol::CommandUse use;
    if (table.find(words, use)) continue;
    expect(use.keys.size() <= most_words, "keys are bounded");
    for (const std::string_view key : use.keys) {
      const bool inside = std::any_of(words.begin() + 1, words.end(), [&](std::string_view word) {
        return word.data() == key.data() && word.size() == key.size();
      });
      expect(inside, "a key is an argument");
    }
  }
}

std::vector<std::string> seeds() {
  const auto answer = [](std::string_view bytes) {
    const std::string head = {static_cast<char>(bytes.size() >> 8),
                              static_cast<char>(bytes.size() & 0xff)};
    return head + std::string(bytes);
  };
  const auto command = [](const std::vector<std::string_view>& words) {
    std::string text(1, static_cast<char>(words.size() - 1));
    for (const std::string_view word : words) {
      text.append(1, static_cast<char>(word.size())).append(word);
    }
    return text;
  };
  const std::string commands = command({"GET", "k"}) + command({"MSET", "a", "1", "b", "2"}) +
                               command({"EVAL", "x", "2", "a", "b"}) +
                               command({"XREAD", "STREAMS", "a", "0"}) +
                               command({"MIGRATE", "h", "1", "", "0", "9", "KEYS", "a", "b"}) +
                               command({"OBJECT", "FREQ", "k"});
  return {answer(live::redis_commands) + commands, answer(live::redis_commands_resp3) + commands,
          answer(live::garnet_commands) + commands,
          answer("*2\r\n%1\r\n:1\r\n(12\r\n~2\r\n#t\r\n,1.5\r\n")};
}

}  // namespace sheaf::fuzz
