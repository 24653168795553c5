#pragma once

/// @file
/// Credentials from the program: a function that the client calls for every connection, and again
/// before the credentials expire. docs/credentials.md has the whole picture, files included.
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

/// A text that is wiped when it is destroyed, and that no core dump contains. It is move-only.
class SHEAF_API SecretText {
 public:
  SecretText() noexcept;  ///< Makes an empty text.
  /// Copies a text and leaves the original as it is.
  SecretText(std::string_view text);    // NOLINT(google-explicit-constructor): takes any text
  SecretText(const char* text);         // NOLINT(google-explicit-constructor)
  SecretText(const std::string& text);  // NOLINT(google-explicit-constructor)
  /// Copies a text and wipes the original.
  SecretText(std::string&& text);  // NOLINT: wipes `text`
  /// The source is empty afterwards.
  SecretText(SecretText&&) noexcept;
  /// Wipes the text that was here.
  SecretText& operator=(SecretText&&) noexcept;
  ~SecretText();

  /// The text; lives as long as this object.
  std::string_view view() const noexcept;
  /// True if there is no text.
  bool empty() const noexcept { return view().empty(); }

 private:
  std::unique_ptr<Secret> secret_;
};

/// A user and the proof, for log-ins: `{.user = "line4", .password = std::move(word)}`
struct Credentials {
  std::string user{};     ///< Empty if none.
  SecretText password{};  ///< Empty if none.
  /// Method of MQTT 5's enhanced authentication; "K8S-SAT" if it is empty and there is a token.
  std::string method{};
  SecretText token{};  ///< What the method sends. State store over MQTT only.
  /// When the credentials expire, by this machine's clock. The function is called again when 80 %
  /// of the time has passed, at most five minutes and at least a second before the end. Open
  /// connections log in again with the new credentials, or are replaced if the protocol has no
  /// second login. If the function returns none in time, those connections end.
  std::optional<std::chrono::system_clock::time_point> ends{};
};

/// Why credentials are asked for.
enum class CredentialNeed : std::uint8_t {
  connect,  ///< A connection is about to be opened.
  renewal,  ///< The credentials expire soon.
  refused   ///< A server refused the credentials. The same ones are not tried again at once.
};

/// What the function receives.
struct CredentialRequest {
  CredentialNeed need = CredentialNeed::connect;  ///< Why.
};

/// Returns the credentials for the next connections. It may block: connections wait for it within
/// their `connect_timeout`, and all connections that are being made at that time share one call. If
/// it returns an error or throws, they fail with Reason::authentication and its text, and the next
/// connection asks again. Inside the function a blocking call to a client that it serves waits for
/// itself until its deadline.
using CredentialSource = std::function<Result<Credentials>(const CredentialRequest&)>;

}  // namespace v0
}  // namespace sheaf
