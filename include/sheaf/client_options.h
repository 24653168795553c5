#pragma once

/// @file
/// What a client takes in addition to its configuration, and where it says that a key lives.

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include <sheaf/credentials.h>
#include <sheaf/driver.h>
#include <sheaf/log.h>
#include <sheaf/observer.h>

namespace sheaf {
inline namespace v0 {

/// What the application supplies to a client in addition to the configuration.
struct ClientOptions {
  LogSink log{};                        ///< Receives log records; none = they are only counted.
  LogLevel log_level = LogLevel::info;  ///< The least level that `log` receives.
  /// Most records about operations that `log` receives in a second, 0 = none; the next one says how
  /// many were left out. It does not count records of health, certificates, logins and maps.
  unsigned log_rate = 1'000;
  /// Receives every request that has ended, for tracing.
  Observer observer{};
  /// Turns the client in the place of threads of its own, and runs its callbacks unless there is an
  /// `executor`; see sheaf/driver.h. It outlives the client. None = the client has threads.
  Driver* driver = nullptr;
  /// Runs callbacks and log records; none = one thread of the client's own. It must run every task
  /// exactly once, one after another or side by side, and must not run it inside this call. No task
  /// waits for another: callbacks of one client run one after another all the same. What is still
  /// queued when the client is destroyed runs on the destroying thread.
  std::function<void(std::function<void()>)> executor{};
  /// Receives what a callback, the log sink or the executor throws, on the thread that caught it;
  /// must not throw itself. None = such an exception ends the process (std::terminate).
  std::function<void(std::exception_ptr)> on_exception{};
  /// The login of connections, in the place of the configuration's user and password. Not called
  /// any more when the client is closed: closing waits for it.
  CredentialSource credentials{};
};

/// Where a key lives, and why.
struct Location {
  std::string node;         ///< Identity of the owner, `host:port`.
  std::uint32_t slot = 0;   ///< Slot (`slots`) or ring point (`ring`); 0 where there are neither.
  std::string routing_key;  ///< The part of the key that was hashed: the key, or the text in `{}`.
  std::string reason;       ///< One sentence.
};

}  // namespace v0
}  // namespace sheaf
