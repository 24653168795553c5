#include "client/calls/requests.h"

#include "client/calls/admit.h"
#include "client/calls/checks.h"

namespace sheaf::client::calls {

using protocol::Condition;
using protocol::Verb;

namespace {

protocol::Operation operation_on(Verb verb, std::string_view key) {
  protocol::Operation operation;
  operation.verb = verb;
  operation.key = key;
  return operation;
}

Condition condition_of(SetCondition condition) noexcept {
  switch (condition) {
    case SetCondition::always:
      break;
    case SetCondition::if_absent:
      return Condition::if_absent;
    case SetCondition::if_absent_or_equal:
      return Condition::if_absent_or_equal;
    case SetCondition::if_present:
      return Condition::if_present;
    case SetCondition::if_version:
      return Condition::if_version;
  }
  return Condition::none;
}

}  // namespace

KeyRequest get_request(std::string_view key, const GetOptions& options) {
  protocol::Operation operation = operation_on(Verb::get, key);
  operation.ttl_left = options.ttl_left;
  return {operation, options.timeout, options.stop, check_key(key), true};
}

KeyRequest set_request(std::string_view key, std::string_view value, const SetOptions& options,
                       const ClusterConfig& config) {
  protocol::Operation operation = operation_on(Verb::set, key);
  operation.value = value;
  operation.fence = options.fence.text;
  operation.flags = options.flags;
  operation.persist = options.persist;
  operation.ttl = effective_ttl(options.ttl, config);
  operation.condition = condition_of(options.condition);
  if (operation.condition == Condition::if_version) operation.version = options.version.text;
  return {operation, options.timeout, options.stop,
          first_of(check_key(key), check_value(value, config), check_ttl(options.ttl),
                   check_fence(options.fence, config), check_persist(options.persist, config))};
}

KeyRequest remove_request(std::string_view key, const RemoveOptions& options,
                          const ClusterConfig& config) {
  protocol::Operation operation = operation_on(Verb::remove, key);
  operation.fence = options.fence.text;
  if (options.if_value) {
    operation.condition = Condition::if_value;
    operation.value = *options.if_value;
  } else if (options.if_version) {
    operation.condition = Condition::if_version;
    operation.version = options.if_version->text;
  }
  return {operation, options.timeout, options.stop,
          first_of(check_key(key), check_value(operation.value, config),
                   check_fence(options.fence, config))};
}

KeyRequest edit_request(Verb verb, std::string_view key, std::string_view value,
                        const EditOptions& options, const ClusterConfig& config) {
  protocol::Operation operation = operation_on(verb, key);
  operation.value = value;
  return {operation, options.timeout, options.stop,
          first_of(check_key(key), check_value(value, config))};
}

KeyRequest count_request(Verb verb, std::string_view key, std::uint64_t delta,
                         const CountOptions& options, const ClusterConfig& config) {
  protocol::Operation operation = operation_on(verb, key);
  operation.delta = delta;
  operation.initial = options.initial;
  operation.ttl = effective_ttl(options.ttl, config);
  return {operation, options.timeout, options.stop,
          first_of(check_key(key), check_ttl(options.ttl))};
}

KeyRequest touch_request(Verb verb, std::string_view key, const TouchOptions& options,
                         const ClusterConfig& config) {
  protocol::Operation operation = operation_on(verb, key);
  operation.ttl = effective_ttl(options.ttl, config);
  return {operation, options.timeout, options.stop,
          first_of(check_key(key), check_ttl(options.ttl))};
}

KeyRequest get_and_set_request(std::string_view key, std::string_view value,
                               const GetAndSetOptions& options, const ClusterConfig& config) {
  protocol::Operation operation = operation_on(Verb::get_and_set, key);
  operation.value = value;
  operation.ttl = effective_ttl(options.ttl, config);
  operation.condition = condition_of(options.condition);
  return {operation, options.timeout, options.stop,
          first_of(check_key(key), check_value(value, config), check_ttl(options.ttl))};
}

BatchRequest<std::string_view> keys_request(Verb verb, std::span<const std::string_view> keys,
                                            const BatchOptions& options) {
  return {keys, operation_on(verb, {}), options.timeout, options.stop, std::nullopt};
}

BatchRequest<SetItem> items_request(std::span<const SetItem> items, const BatchSetOptions& options,
                                    const ClusterConfig& config) {
  protocol::Operation operation = operation_on(Verb::set, {});
  operation.ttl = effective_ttl(options.ttl, config);
  operation.persist = options.persist;
  return {items, operation, options.timeout, options.stop,
          first_of(check_ttl(options.ttl), check_persist(options.persist, config))};
}

}  // namespace sheaf::client::calls
