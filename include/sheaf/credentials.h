#pragma once

/// @file
/// Credentials from the program: a function that is asked at every connection and before what it
/// gave ends. docs/credentials.md has the whole picture, files included.
///
/// Thread rule: plain values. The function runs on the client's dispatcher (or the user's
/// executor), one call at a time, never while the client holds a lock.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf {
class Secret;

inline namespace v0 {

/// A text that is wiped when it ends, and that no core dump has. It moves and is not copied.
class SHEAF_API SecretText {
 public:
  SecretText() noexcept;  ///< An empty one.
  /// A copy of a text, which stays as it is.
  SecretText(std::string_view text);    // NOLINT(google-explicit-constructor): takes any text
  SecretText(const char* text);         // NOLINT(google-explicit-constructor)
  SecretText(const std::string& text);  // NOLINT(google-explicit-constructor)
  /// A copy of a text, which is wiped.
  SecretText(std::string&& text);  // NOLINT: wipes `text`
  /// What was moved from is empty.
  SecretText(SecretText&&) noexcept;
  /// The text that was here is wiped.
  SecretText& operator=(SecretText&&) noexcept;
  ~SecretText();

  /// The text; lives as long as this does.
  std::string_view view() const noexcept;
  /// Whether there is no text.
  bool empty() const noexcept { return view().empty(); }

 private:
  std::unique_ptr<Secret> secret_;
};

/// As whom connections log in, and by what. `{.user = "line4", .password = std::move(word)}`
struct Credentials {
  std::string user{};     ///< Empty: none.
  SecretText password{};  ///< Empty: none.
  /// Of the enhanced authentication of MQTT 5; empty beside a token: "K8S-SAT".
  std::string method{};
  SecretText token{};  ///< What that method sends. State store over MQTT only.
  /// Not to be used from then on, by the clock of this machine. The function is asked again when
  /// 80 % of the time is over, at most five minutes and at least a second before. Connections that
  /// stand log in again with what it gives then, or are replaced where the protocol cannot. If it
  /// gives nothing until then, they end.
  std::optional<std::chrono::system_clock::time_point> ends{};
};

/// Why credentials are asked for.
enum class CredentialNeed : std::uint8_t {
  connect,  ///< A connection is about to be made.
  renewal,  ///< What was given ends soon.
  refused   ///< A server has refused what was given. The same again is not tried at once.
};

/// What the function is told.
struct CredentialRequest {
  CredentialNeed need = CredentialNeed::connect;  ///< Why.
};

/// Gives the credentials of the next connections. It may block: connections wait for it within
/// their `connect_timeout`, and all that are being made at one time share one call. An error fails
/// them with Reason::authentication and its text, and so does what it throws; the next connection
/// asks again. A blocking call of a client whose credentials it gives, inside of it, waits for
/// itself until its deadline.
using CredentialSource = std::function<Result<Credentials>(const CredentialRequest&)>;

}  // namespace v0
}  // namespace sheaf
