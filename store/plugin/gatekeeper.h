#pragma once

// Decides on each request by the rights file, and which account it counts for. Without a file every
// request may be executed, and nothing is counted.
//
// Thread rule: the broker's one thread.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "store/engine/engine.h"
#include "store/rights/accounts.h"
#include "store/rights/refusal_log.h"
#include "store/rights/rights.h"

namespace sheaf::store::plugin {

class Gatekeeper {
 public:
  Gatekeeper(std::string path, std::uint64_t seed) : path_(std::move(path)), accounts_(seed) {}

  bool has_file() const noexcept { return !path_.empty(); }
  const std::string& path() const noexcept { return path_; }
  // Reads the file, at the start and again later. A file that is refused changes nothing.
  std::expected<void, std::string> load();

  enum class Asked : std::uint8_t { request, inspection };
  // Sets the request's gate, account and quota. `user` null: anonymous.
  void decide(Request& request, Asked asked, const char* user, Now now);
  void forget(ClientHandle client);
  // True if the client may watch the key, as far as the client is known.
  bool may_watch(ClientHandle client, std::string_view key) const;
  void tick(const Engine& engine, Now now);
  // Null without a rights file.
  AccountNames* accounts() noexcept { return has_file() ? &accounts_ : nullptr; }

 private:
  struct Client {
    rights::Subject subject;
    rights::Grant grant;
    Account account = nobody;
  };
  Client& identify(const Request& request, const char* user);
  // What a request or an inspection needs, for the rights and for the log.
  struct Needs;
  static Needs needs_of(const Request& request, Asked asked);
  void refuse(Request& request, Gate gate, const Client& client, const Needs& needs, Now now);

  std::string path_;
  std::unique_ptr<const rights::Rights> rights_;  // grants point into it
  rights::Accounts accounts_;
  rights::RefusalLog log_;
  std::unordered_map<ClientHandle, Client> clients_;
};

}  // namespace sheaf::store::plugin
