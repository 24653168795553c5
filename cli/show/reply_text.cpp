#include "cli/show/reply_text.h"

#include <array>
#include <charconv>

namespace sheaf::cli {
namespace {

std::string number_text(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

// Recursive: replies are not deep.
void append(const CommandReply& reply, std::string& out) {
  using Kind = CommandReply::Kind;
  switch (reply.kind()) {
    case Kind::null:
      return;
    case Kind::number:
      out += std::to_string(*reply.number());
      return;
    case Kind::real:
      out += number_text(*reply.real());
      return;
    case Kind::boolean:
      out += *reply.boolean() ? "(true)" : "(false)";
      return;
    case Kind::big_number:
    case Kind::text:
    case Kind::verbatim:
    case Kind::status:
      out += *reply.text();
      return;
    case Kind::error:
      out += *reply.error();
      return;
    case Kind::array:
    case Kind::set:
    case Kind::map:
      break;
  }
  bool first = true;
  for (const CommandReply value : reply) {
    if (!first) out += '\n';
    first = false;
    append(value, out);
  }
}

}  // namespace

std::string reply_text(const CommandReply& reply) {
  std::string out;
  append(reply, out);
  return out;
}

}  // namespace sheaf::cli
