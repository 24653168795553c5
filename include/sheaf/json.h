#pragma once

/// @file
/// Typed values as JSON. Link `sheaf::json`; this is the one header that names nlohmann/json.
///
/// A type is read and written by nlohmann's `from_json` and `to_json` (or its macros). Nothing here
/// throws, whatever those functions throw.
///
/// A value comes with its version, so it can be changed and written back unless another writer was
/// faster. Where the endpoint compares versions (Feature::if_version):
///
///     Result<bool> raise(Client& client, std::string_view key) {
///       for (;;) {
///         const auto found = get_json<Reading>(client, key);
///         if (!found) return Failure(found.error());
///         if (!*found) return false;  // the key is absent
///         Reading reading = (*found)->data;
///         reading.value += 1;
///         const auto done = set_json(client, key, reading,
///                                    {.condition = SetCondition::if_version,
///                                     .version = (*found)->version,
///                                     .flags = (*found)->flags});
///         if (!done) return Failure(done.error());
///         if (done->stored) return true;  // else another was faster: once more
///       }
///     }
///
/// On a state store a lock does this: LockGuard::read and LockGuard::write, sheaf/locker.h.
///
/// Thread rule: as Client and AsyncClient; free functions without state.

#if !defined(__cpp_exceptions)
#error "sheaf/json.h needs exceptions, because nlohmann/json throws; other headers do not"
#endif

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/call.h>
#include <sheaf/client.h>
#include <sheaf/export.h>

namespace sheaf {
inline namespace v0 {

/// Deepest nesting of a JSON value that is read. Deeper ones are refused: they could use up the
/// stack of the thread that copies them.
inline constexpr std::size_t json_max_depth = 256;

/// A value of type T as the endpoint returned it; what Value is to bytes.
template <class T>
struct JsonValue {
  T data;                   ///< The value, read from its JSON text.
  Version version{};        ///< Empty when the endpoint gave none.
  std::uint32_t flags = 0;  ///< memcached's 32 client flags; 0 elsewhere.
};

/// What a typed get returns: the value, or nothing when the server said that the key is absent.
template <class T>
using JsonGetResult = std::optional<JsonValue<T>>;
/// What a typed get_many returns: one entry for each distinct key.
template <class T>
using JsonGets = std::vector<KeyResult<JsonGetResult<T>>>;

/// A key and a value to write, for example of a std::map or a std::vector of std::pair.
template <class Pair>
concept JsonItem =
    std::tuple_size_v<std::remove_cvref_t<Pair>> == 2 &&
    std::convertible_to<std::tuple_element_t<0, std::remove_cvref_t<Pair>>, std::string_view>;
/// Any range of them.
template <class Range>
concept JsonItems =
    std::ranges::input_range<const Range> && JsonItem<std::ranges::range_reference_t<const Range>>;

/// Internals of this header; not part of the interface.
namespace json_detail {

/// A failed Result without node and time.
inline Failure failure(Outcome outcome, Reason reason, std::string text) {
  return Failure({outcome, reason, {}, {}, std::move(text)});
}

/// The key in quotes, cut after 64 bytes, everything but printable ASCII as \xNN.
SHEAF_API std::string quoted(std::string_view key);
/// True if no bracket outside a string opens a level below the deepest.
SHEAF_API bool shallow(std::string_view text, std::size_t deepest) noexcept;

/// The value of a key as a T. The texts name the key and never the value; texts of the JSON library
/// are left out because they quote it.
template <class T>
Result<T> decode(std::string_view key, std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    return failure(Outcome::invalid, Reason::other, "the value of " + quoted(key) + " " + what);
  };
  try {
    if (!shallow(text, json_max_depth)) {
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
Result<JsonGetResult<T>> decode_result(std::string_view key, Result<GetResult> got) {
  if (!got) return Failure(std::move(got.error()));
  if (!*got) return JsonGetResult<T>();
  Value& value = **got;
  auto data = decode<T>(key, value.data);
  if (!data) return Failure(std::move(data.error()));
  return JsonGetResult<T>({std::move(*data), std::move(value.version), value.flags});
}

/// What a get_many found, its values decoded.
template <class T>
JsonGets<T> decode_results(std::vector<KeyResult<GetResult>> entries) {
  JsonGets<T> out;
  out.reserve(entries.size());
  for (auto& entry : entries) {
    auto value = decode_result<T>(entry.key, std::move(entry.result));
    out.push_back({std::move(entry.key), std::move(value)});
  }
  return out;
}

/// One text, or why there is none, for each distinct key, in the order in which each first appears.
using Texts = std::vector<KeyResult<std::string>>;

/// The items as JSON text.
template <JsonItems Items>
Texts encode_all(const Items& items) {
  Texts texts;
  std::unordered_map<std::string, std::size_t> indexes;
  for (const auto& [key, value] : items) {
    auto text = encode(key, value);
    const auto [index, is_new] = indexes.try_emplace(std::string(key), texts.size());
    if (is_new) {
      texts.push_back({index->first, std::move(text)});
    } else {
      texts[index->second].result = std::move(text);
    }
  }
  return texts;
}

/// Those that can be sent; views of `texts`.
SHEAF_API std::vector<SetItem> to_send(const Texts& texts);
/// The errors of those that cannot be sent; the others have no outcome yet.
SHEAF_API AsyncClient::Sets unsent(const Texts& texts);
/// The outcomes of those that were sent, put to the errors of the others.
SHEAF_API AsyncClient::Sets merge(AsyncClient::Sets all, AsyncClient::Sets sent);

}  // namespace json_detail

// ---- blocking

/// Reads a key as a T. A missing key is an empty optional.
/// Errors: those of Client::get. A value that is there but is no JSON, or no T, is
/// Outcome::invalid with Reason::other: the read succeeded, and repeating it would not help.
template <class T>
Result<JsonGetResult<T>> get_json(Client& client, std::string_view key,
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
JsonGets<T> get_many_json(Client& client, std::span<const std::string_view> keys,
                          const BatchOptions& options = {}) {
  return json_detail::decode_results<T>(client.get_many(keys, options));
}

/// Writes many values as JSON text, all nodes in parallel: one entry for each distinct key, in the
/// order in which each first appears. A key given twice gets its last value.
/// Errors of an entry: as set_json; a value that cannot be written fails its own key only.
template <JsonItems Items>
std::vector<KeyResult<SetResult>> set_many_json(Client& client, const Items& items,
                                                const BatchSetOptions& options = {}) {
  const json_detail::Texts texts = json_detail::encode_all(items);
  return json_detail::merge(json_detail::unsent(texts),
                            client.set_many(json_detail::to_send(texts), options));
}

// ---- asynchronous: as the members of AsyncClient; values are decoded by the dispatcher

/// As the blocking get_json.
template <class T>
Call<Result<JsonGetResult<T>>> get_json(const AsyncClient& client, std::string_view key,
                                        const GetOptions& options = {}) {
  const auto decode = [key = std::string(key)](Result<GetResult> got) {
    return json_detail::decode_result<T>(key, std::move(got));
  };
  return client.get(key, options).transform(decode);
}

/// As the blocking set_json. The value is encoded before this returns.
template <class T>
Call<Result<SetResult>> set_json(const AsyncClient& client, std::string_view key, const T& value,
                                 const SetOptions& options = SetOptions()) {
  const auto text = json_detail::encode(key, value);
  if (text) return client.set(key, *text, options);
  const auto refuse = [error = text.error()](const AsyncClient::Sets&) {
    return Result<SetResult>(Failure(error));
  };
  return client.set_many({}).transform(refuse);  // the error comes where every outcome does
}

/// As the blocking get_many_json.
template <class T>
Call<JsonGets<T>> get_many_json(const AsyncClient& client, std::span<const std::string_view> keys,
                                const BatchOptions& options = {}) {
  return client.get_many(keys, options).transform([](AsyncClient::Gets got) {
    return json_detail::decode_results<T>(std::move(got));
  });
}

/// As the blocking set_many_json. The values are encoded before this returns.
template <JsonItems Items>
Call<AsyncClient::Sets> set_many_json(const AsyncClient& client, const Items& items,
                                      const BatchSetOptions& options = {}) {
  const json_detail::Texts texts = json_detail::encode_all(items);
  const auto merge = [all = json_detail::unsent(texts)](AsyncClient::Sets sent) {
    return json_detail::merge(all, std::move(sent));
  };
  return client.set_many(json_detail::to_send(texts), options).transform(merge);
}

#if SHEAF_DESTROYS_TWICE
/// g++ before 14 destroys such a temporary twice: name it. See SHEAF_DESTROYS_TWICE.
template <class T>
void set_json(const AsyncClient& client, std::string_view key, const T& value,
              SetOptions&& options) = delete;
#endif

}  // namespace v0
}  // namespace sheaf
