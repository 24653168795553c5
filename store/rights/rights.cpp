// Pure: no socket, clock, entropy, thread or callback.

#include "store/rights/rights.h"

#include <variant>

namespace sheaf::store::rights {

namespace wire = protocol::statestore;

bool Grant::allows(RightSet any_of, std::string_view key) const {
  if (any_of.empty()) return true;
  bool found = false;
  for (const Entry* entry : entries) {
    entry->keys.visit(key, [&](RightSet rights) { found = found || rights.has_any(any_of); });
  }
  return found;
}

// Limits come from the most specific entry: the client's, then the user's, then everybody's.
Grant Rights::grant(const Subject& subject) const {
  Grant grant;
  const auto take = [&](const Entry& entry, const std::string& account) {
    grant.entries.push_back(&entry);
    grant.inspect = grant.inspect || entry.inspect;
    if (!entry.limits || !grant.account_name.empty()) return;
    grant.quota = *entry.limits;
    grant.account_name = account;
  };
  const std::string client = "client " + subject.client_id;
  const std::string user = subject.user ? "user " + *subject.user : std::string();
  clients.visit(subject.client_id, [&](const Entry& entry) { take(entry, client); });
  if (subject.user) {
    if (const auto found = users.find(*subject.user); found != users.end()) {
      take(found->second, user);
    }
  }
  take(everybody, subject.user ? user : client);
  return grant;
}

bool is_probe(const wire::Request& request) noexcept {
  const auto* const get = std::get_if<wire::GetRequest>(&request);
  return get != nullptr && get->key == wire::probe_key;
}

RightSet needed(const wire::Request& request, bool fenced) noexcept {
  struct Needs {
    bool fenced;
    RightSet operator()(const wire::GetRequest&) const noexcept { return Right::read; }
    // A token would raise a fence, which excludes clients that lock without one.
    RightSet operator()(const wire::SetRequest& set) const noexcept {
      const bool locks = set.condition == wire::SetCondition::if_absent_or_equal &&
                         set.expiry.count() > 0 && !fenced;
      return locks ? RightSet(Right::write) | Right::lock : Right::write;
    }
    RightSet operator()(const wire::DelRequest&) const noexcept { return Right::write; }
    RightSet operator()(const wire::VdelRequest&) const noexcept {
      return RightSet(Right::write) | Right::lock;
    }
    // Stopping a watch only gives up what the client has.
    RightSet operator()(const wire::KeyNotifyRequest& watch) const noexcept {
      return watch.stop ? RightSet() : Right::watch;
    }
  };
  return is_probe(request) ? RightSet() : std::visit(Needs{fenced}, request);
}

std::string_view key_of(const wire::Request& request) noexcept {
  return std::visit([](const auto& packet) { return packet.key; }, request);
}

std::string_view verb_of(const wire::Request& request) noexcept {
  constexpr std::string_view verbs[] = {"SET", "GET", "DEL", "VDEL", "KEYNOTIFY"};
  static_assert(std::size(verbs) == std::variant_size_v<wire::Request>);
  return verbs[request.index()];
}

}  // namespace sheaf::store::rights
