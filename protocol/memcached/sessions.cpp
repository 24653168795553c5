// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/sessions.h"

#include <algorithm>
#include <utility>

#include "protocol/memcached/binary_session.h"
#include "protocol/memcached/meta_session.h"
#include "protocol/memcached/negotiating_session.h"
#include "protocol/memcached/rules.h"

namespace sheaf::protocol::memcached {
namespace {

SessionOptions session_options(const ClusterConfig& config, SharedLoginSlot login) {
  SessionOptions options;
  options.login = std::move(login);
  options.over_tls = config.tls;
  options.keep_alive = config.keep_alive;
  options.handshake_limit =
      std::max(config.connect_timeout, config.timeout);  // sockets are stricter
  options.value_limit = config.value_limit;
  options.item_size = config.item_size;
  options.max_in_flight = config.max_in_flight;
  return options;
}

std::unique_ptr<MemcachedSession> session_in(Way way, SessionOptions options) {
  options.only_version = way == Way::question;
  if (way == Way::meta) return std::make_unique<MetaSession>(std::move(options));
  return std::make_unique<BinarySession>(std::move(options));
}

}  // namespace

MemcachedSessions::MemcachedSessions(const ClusterConfig& config) : config_(config) {
  config_.nodes = {};  // not needed, and there may be many
}

std::unique_ptr<Session> MemcachedSessions::make(unsigned node, SessionUse, Now) {
  SessionOptions options = session_options(config_, login());
  if (config_.protocol != MemcachedProtocol::automatic) {
    const bool binary = config_.protocol == MemcachedProtocol::binary;
    return session_in(binary ? Way::binary : Way::meta, std::move(options));
  }
  if (node >= negotiations_.size()) negotiations_.resize(node + 1);
  auto& begun = negotiations_[node];
  if (begun == nullptr) begun = std::make_unique<Negotiation>(has_user());
  Negotiation& negotiation = *begun;
  // A server may not answer the wrong protocol at all: this leaves time for another way.
  if (!negotiation.proven()) options.handshake_limit = config_.connect_timeout * 3 / 4;
  return std::make_unique<NegotiatingSession>(session_in(negotiation.next(), std::move(options)),
                                              negotiation);
}

void MemcachedSessions::forget(unsigned node) {
  if (node < negotiations_.size()) negotiations_[node].reset();
}

bool MemcachedSessions::has_user() const noexcept {
  const Login* const present = login()->present.get();
  return present != nullptr && !present->user.empty();
}

void MemcachedSessions::set_login(SharedLogin login) {
  SessionFactory::set_login(std::move(login));
  for (const auto& negotiation : negotiations_) {
    if (negotiation != nullptr) negotiation->expect_password(has_user());
  }
}

bool MemcachedSessions::takes_batches(std::string_view key) const noexcept {
  return is_listable_key(key);
}

}  // namespace sheaf::protocol::memcached
