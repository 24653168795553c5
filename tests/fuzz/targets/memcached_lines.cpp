// Lines of memcached's meta protocol as a client reads them, and what else is read from its texts.

#include "protocol/memcached/meta_lines.h"
#include "protocol/memcached/rules.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::memcached;

void check_line(std::string_view line) {
  const auto reply = ReplyLine::parse(line);
  if (!reply) return;
  expect(reply->text.empty() || line.ends_with(reply->text), "a text is the rest of the line");
  expect(reply->code == ReplyLine::Code::value || reply->size == 0, "only VA has a value");
}

void check_listed(std::string_view text) {
  const auto head = ListedHead::parse(text);
  if (!head) return;
  expect(!head->key.empty() && text.starts_with(head->key), "a listed value has a key");
  const std::string again = std::string(head->key) + ' ' + std::to_string(head->flags) + ' ' +
                            std::to_string(head->size) + ' ' + std::to_string(head->cas);
  const auto back = ListedHead::parse(again);
  expect(back && back->key == head->key && back->size == head->size && back->cas == head->cas,
         "the same text parses to the same");
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::uint8_t kind = input.u8();
  const std::string text(input.rest());  // an exact copy: reading past it is detected
  switch (kind) {
    case 0:
      return check_line(text);
    case 1:
      return check_listed(text);
    case 2: {
      const auto cas = parse_cas(text);
      return expect(!cas || *cas != 0, "0 is no version");
    }
    case 3:
      static_cast<void>(protocol::ServerVersion::parse(text));
      return;
    default:
      expect(!is_listable_key(text) || (is_plain_key(text) && !check_meta_key(text)),
             "a listed key may stand in a line");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* line : {"HD",
                           "HD c7 O2",
                           "VA 10 f0 c7 O2",
                           "VA 2 W c3 O7",
                           "VA 2 X Z O7",
                           "EN O4",
                           "EN",
                           "NF O1",
                           "NS O1",
                           "EX O1",
                           "MN",
                           "ME key exp=-1 la=3 cas=2 fetch=no cls=1 size=63",
                           "VERSION 1.6.18",
                           "STAT pid 1",
                           "END",
                           "STORED",
                           "ERROR",
                           "CLIENT_ERROR bad data chunk",
                           "SERVER_ERROR object too large for cache",
                           "VA 4294967296 f4294967295 O99999999999"}) {
    all.push_back(std::string("\0", 1) + line);
  }
  for (const char* head : {"key 0 5 7", "key 4294967295 1073741824 18446744073709551615"}) {
    all.push_back(std::string("\1") + head);
  }
  for (const char* text : {"\2"
                           "18446744073709551615",
                           "\3"
                           "1.4.5_4_gaa7839e",
                           "\4"
                           "key",
                           "\4"
                           "a b"}) {
    all.emplace_back(text);
  }
  return all;
}

}  // namespace sheaf::fuzz
