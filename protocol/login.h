#pragma once

// Login: as whom connections log in, and by what. A factory of sessions has a slot with the present
// one; its sessions look there when they begin, and again when they are told that there is another.
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
  std::string method;  // of MQTT 5's enhanced authentication; empty: none
  Secret token;        // what that method sends

  friend bool operator==(const Login&, const Login&) = default;
};

using SharedLogin = std::shared_ptr<const Login>;  // null: nobody logs in

// Null if both are empty.
SharedLogin make_login(std::string_view user, std::string_view password);
// That of a configuration.
SharedLogin login_of(const ClusterConfig& config);

struct LoginSlot {
  SharedLogin present;
};
// What sessions have of their factory's slot. Null: nobody logs in.
using SharedLoginSlot = std::shared_ptr<const LoginSlot>;

// With which login one connection goes on.
class UsedLogin {
 public:
  explicit UsedLogin(SharedLoginSlot slot) noexcept : slot_(std::move(slot)) {}

  // From now on it is the present one. Null: nobody logs in.
  const Login* take() noexcept;
  // The one that was taken last.
  const Login* get() const noexcept { return used_.get(); }
  // There is another one now.
  bool stale() const noexcept;
  // Null: nobody logs in.
  const Login* present() const noexcept {
    return slot_ == nullptr ? nullptr : slot_->present.get();
  }

 private:
  SharedLoginSlot slot_;
  SharedLogin used_;
};

// A refused login ends attempts for good, but only those with itself. If there is another one by
// now, the next connection goes that way, and the refusal is no fault of the node.
CloseReason excused_if_stale(CloseReason refusal, const UsedLogin& login) noexcept;

// What a server says, with "..." wherever it repeats a secret of the login. Null: nobody logs in.
std::string without_secrets(std::string_view text, const Login* login);

}  // namespace sheaf::protocol
