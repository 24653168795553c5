#pragma once

// A reply as one line of text, for tests: [1 "text" +status {key value}].

#include <cstdio>
#include <string>

#include "base/text.h"
#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

inline std::string reply_text(const Value& value);

inline std::string list_text(const Value& list, const char* open, const char* close) {
  std::string out = open;
  for (const Value item : list) {
    if (out.size() > std::char_traits<char>::length(open)) out += ' ';
    out += reply_text(item);
  }
  return out + close;
}

inline std::string reply_text(const Value& value) {
  constexpr std::size_t any = std::size_t{1} << 30;
  switch (value.type()) {
    case Type::null:
      return "null";
    case Type::status:
      return "+" + printable(value.text(), any);
    case Type::error:
      return "-" + printable(value.text(), any);
    case Type::number:
      return std::to_string(*value.number());
    case Type::text:
    case Type::verbatim:
      return "\"" + printable(value.text(), any) + "\"";
    case Type::real: {
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", *value.real());
      return text;
    }
    case Type::boolean:
      return *value.boolean() ? "true" : "false";
    case Type::big_number:
      return "(" + std::string(value.text());
    case Type::array:
      return list_text(value, "[", "]");
    case Type::map:
      return list_text(value, "{", "}");
    case Type::set:
      return list_text(value, "~[", "]");
    case Type::push:
      return list_text(value, ">[", "]");
    case Type::too_large:
      return "too large: " + std::to_string(value.element().value);
  }
  return {};
}

}  // namespace sheaf::protocol::resp
