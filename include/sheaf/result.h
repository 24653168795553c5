#pragma once

/// @file
/// How an operation ends: a value, or an Error that says what is known about its effect.
///
/// Thread rule: plain values; no object here is shared between threads by the library.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <version>
#if defined(__cpp_lib_expected)
#include <expected>
#endif

#include <sheaf/export.h>

namespace sheaf {
inline namespace v0 {

/// What is known about an operation that did not end with a value.
/// A missing key and a condition that did not hold are results, never errors.
enum class Outcome : std::uint8_t {
  refused,      ///< The server definitely answered with an error. The old value may still be gone.
  not_sent,     ///< No complete request was handed to the kernel: safe to repeat.
  unknown,      ///< The server may or may not execute the request, now or later.
  overloaded,   ///< Refused locally: a bound (requests, bytes, memory) is reached. Not sent.
  shutdown,     ///< The client was closed before the operation was sent. Not sent.
  unsupported,  ///< This kind of endpoint has no such operation. Not sent.
  invalid,      ///< The arguments, the configuration or the calling thread are wrong. Not sent.
};

/// Why. The same Outcome may come with different reasons.
enum class Reason : std::uint8_t {
  other,                ///< See Error::text.
  timed_out,            ///< The deadline passed.
  cancelled,            ///< The call's stop token was asked to stop (see Stop in options.h).
  node_down,            ///< The node is known to be down; the request was not tried.
  connect_failed,       ///< No connection could be made.
  connection_lost,      ///< The connection ended while the request was on it.
  protocol_error,       ///< The peer broke the protocol; its connection was closed.
  authentication,       ///< One side is not who the other wants: password, client ID, certificate.
  too_large,            ///< Key, value or packet is above a limit; the text names it.
  bad_argument,         ///< An argument is not allowed; the text names it and the limit.
  bad_configuration,    ///< A URI, JSON file or option is not allowed; the text names the field.
  wrong_thread,         ///< A blocking call from a thread that drives the client.
  forked,               ///< The process forked after the client was opened.
  closed,               ///< The client is closing.
  queue_full,           ///< A bound on requests or bytes in flight is reached.
  out_of_memory,        ///< An allocation failed.
  clock_skew,           ///< The request's timestamp is over a minute ahead of the store.
  fencing_required,     ///< The key is protected and the request carried no fencing token.
  fencing_skew,         ///< The fencing token is over a minute ahead of the store.
  fencing_stale,        ///< The fencing token is older than the one that protects the key.
  quota,                ///< The store's quota of keys or bytes is used up.
  syntax,               ///< The store did not understand the request.
  not_authorized,       ///< No right to this key or topic.
  unknown_command,      ///< The server does not know the command.
  wrong_arguments,      ///< The server expects a different number of arguments.
  timestamp_missing,    ///< The store requires a timestamp.
  timestamp_malformed,  ///< The store could not read the timestamp or the fencing token.
  key_empty,            ///< The store refuses an empty key.
  lock_lost,            ///< The lock is not held (any more); the text says why.
  wrong_type,           ///< The key holds a value of a type that the operation cannot use.
  incomplete,           ///< A part of the list is missing; the text says which.
  read_only,            ///< The store cannot write at the moment, and accepts no writes.
  foreign_server,       ///< The server at this address is not one of the cluster's.
  overtaken,            ///< A later operation on the key was carried out while this one waited.
};

/// One word for an outcome: "refused", "not sent", "unknown", ...
SHEAF_API std::string_view to_string(Outcome outcome) noexcept;
/// A few words for a reason: "timed out", "node down", ...; "other" if only the text says it.
SHEAF_API std::string_view to_string(Reason reason) noexcept;

/// Where the cause of an error lies, as far as this side knows.
enum class Origin : std::uint8_t {
  caller,   ///< The call: its arguments, its stop token, an operation the server does not have.
  process,  ///< This process: its limits, its memory, a pause, a client that closes.
  server,   ///< The server, which answered, or which does not accept this client.
  network   ///< The way to the server, or a silent server: indistinguishable from here.
};
/// "caller", "process", "server", "network".
SHEAF_API std::string_view to_string(Origin origin) noexcept;

/// Why an operation has no value.
struct Error {
  Outcome outcome = Outcome::invalid;   ///< What is known about the effect.
  Reason reason = Reason::other;        ///< Why.
  std::string node;                     ///< `host:port` of the node, empty if none took part.
  std::chrono::nanoseconds elapsed{0};  ///< From the call to its end; 0 if it was refused at once.
  std::string text;                     ///< The server's own words, or what is wrong.
  /// The node's latest changes of health, as one clause: "is down since 1.20 s (Connection
  /// refused), before that up for 35 s". Empty without a node, or if its health never changed.
  std::string history{};
  /// True if this process paused meanwhile: a deadline that passed says nothing about the node.
  bool paused = false;

  /// Where the cause lies.
  SHEAF_API Origin origin() const noexcept;
  /// A few sentences for people: message(), the cause, what the node has been doing, what is known
  /// about the effect, and what to do. Never contains a value or a password. docs/errors.md has the
  /// causes and remedies of all texts.
  SHEAF_API std::string why() const;
  /// One sentence for people: outcome, node, reason, elapsed time; never a value or a password.
  SHEAF_API std::string message() const;

  /// True if all fields are equal.
  friend bool operator==(const Error&, const Error&) = default;
};

/// Thrown by Result::value() when there is no value: a programming error of the caller.
class BadResultAccess : public std::exception {
 public:
  /// `what` says which value was missing, and why.
  explicit BadResultAccess(std::string what) : what_(std::move(what)) {}
  /// The text; lives as long as this object.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// Throws BadResultAccess. A program compiled without exceptions ends here instead
/// (std::terminate), with the text on standard error.
[[noreturn]] SHEAF_API void throw_bad_result_access(std::string what);

/// Makes a failed Result: `return Failure(error);`
struct Failure {
  /// Holds this error.
  explicit Failure(Error e) : error(std::move(e)) {}
  Error error;  ///< The error to return.
};

/// A value of T or an Error, with the interface of std::expected, which C++20 lacks. `T` may be
/// void. As with std::expected, accessing the wrong side with `*` or `error()` is undefined.
template <class T>
class [[nodiscard]] Result {
  using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

 public:
  using value_type = T;      ///< As std::expected::value_type.
  using error_type = Error;  ///< As std::expected::error_type.

  /// A default-constructed value; success if T is void.
  Result()
    requires(std::is_default_constructible_v<Stored>)
      : state_(std::in_place_index<0>) {}
  /// A value.
  Result(Stored value)  // NOLINT(google-explicit-constructor): as std::expected
    requires(!std::is_void_v<T>)
      : state_(std::in_place_index<0>, std::move(value)) {}
  /// The error of a Failure.
  Result(Failure failure)  // NOLINT(google-explicit-constructor): as std::unexpected
      : state_(std::in_place_index<1>, std::move(failure.error)) {}

  /// True if there is a value.
  bool has_value() const noexcept { return state_.index() == 0; }
  /// The same as has_value().
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; undefined if this is an error.
  Stored& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const Stored& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  Stored&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  /// The same.
  Stored* operator->() noexcept { return std::get_if<0>(&state_); }
  const Stored* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// The value; throws BadResultAccess with the error's message if this is an error.
  Stored& value() & { return require(), **this; }
  const Stored& value() const& { return require(), **this; }
  Stored&& value() && { return require(), std::move(**this); }

  /// The error; undefined if there is a value.
  Error& error() & noexcept { return *std::get_if<1>(&state_); }
  const Error& error() const& noexcept { return *std::get_if<1>(&state_); }
  Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  /// The value, or `other`.
  template <class U>
  Stored value_or(U&& other) const& {
    return has_value() ? **this : static_cast<Stored>(std::forward<U>(other));
  }
  /// The value, or `other`.
  template <class U>
  Stored value_or(U&& other) && {
    return has_value() ? std::move(**this) : static_cast<Stored>(std::forward<U>(other));
  }

  /// The error, or `other` if there is a value.
  template <class U>
  Error error_or(U&& other) const& {
    return has_value() ? static_cast<Error>(std::forward<U>(other)) : error();
  }
  /// The error, or `other` if there is a value.
  template <class U>
  Error error_or(U&& other) && {
    return has_value() ? static_cast<Error>(std::forward<U>(other)) : std::move(error());
  }

  /// The Result of `f(value)` if there is a value, else the error. `f` returns a Result, and takes
  /// no argument if T is void.
  template <class F>
  auto and_then(F&& f) & {
    return chain(*this, std::forward<F>(f));
  }
  /// The same; `f` gets a constant.
  template <class F>
  auto and_then(F&& f) const& {
    return chain(*this, std::forward<F>(f));
  }
  /// The same; `f` may move the value away.
  template <class F>
  auto and_then(F&& f) && {
    return chain(std::move(*this), std::forward<F>(f));
  }
  /// `f(value)` in a Result if there is a value, else the error.
  template <class F>
  auto transform(F&& f) & {
    return map(*this, std::forward<F>(f));
  }
  /// The same; `f` gets a constant.
  template <class F>
  auto transform(F&& f) const& {
    return map(*this, std::forward<F>(f));
  }
  /// The same; `f` may move the value away.
  template <class F>
  auto transform(F&& f) && {
    return map(std::move(*this), std::forward<F>(f));
  }
  /// The value, or the Result that `f(error)` returns, which is of this type.
  template <class F>
  Result or_else(F&& f) const& {
    return has_value() ? *this : Result(std::forward<F>(f)(error()));
  }
  /// The same; `f` may move the error away.
  template <class F>
  Result or_else(F&& f) && {
    return has_value() ? std::move(*this) : Result(std::forward<F>(f)(std::move(error())));
  }
  /// The value, or `f(error)` as the error. `f` returns an Error.
  template <class F>
  Result transform_error(F&& f) const& {
    return has_value() ? *this : Result(Failure(std::forward<F>(f)(error())));
  }
  /// The same; `f` may move the error away.
  template <class F>
  Result transform_error(F&& f) && {
    return has_value() ? std::move(*this) : Result(Failure(std::forward<F>(f)(std::move(error()))));
  }

  /// True if both hold equal values, or equal errors (`Error::elapsed` included).
  friend bool operator==(const Result& left, const Result& right)
    requires(std::equality_comparable<Stored>)
  {
    return left.state_ == right.state_;
  }
  /// True if there is a value and it is equal to `right`.
  friend bool operator==(const Result& left, const Stored& right)
    requires(!std::is_void_v<T> && std::equality_comparable<Stored>)
  {
    return left.has_value() && *left == right;
  }

#if defined(__cpp_lib_expected)
  /// Converts to std::expected, where the standard library has it.
  operator std::expected<T, Error>() const& {  // NOLINT(google-explicit-constructor)
    return as_expected(*this);
  }
  operator std::expected<T, Error>() && {  // NOLINT(google-explicit-constructor)
    return as_expected(std::move(*this));
  }
#endif

 private:
  template <class Self, class F>
  static auto call(Self&& self, F&& f) -> decltype(auto) {
    if constexpr (std::is_void_v<T>) {
      return std::forward<F>(f)();
    } else {
      return std::forward<F>(f)(*std::forward<Self>(self));
    }
  }
  template <class Self, class F>
  static auto chain(Self&& self, F&& f) {
    using Next = std::remove_cvref_t<decltype(call(std::forward<Self>(self), std::forward<F>(f)))>;
    if (self.has_value()) return Next(call(std::forward<Self>(self), std::forward<F>(f)));
    return Next(Failure(std::forward<Self>(self).error()));
  }
  template <class Self, class F>
  static auto map(Self&& self, F&& f) {
    using Mapped =
        std::remove_cvref_t<decltype(call(std::forward<Self>(self), std::forward<F>(f)))>;
    if (!self.has_value()) return Result<Mapped>(Failure(std::forward<Self>(self).error()));
    if constexpr (std::is_void_v<Mapped>) {
      call(std::forward<Self>(self), std::forward<F>(f));
      return Result<void>();
    } else {
      return Result<Mapped>(call(std::forward<Self>(self), std::forward<F>(f)));
    }
  }
#if defined(__cpp_lib_expected)
  template <class Self>
  static std::expected<T, Error> as_expected(Self&& self) {
    if (!self.has_value()) return std::unexpected(std::forward<Self>(self).error());
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return *std::forward<Self>(self);
    }
  }
#endif
  void require() const {
    if (!has_value()) throw_bad_result_access(error().message());
  }
  std::variant<Stored, Error> state_;
};

}  // namespace v0
}  // namespace sheaf
