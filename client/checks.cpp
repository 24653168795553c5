#include "client/checks.h"

#include <bit>
#include <set>

#include "base/text.h"
#include "client/outcomes.h"

namespace sheaf::client {
namespace {

using namespace std::chrono_literals;

Error bad(Reason reason, std::string text) {
  return local_error(Outcome::invalid, reason, std::move(text));
}

std::chrono::milliseconds effective_ttl(const std::optional<Ttl>& ttl,
                                        const ClusterConfig& config) {
  const std::optional<Ttl>& used = ttl ? ttl : config.default_ttl;
  return used ? used->milliseconds() : 0ms;
}

}  // namespace

// The parsers check what they read; this catches what a program filled in. The limits are those of
// include/sheaf/cluster_config.h.
std::optional<Error> check_config(const ClusterConfig& config) {
  const auto wrong = [](std::string text) {
    return bad(Reason::bad_configuration, std::move(text));
  };
  if (config.kind != EndpointKind::state_store && config.kind != EndpointKind::embedded) {
    return local_error(Outcome::unsupported, Reason::bad_configuration,
                       std::string(to_string(config.kind)) + ":// is not in this version");
  }
  if (config.nodes.empty() || config.nodes.size() > 1024) {
    return wrong("a cluster has 1 to 1024 nodes, this one " + std::to_string(config.nodes.size()));
  }
  std::set<std::string> identities;
  for (const NodeConfig& node : config.nodes) {
    if (node.host.empty()) return wrong("a node has no host");
    if (node.weight < 1 || node.weight > 65'535) {
      return wrong("weight of " + node.identity() + " must be 1 to 65535");
    }
    if (!identities.insert(node.identity()).second) {
      return wrong("node " + node.identity() + " is given twice");
    }
  }
  if (!std::has_single_bit(config.slots) || config.slots < 1u << 10 || config.slots > 1u << 22) {
    return wrong("slots must be a power of two from 1024 to 4194304");
  }
  if (config.timeout < 1ms || config.timeout > 24h) return wrong("timeout must be 1 ms to 24 h");
  if (config.connect_timeout < 1ms) return wrong("connect_timeout must be at least 1 ms");
  if (config.pool_max < 1 || config.pool_max > 64 || config.pool_min > config.pool_max) {
    return wrong("pool_max must be 1 to 64 and at least pool_min");
  }
  if (config.max_in_flight < 1) return wrong("max_in_flight must be at least 1");
  if (config.value_limit < 1 || config.value_limit > (256u << 20) - (64u << 10)) {
    return wrong("value_limit must be 1 byte to 256 MiB - 64 KiB");
  }
  if (config.default_ttl && !config.default_ttl->valid()) {
    return wrong("default_ttl must be at least 1 ms");
  }
  return std::nullopt;
}

std::optional<Error> check_key(std::string_view key) {
  if (key.empty()) return bad(Reason::bad_argument, "the key is empty; it needs at least 1 byte");
  return std::nullopt;
}

std::optional<Error> check_value(std::string_view value, const ClusterConfig& config) {
  if (value.size() <= config.value_limit) return std::nullopt;
  return bad(Reason::too_large, "the value has " + std::to_string(value.size()) +
                                    " bytes; value_limit allows " +
                                    std::to_string(config.value_limit));
}

std::optional<Error> check_ttl(const std::optional<Ttl>& ttl) {
  if (!ttl || ttl->valid()) return std::nullopt;
  const auto count = ttl->milliseconds().count();
  if (count < 1) {
    return bad(Reason::bad_argument, "the time to live is 0 or negative; it must be at least 1 ms");
  }
  return bad(Reason::bad_argument,
             "the time to live is above the limit of " + std::to_string(Ttl::max.count()) + " ms");
}

std::optional<Error> check_timeout(const Timeout& timeout) {
  if (!timeout || (*timeout >= 1ms && *timeout <= 24h)) return std::nullopt;
  return bad(Reason::bad_argument,
             "the timeout is " + format_elapsed(*timeout) + "; it must be 1 ms to 24 h");
}

protocol::Operation get_operation(std::string_view key) {
  protocol::Operation operation;
  operation.verb = protocol::Verb::get;
  operation.key = key;
  return operation;
}

protocol::Operation set_operation(std::string_view key, std::string_view value,
                                  const SetOptions& options, const ClusterConfig& config) {
  protocol::Operation operation;
  operation.verb = protocol::Verb::set;
  operation.key = key;
  operation.value = value;
  operation.fence = options.fence.text;
  operation.ttl = effective_ttl(options.ttl, config);
  switch (options.condition) {
    case SetCondition::always:
      break;
    case SetCondition::if_absent:
      operation.condition = protocol::Condition::if_absent;
      break;
    case SetCondition::if_absent_or_equal:
      operation.condition = protocol::Condition::if_absent_or_equal;
      break;
  }
  return operation;
}

protocol::Operation remove_operation(std::string_view key, const RemoveOptions& options) {
  protocol::Operation operation;
  operation.verb = protocol::Verb::remove;
  operation.key = key;
  operation.fence = options.fence.text;
  if (options.if_value) {
    operation.condition = protocol::Condition::if_value;
    operation.value = *options.if_value;
  }
  return operation;
}

}  // namespace sheaf::client
