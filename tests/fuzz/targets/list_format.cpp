// How a list is stored: heads and segments. The parsers accept exactly what the writers write.

#include "client/list/format.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

using namespace client::list;

void run(std::string_view bytes) {
  Input input(bytes);
  const std::uint8_t kind = input.u8();
  const std::string text(input.rest());  // an exact copy: reading past it is detected
  if (kind < 2) {
    const auto head = parse_head(text, kind == 0 ? Ids::counted : Ids::drawn);
    if (!head) return expect(!head.error().empty(), "a refusal says why");
    expect(encode_head(*head) == text, "a head is written as it was read");
    expect(head->tail.size() <= segment_limit, "a tail is bounded");
    return;
  }
  const unsigned count = kind == 2 ? 0 : kind;
  const auto ids = parse_segment(text, count);
  if (!ids) return expect(!ids.error().empty(), "a refusal says why");
  expect(encode_segment(*ids) == text, "a segment is written as it was read");
  expect(!ids->empty() && ids->size() <= segment_limit, "a segment is bounded");
  expect(count == 0 || ids->size() == count, "a segment has what the head says");
}

std::vector<std::string> seeds() {
  Head head;
  head.revision = 7;
  head.next = 1'000;
  head.segments = {{5, 256}, {300, 3}};
  head.tail = {310, 312, 311};
  head.garbage = {{Garbage::Kind::item, 4}, {Garbage::Kind::tree, 2}};
  Head drawn = head;
  drawn.next = 0;
  drawn.tail = {last_id - 1, 17};
  return {std::string("\0", 1) + encode_head(Head{}), std::string("\0", 1) + encode_head(head),
          "\1" + encode_head(drawn), "\2" + encode_segment({1, 2, 3}),
          "\3" + encode_segment({900, 899, last_id - 1})};
}

}  // namespace sheaf::fuzz
