// Pure: no socket, clock, entropy, thread or callback.

#include "base/strict_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"

namespace sheaf {
namespace {

using Json = nlohmann::json;
using Kind = JsonValue::Kind;

constexpr std::size_t longest_word = 64;

bool is_word(std::string_view name) noexcept {
  constexpr auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= longest_word && std::ranges::all_of(name, fits);
}

// Receives the parser's events, builds the document and stops at the first fault. It never shows
// the JSON library's error texts, because they quote the document.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  std::string& fault() noexcept { return fault_; }
  JsonValue& document() noexcept { return document_; }

  bool null() { return value({}); }
  bool boolean(bool given) { return value({.kind = Kind::boolean, .boolean = given}); }
  bool number_integer(Json::number_integer_t given) {
    return value({.kind = Kind::number, .text = std::to_string(given)});
  }
  bool number_unsigned(Json::number_unsigned_t given) {
    return value({.kind = Kind::number, .whole = given, .text = std::to_string(given)});
  }
  bool number_float(Json::number_float_t given, const std::string&) {
    return value({.kind = Kind::number, .text = Json(given).dump()});
  }
  bool string(std::string& given) { return value({.kind = Kind::text, .text = std::move(given)}); }
  bool binary(Json::binary_t&) { return value({}); }  // not in JSON texts
  bool start_object(std::size_t) { return open(Kind::object); }
  bool start_array(std::size_t) { return open(Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    level.place = json_field(levels_.size() > 1 ? place(levels_.size() - 2) : std::string{}, name);
    if (!level.names.insert(name).second) return fail(level.place + " is given twice");
    level.value.members.emplace_back(std::move(name), JsonValue{});
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const auto lines = std::ranges::count(before, '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    return fail("line " + std::to_string(lines + 1) + ", column " +
                std::to_string(before.size() - line_start + 1) + ": this is not JSON");
  }

 private:
  struct Level {
    JsonValue value;
    std::string place;  // for an object: the place of its current field
    std::unordered_set<std::string> names;
  };

  // The place of the value that is being read at this level.
  std::string place(std::size_t depth) const {
    const Level& level = levels_[depth];
    if (level.value.is_object()) return level.place;
    return json_element(depth == 0 ? std::string{} : place(depth - 1), level.value.elements.size());
  }
  bool open(Kind kind) {
    if (levels_.size() == max_json_depth) {
      return fail(place(levels_.size() - 1) + " is nested deeper than " +
                  std::to_string(max_json_depth) + " levels");
    }
    levels_.push_back({{.kind = kind}, {}, {}});
    return true;
  }
  bool close() {
    JsonValue whole = std::move(levels_.back().value);
    levels_.pop_back();
    return value(std::move(whole));
  }
  bool value(JsonValue given) {
    if (levels_.empty()) {
      document_ = std::move(given);
    } else if (JsonValue& outer = levels_.back().value; outer.is_array()) {
      outer.elements.push_back(std::move(given));
    } else {
      outer.members.back().second = std::move(given);
    }
    return true;
  }
  bool fail(std::string text) {
    fault_ = std::move(text);
    return false;
  }

  std::string_view text_;
  std::string fault_;
  JsonValue document_;
  std::vector<Level> levels_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const noexcept {
  for (const auto& [own, value] : members) {
    if (own == name) return &value;
  }
  return nullptr;
}

std::expected<JsonValue, std::string> parse_strict_json(std::string_view text) {
  Reader reader(text);
  if (!Json::sax_parse(text, &reader)) return std::unexpected(std::move(reader.fault()));
  return std::move(reader.document());
}

std::string json_field(const std::string& path, std::string_view name) {
  std::string own = is_word(name) ? std::string(name) : "\"" + printable(name) + "\"";
  return path.empty() ? own : path + "." + own;
}

std::string json_element(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace sheaf
