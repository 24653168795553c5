#pragma once

// The payloads of the state store: one struct for each request, each reply and the notification.
// The structs are views into the caller's bytes. encode() appends; parse() takes a whole payload.
// Wire rules: docs/wire/statestore.md.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <variant>

#include <sheaf/result.h>

#include "base/byte_writer.h"
#include "protocol/statestore/errors.h"

namespace sheaf::protocol::statestore {

// The form in which a store writes its replies and notifications; clients read both.
enum class Spelling : std::uint8_t {
  sdk,  // the form that the real store sends: `:-1`, `DELETE`, `-ERR x`
  page  // the form that the protocol page prints: `-1`, `DEL`, and `-ERR: x` to KEYNOTIFY
};

enum class SetCondition : std::uint8_t {
  none,
  if_absent,          // NX
  if_absent_or_equal  // NEX: or the key holds exactly the value being written
};

// A client reads this key, which is always absent, to see whether a store answers.
inline constexpr std::string_view probe_key = "sheaf/probe";

// ---- requests. encode_head() and encode_tail() leave out the value in between, which the caller
// sends without a copy.

struct SetRequest {
  std::string_view key{};
  std::string_view value{};
  SetCondition condition = SetCondition::none;
  std::chrono::milliseconds expiry{0};  // PX; 0 = none

  void encode(ByteWriter& out) const;
  void encode_head(ByteWriter& out) const;
  void encode_tail(ByteWriter& out) const;
  friend bool operator==(const SetRequest&, const SetRequest&) = default;
};

struct GetRequest {
  std::string_view key{};

  void encode(ByteWriter& out) const;
  friend bool operator==(const GetRequest&, const GetRequest&) = default;
};

struct DelRequest {
  std::string_view key{};

  void encode(ByteWriter& out) const;
  friend bool operator==(const DelRequest&, const DelRequest&) = default;
};

// Deletes the key if it holds `value`.
struct VdelRequest {
  std::string_view key{};
  std::string_view value{};

  void encode(ByteWriter& out) const;
  void encode_head(ByteWriter& out) const;
  void encode_tail(ByteWriter& out) const;
  friend bool operator==(const VdelRequest&, const VdelRequest&) = default;
};

struct KeyNotifyRequest {
  std::string_view key{};
  bool stop = false;

  void encode(ByteWriter& out) const;
  friend bool operator==(const KeyNotifyRequest&, const KeyNotifyRequest&) = default;
};

using Request = std::variant<SetRequest, GetRequest, DelRequest, VdelRequest, KeyNotifyRequest>;

struct RequestError {
  StoreError error = StoreError::syntax;
  bool to_keynotify = false;  // the page has a special form for such errors
};

// For a store. Accepts an array of bulk strings and nothing after it, with verbs and options in any
// case, and SET's options in either order. Errors are checked in this order: syntax (framing),
// unknown_command, wrong_arguments, syntax (options), key_empty.
std::expected<Request, RequestError> parse_request(std::string_view payload) noexcept;

// ---- replies

// Why a reply has no result: the store refused, or (protocol_error) the reply cannot be read.
struct Fault {
  Reason reason = Reason::protocol_error;
  std::string_view text{};  // the store's text, or what is wrong; the peer's bytes, unescaped

  bool malformed() const noexcept { return reason == Reason::protocol_error; }
};
template <class T>
using Parsed = std::expected<T, Fault>;

struct SetReply {
  bool applied = false;  // false: the condition did not hold

  void encode(ByteWriter& out, Spelling spelling) const;
  static Parsed<SetReply> parse(std::string_view payload) noexcept;
  friend bool operator==(const SetReply&, const SetReply&) = default;
};

struct GetReply {
  std::optional<std::string_view> value{};  // nothing: absent

  void encode(ByteWriter& out) const;
  static Parsed<GetReply> parse(std::string_view payload) noexcept;
  friend bool operator==(const GetReply&, const GetReply&) = default;
};

struct DelReply {
  std::uint64_t removed = 0;

  void encode(ByteWriter& out) const;
  static Parsed<DelReply> parse(std::string_view payload) noexcept;
  friend bool operator==(const DelReply&, const DelReply&) = default;
};

struct VdelReply {
  enum class Result : std::uint8_t { absent, removed, differs };
  Result result = Result::absent;

  void encode(ByteWriter& out, Spelling spelling) const;
  static Parsed<VdelReply> parse(std::string_view payload) noexcept;
  friend bool operator==(const VdelReply&, const VdelReply&) = default;
};

struct KeyNotifyReply {
  bool done = true;  // false (`:0`): STOP for a key that was not watched; else also success

  void encode(ByteWriter& out) const;
  static Parsed<KeyNotifyReply> parse(std::string_view payload) noexcept;
  friend bool operator==(const KeyNotifyReply&, const KeyNotifyReply&) = default;
};

struct ErrorReply {
  StoreError error = StoreError::syntax;
  bool to_keynotify = false;
  std::string_view detail{};  // after the text: clients find an error's reason by its beginning

  void encode(ByteWriter& out, Spelling spelling) const;
};

// ---- notifications

struct Notification {
  enum class Operation : std::uint8_t {
    set,
    removed,  // deleted or expired
    unknown   // the key has changed in a way that this client does not know
  };
  Operation operation = Operation::unknown;
  std::optional<std::string_view> value{};  // set only; nothing: ask with GET

  // `operation` must be `set` with a value, or `removed`.
  void encode(ByteWriter& out, Spelling spelling) const;
  static Parsed<Notification> parse(std::string_view payload) noexcept;
  friend bool operator==(const Notification&, const Notification&) = default;
};

}  // namespace sheaf::protocol::statestore
