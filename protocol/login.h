#pragma once

// Login: the user that connections log in as, and the proof. A session factory has a slot with the
// current login. Its sessions read the slot when they begin, and again when it has changed.
//
// Thread rule: a login never changes, so any thread may read it; a slot belongs to one lane.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <sheaf/cluster_config.h>

#include "base/secret.h"
#include "protocol/session.h"

namespace sheaf::protocol {

struct Login {
  std::string user;    // empty: none
  Secret password;     // empty: none
  std::string method;  // for MQTT 5's enhanced authentication; empty: none
  Secret token;        // what the method sends

  friend bool operator==(const Login&, const Login&) = default;
};

using SharedLogin = std::shared_ptr<const Login>;  // null: no login

// Null if both are empty.
SharedLogin make_login(std::string_view user, std::string_view password);
// The login of a configuration.
SharedLogin login_of(const ClusterConfig& config);

struct LoginSlot {
  SharedLogin present;
};
// A session's view of its factory's slot. Null: no login.
using SharedLoginSlot = std::shared_ptr<const LoginSlot>;

// The login that one connection uses.
class UsedLogin {
 public:
  explicit UsedLogin(SharedLoginSlot slot) noexcept : slot_(std::move(slot)) {}

  // Uses the current login from now on, and returns it. Null: no login.
  const Login* take() noexcept;
  // The login that was taken last.
  const Login* get() const noexcept { return used_.get(); }
  // True if the current login differs from the one taken.
  bool stale() const noexcept;
  // The current login. Null: no login.
  const Login* present() const noexcept {
    return slot_ == nullptr ? nullptr : slot_->present.get();
  }

 private:
  SharedLoginSlot slot_;
  SharedLogin used_;
};

// A refused login ends attempts permanently, but only those with that login. If there is another
// one by now, the next connection uses that, and the refusal is not the node's fault.
CloseReason excused_if_stale(CloseReason refusal, const UsedLogin& login) noexcept;

// The server's text, with "..." wherever it repeats a secret of the login. Null: no login.
std::string without_secrets(std::string_view text, const Login* login);

}  // namespace sheaf::protocol
