#include "client/calls/checks.h"

#include "base/text.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {
namespace {

using namespace std::chrono_literals;

Error bad(Reason reason, std::string text) {
  return runtime::local_error(Outcome::invalid, reason, std::move(text));
}

std::chrono::milliseconds effective_ttl(const std::optional<Ttl>& ttl,
                                        const ClusterConfig& config) {
  const std::optional<Ttl>& used = ttl ? ttl : config.default_ttl;
  return used ? used->milliseconds() : 0ms;
}

}  // namespace

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
  operation.flags = options.flags;
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
    case SetCondition::if_present:
      operation.condition = protocol::Condition::if_present;
      break;
    case SetCondition::if_version:
      operation.condition = protocol::Condition::if_version;
      operation.version = options.version.text;
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
  } else if (options.if_version) {
    operation.condition = protocol::Condition::if_version;
    operation.version = options.if_version->text;
  }
  return operation;
}

protocol::Operation edit_operation(protocol::Verb verb, std::string_view key,
                                   std::string_view value) {
  protocol::Operation operation;
  operation.verb = verb;
  operation.key = key;
  operation.value = value;
  return operation;
}

protocol::Operation count_operation(protocol::Verb verb, std::string_view key, std::uint64_t delta,
                                    const CountOptions& options, const ClusterConfig& config) {
  protocol::Operation operation;
  operation.verb = verb;
  operation.key = key;
  operation.delta = delta;
  operation.initial = options.initial;
  operation.ttl = effective_ttl(options.ttl, config);
  return operation;
}

protocol::Operation touch_operation(protocol::Verb verb, std::string_view key,
                                    const TouchOptions& options, const ClusterConfig& config) {
  protocol::Operation operation;
  operation.verb = verb;
  operation.key = key;
  operation.ttl = effective_ttl(options.ttl, config);
  return operation;
}

}  // namespace sheaf::client::calls
