#include "store/plugin/gatekeeper.h"

#include <utility>
#include <vector>

#include "store/plugin/broker_api.h"
#include "store/plugin/option_files.h"

namespace sheaf::store::plugin {

namespace wire = protocol::statestore;

std::expected<void, std::string> Gatekeeper::load() {
  if (!has_file()) return {};
  auto read = read_rights_file(path_);
  if (!read) return std::unexpected(std::move(read.error()));
  auto rights = std::make_unique<const rights::Rights>(std::move(*read));
  std::vector<Client> renewed;  // everything that may fail comes before the first change
  renewed.reserve(clients_.size());
  for (const auto& [handle, client] : clients_) {
    renewed.push_back({client.subject, rights->grant(client.subject), nobody});
    renewed.back().account = accounts_.join(renewed.back().grant.account_name);
  }
  auto next = renewed.begin();
  for (auto& [handle, client] : clients_) {
    accounts_.leave(client.account);
    client = std::move(*next++);
  }
  rights_ = std::move(rights);
  return {};
}

// The broker may give a client the address of a client whose end it did not report.
Gatekeeper::Client& Gatekeeper::identify(const Request& request, const char* user) {
  Client& client = clients_[request.client];
  const bool same = client.subject.client_id == request.client_id &&
                    client.subject.user.has_value() == (user != nullptr) &&
                    (user == nullptr || *client.subject.user == user);
  if (same && !client.grant.entries.empty()) return client;
  accounts_.leave(std::exchange(client.account, nobody));
  client.subject.client_id = request.client_id;
  client.subject.user = user == nullptr ? std::nullopt : std::optional<std::string>(user);
  client.grant = rights_->grant(client.subject);
  client.account = accounts_.join(client.grant.account_name);
  return client;
}

struct Gatekeeper::Needs {
  std::string_view verb = "a request";
  std::string_view key{};
  rights::RightSet rights{};  // one of these for the key; empty: the engine reports what is wrong
  bool inspect = false;
  bool probe = false;
};

Gatekeeper::Needs Gatekeeper::needs_of(const Request& request, Asked asked) {
  if (asked == Asked::inspection) return {.verb = "an inspection", .inspect = true};
  const auto parsed = wire::parse_request(request.payload);
  if (!parsed) return {};
  return {.verb = rights::verb_of(*parsed),
          .key = rights::key_of(*parsed),
          .rights = rights::needed(*parsed, request.fencing_token.has_value()),
          .probe = rights::is_probe(*parsed)};
}

void Gatekeeper::decide(Request& request, Asked asked, const char* user, Now now) {
  if (rights_ == nullptr) return;
  const Client& client = identify(request, user);
  request.account = client.account;
  request.quota = client.grant.quota;
  const Needs needs = needs_of(request, asked);
  if (needs.probe) return;
  if (!accounts_.take_request(client.account, client.grant.quota, now.mono)) {
    return refuse(request, Gate::too_fast, client, needs, now);
  }
  const bool allowed =
      needs.inspect ? client.grant.inspect : client.grant.allows(needs.rights, needs.key);
  if (!allowed) refuse(request, Gate::not_authorized, client, needs, now);
}

void Gatekeeper::refuse(Request& request, Gate gate, const Client& client, const Needs& needs,
                        Now now) {
  request.gate = gate;
  const auto line =
      log_.line(client.subject, needs.verb, needs.key,
                gate == Gate::too_fast ? "too many requests a second" : "not authorized", now.mono);
  if (line) mosquitto_log_printf(MOSQ_LOG_WARNING, "sheaf: %s", line->c_str());
}

void Gatekeeper::forget(ClientHandle client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  accounts_.leave(found->second.account);
  clients_.erase(found);
}

bool Gatekeeper::may_watch(ClientHandle client, std::string_view key) const {
  const auto found = clients_.find(client);
  return rights_ == nullptr || found == clients_.end() ||
         found->second.grant.allows(rights::Right::watch, key);
}

void Gatekeeper::tick(const Engine& engine, Now now) {
  if (rights_ == nullptr) return;
  accounts_.forget_idle(engine, now.mono);
}

}  // namespace sheaf::store::plugin
