// Replies of the Redis protocol, in pieces and whole, and what is read from their errors.

#include <algorithm>

#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/wire/reply_reader.h"
#include "protocol/resp/wire/server_error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/protocol/resp/reply_text.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::resp;
using Progress = ReplyReader::Progress;

constexpr ReplyLimits limits{
    .text = 300, .line = 200, .bytes = 2'000, .elements = 200, .depth = 6, .passed_over = 5'000};

// Checks that all nodes stay inside their tree and their bytes.
void check_tree(const Value& root, std::string_view bytes) {
  std::uint32_t elements = 1;
  for (const Value child : root) {
    expect(child.element().span >= 1, "an element covers itself");
    check_tree(child, bytes);
    elements += child.element().span;
  }
  expect(elements == root.element().span, "a span is that of what it contains");
  std::uint32_t children = 0;
  for (auto it = root.begin(); it != root.end(); ++it) ++children;
  expect(children == root.size(), "as many elements as announced");
  const std::string_view text = root.text();
  const bool inside = text.empty() || (text.data() >= bytes.data() &&
                                       text.data() + text.size() <= bytes.data() + bytes.size());
  expect(inside, "a text lies in the input");
}

void check_error(std::string_view text) {
  const std::string copy(text);  // an exact copy: reading past it is detected
  const ServerError error = ServerError::parse(copy);
  const bool leads_on = error.kind == ErrorKind::moved || error.kind == ErrorKind::ask;
  expect(leads_on == error.redirect.has_value(), "only MOVED and ASK lead on");
  if (!leads_on) return;
  expect(error.redirect->slot < 16'384 && error.redirect->port != 0, "to a slot and a port");
  expect(error.execution() == Execution::not_executed, "and nothing was executed");
}

// All replies as text, with the error that ends them. `piece` bytes arrive at a time.
std::string read_all(std::string_view bytes, std::size_t piece) {
  ReplyReader reader(limits);
  std::string out;
  std::size_t begin = 0;
  std::size_t come = 0;
  bool passes = false;
  std::size_t passed = 0;
  for (;;) {
    const std::string here(bytes.substr(begin, come - begin));
    const Progress progress = reader.read(here);
    if (progress == Progress::broken) return out + reader.fault().message();
    if (progress == Progress::need_input) {
      expect(here.size() < limits.bytes, "a reply above its limit is refused");
      if (come == bytes.size()) return out;
      come = std::min(come + piece, bytes.size());
      continue;
    }
    if (progress == Progress::pass_over) {
      passes = true;
      passed += reader.size();
      expect(reader.capacity() <= 4'096, "of what is passed over nothing is kept");
      expect(passed <= limits.passed_over + limits.bytes, "it has an end");
    }
    if (progress == Progress::complete) {
      expect(reader.root().is(Type::too_large) == passes, "it is reported when its end has come");
      expect(!passes || reader.root().element().value == passed + reader.size(), "all of it");
      passes = false;
      passed = 0;
      expect(reader.size() <= here.size(), "a reply has bytes of the input");
      const Value root = reader.root();
      check_tree(root, here);
      if (root.is_error()) check_error(root.text());
      ServerFacts facts = ServerFacts::of_hello(root);
      facts.add_info(root.text());
      const KeptReply kept = reader.keep();
      expect(reply_text(kept.root()) == reply_text(root), "a kept reply is the same");
      out += reply_text(root) + '\n';
    }
    begin += std::min(reader.size(), bytes.size() - begin);
    come = std::max(come, begin);
  }
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::size_t piece = 1 + input.u8();
  const std::string_view rest = input.rest();
  const std::string whole = read_all(rest, rest.size() + 1);
  expect(read_all(rest, 1) == whole, "single bytes give the same");
  expect(read_all(rest, piece) == whole, "and so do pieces");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* bytes :
       {"+OK\r\n",
        "-ERR unknown command\r\n",
        "-MOVED 12182 127.0.0.1:7000\r\n",
        "-ASK 1 ::1:7000\r\n-MOVED 1 ?:0\r\n",
        ":-42\r\n",
        "$5\r\nhello\r\n",
        "$-1\r\n*-1\r\n_\r\n",
        "$301\r\n",
        "*2\r\n:4\r\n$1\r\nm\r\n",
        "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n+proto\r\n:3\r\n",
        "~2\r\n#t\r\n,1.5e-7\r\n",
        "|1\r\n+ttl\r\n:3600\r\n(12345678901234567890\r\n",
        ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n+OK\r\n",
        "=15\r\ntxt:Some string\r\n!9\r\nERR wrong\r\n",
        "*1\r\n*1\r\n*1\r\n*0\r\n",
        ":+1\r\n,+1.5\r\n(+1\r\n",
        "*2\r\n$301\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n|1\r\n+a\r\n_\r\n+b\r\n:1\r\n",
        "*201\r\n:1\r\n",
        "%101\r\n+x\r\n"}) {
    all.push_back(std::string("\2") + bytes);
  }
  return all;
}

}  // namespace sheaf::fuzz
