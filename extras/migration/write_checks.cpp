#include "extras/migration/write_checks.h"

#include <utility>

#include "base/arguments.h"
#include "base/local_error.h"
#include "base/memcached_limits.h"

namespace sheaf::migration {
namespace {

using memcached_limits::check_binary_key;
using memcached_limits::check_item;
using memcached_limits::check_meta_key;
using memcached_limits::expiry_of;
using memcached_limits::last_second_binary;
using memcached_limits::last_second_meta;

std::optional<Error> error_of(std::optional<LocalError>&& refusal) {
  if (!refusal) return std::nullopt;
  return local_error(refusal->outcome, refusal->reason, std::move(refusal->text));
}

// If the protocol is detected at the first connection, the stricter rules apply.
bool binary(const ClusterConfig& config) noexcept {
  return config.protocol == MemcachedProtocol::binary;
}

std::optional<Error> check_key(std::string_view key, const ClusterConfig& config) {
  if (auto error = arguments::check_key(key)) return error;
  return error_of(binary(config) ? check_binary_key(key) : check_meta_key(key));
}

std::optional<Error> check_life(const std::optional<Ttl>& ttl, const ClusterConfig& config,
                                Now now) {
  if (auto error = arguments::check_ttl(ttl)) return error;
  const auto expiry = expiry_of(arguments::effective_ttl(ttl, config), now,
                                binary(config) ? last_second_binary : last_second_meta);
  return expiry ? std::nullopt : error_of(expiry.error());
}

std::optional<Error> check_store(std::string_view key, std::string_view value,
                                 const SetOptions& options, const ClusterConfig& config, Now now) {
  if (auto error = arguments::check_value(value, config)) return error;
  if (auto error = check_life(options.ttl, config, now)) return error;
  return error_of(check_item(config.item_size, key.size(), value.size(), options.flags));
}

}  // namespace

std::optional<Error> StepChecks::of_set(std::string_view key, std::string_view value,
                                        const SetOptions& options, Now now) const {
  if (auto error = of_remove(key)) return error;
  if (steps.size() < 2) return std::nullopt;
  for (const WriteStep& step : steps) {
    if (!step.stores) continue;
    const ClusterConfig& config = step.fleet == Fleet::from ? from : to;
    if (auto error = check_store(key, value, options, config, now)) return error;
  }
  return std::nullopt;
}

std::optional<Error> StepChecks::of_remove(std::string_view key) const {
  if (steps.size() < 2) return std::nullopt;
  for (const WriteStep& step : steps) {
    if (auto error = check_key(key, step.fleet == Fleet::from ? from : to)) return error;
  }
  return std::nullopt;
}

}  // namespace sheaf::migration
