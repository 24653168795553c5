#pragma once

/// @file
/// Typed values as JSON. Link `sheaf::json`; this is the one header that names nlohmann/json.
///
/// A type is read and written by nlohmann's `from_json` and `to_json` (or its macros). Nothing here
/// throws, whatever those functions throw.
///
/// Thread rule: as Client, free functions without state.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sheaf/client.h>

namespace sheaf {
inline namespace v0 {

/// Deepest nesting of a JSON value that is read. Deeper ones are refused: they could use up the
/// stack of the thread that copies them.
inline constexpr std::size_t json_max_depth = 256;

/// Internals of this header; not part of the interface.
namespace json_detail {

/// A failed Result without node and time.
inline Failure failure(Outcome outcome, Reason reason, std::string text) {
  return Failure({outcome, reason, {}, {}, std::move(text)});
}

/// The key in quotes, cut after 64 bytes, everything but printable ASCII as \xNN.
inline std::string quoted(std::string_view key) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::size_t limit = 64;
  std::string out = "\"";
  for (const char c : key.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7E) {
      out.push_back(c);
    } else {
      out.append({'\\', 'x', digits[byte >> 4U], digits[byte & 15U]});
    }
  }
  return out.append(key.size() > limit ? "...\"" : "\"");
}

/// Whether no bracket outside a string opens a level below json_max_depth.
inline bool shallow(std::string_view text) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > json_max_depth) return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

/// The value of a key as a T. The texts name the key and never the value; texts of the JSON library
/// are left out because they quote it.
template <class T>
Result<T> decode(std::string_view key, std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    return failure(Outcome::invalid, Reason::other, "the value of " + quoted(key) + " " + what);
  };
  try {
    if (!shallow(text)) {
      return wrong("is JSON of more than " + std::to_string(json_max_depth) + " levels");
    }
    auto document = nlohmann::json::parse(text, nullptr, false);
    if (document.is_discarded()) return wrong("is not JSON");
    if constexpr (std::is_same_v<T, nlohmann::json>) {
      return Result<T>(std::move(document));
    } else {
      return Result<T>(document.get<T>());
    }
  } catch (const std::bad_alloc&) {
    return failure(Outcome::overloaded, Reason::out_of_memory, "out of memory");
  } catch (const nlohmann::json::exception& thrown) {
    return wrong("does not fit the wanted type (json exception " + std::to_string(thrown.id) + ")");
  } catch (...) {
    return wrong("does not fit the wanted type");
  }
}

/// A value as JSON text in one line.
template <class T>
Result<std::string> encode(std::string_view key, const T& value) {
  const auto wrong = [&](const std::string& what) {
    return failure(Outcome::invalid, Reason::bad_argument,
                   "the value for " + quoted(key) + " cannot be written as JSON" + what);
  };
  try {
    if constexpr (std::is_same_v<T, nlohmann::json>) {
      return Result<std::string>(value.dump());
    } else {
      return Result<std::string>(nlohmann::json(value).dump());
    }
  } catch (const std::bad_alloc&) {
    return failure(Outcome::overloaded, Reason::out_of_memory, "out of memory");
  } catch (const nlohmann::json::exception& thrown) {
    return wrong(" (json exception " + std::to_string(thrown.id) + ")");
  } catch (...) {
    return wrong("");
  }
}

/// What a get found, its value decoded.
template <class T>
Result<std::optional<T>> decode_result(std::string_view key, Result<GetResult> got) {
  if (!got) return Failure(std::move(got.error()));
  if (!*got) return Result<std::optional<T>>(std::optional<T>());
  auto value = decode<T>(key, (*got)->data);
  if (!value) return Failure(std::move(value.error()));
  return Result<std::optional<T>>(std::optional<T>(std::move(*value)));
}

}  // namespace json_detail

/// Reads a key as a T. A missing key is an empty optional.
/// Errors: those of Client::get. A value that is there but is no JSON, or no T, is
/// Outcome::invalid with Reason::other: the read succeeded, and repeating it would not help.
template <class T>
Result<std::optional<T>> get_json(Client& client, std::string_view key,
                                  const GetOptions& options = {}) {
  return json_detail::decode_result<T>(key, client.get(key, options));
}

/// Writes a value as JSON text. Equal values have equal texts (fields are sorted by name unless the
/// type is an ordered one), so the conditions of SetOptions work.
/// Errors: those of Client::set. A value that cannot be written, for example because it holds text
/// that is not UTF-8, is Outcome::invalid with Reason::bad_argument; nothing is sent.
template <class T>
Result<SetResult> set_json(Client& client, std::string_view key, const T& value,
                           const SetOptions& options = {}) {
  const auto text = json_detail::encode(key, value);
  if (!text) return Failure(text.error());
  return client.set(key, *text, options);
}

/// Reads many keys as T, all nodes in parallel: one entry for each distinct key, in the order in
/// which each first appears. Errors of an entry: as get_json.
template <class T>
std::vector<KeyResult<std::optional<T>>> get_many_json(Client& client,
                                                       std::span<const std::string_view> keys,
                                                       const BatchOptions& options = {}) {
  std::vector<KeyResult<std::optional<T>>> out;
  auto entries = client.get_many(keys, options);
  out.reserve(entries.size());
  for (auto& entry : entries) {
    auto value = json_detail::decode_result<T>(entry.key, std::move(entry.result));
    out.push_back({std::move(entry.key), std::move(value)});
  }
  return out;
}

}  // namespace v0
}  // namespace sheaf
