#pragma once

// Strict JSON for configurations: it refuses a document that gives a field twice or nests values
// too deeply, and says where. Error texts name places and never quote values, which may be secrets.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sheaf {

struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, number, text, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::optional<std::uint64_t> whole{};  // set if the number is a non-negative integer
  std::string text{};                    // the text; for a number, how JSON writes it
  std::vector<JsonValue> elements{};
  std::vector<std::pair<std::string, JsonValue>> members{};  // in the order of the document

  bool is_text() const noexcept { return kind == Kind::text; }
  bool is_array() const noexcept { return kind == Kind::array; }
  bool is_object() const noexcept { return kind == Kind::object; }
  // Null if there is no such field.
  const JsonValue* find(std::string_view name) const noexcept;
};

inline constexpr std::size_t max_json_depth = 8;

// The error is one sentence: "line 1, column 5: this is not JSON", "a.b is given twice".
std::expected<JsonValue, std::string> parse_strict_json(std::string_view text);

// A field's place: "clusters.main" + "servers". A name that is not a plain word is quoted and
// escaped.
std::string json_field(const std::string& path, std::string_view name);
std::string json_element(const std::string& path, std::size_t index);

}  // namespace sheaf
