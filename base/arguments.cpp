// Pure: no socket, clock, entropy, thread or callback.

#include "base/arguments.h"

#include <string>
#include <utility>

#include "base/local_error.h"
#include "base/text.h"

namespace sheaf::arguments {
namespace {

using namespace std::chrono_literals;

Error bad(Reason reason, std::string text) {
  return local_error(Outcome::invalid, reason, std::move(text));
}

bool is_never(const Ttl& ttl) noexcept { return ttl.milliseconds() == Ttl::never().milliseconds(); }

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
  if (!ttl || ttl->valid() || is_never(*ttl)) return std::nullopt;
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

std::chrono::milliseconds effective_ttl(const std::optional<Ttl>& ttl,
                                        const ClusterConfig& config) {
  const std::optional<Ttl>& used = ttl ? ttl : config.default_ttl;
  return used && !is_never(*used) ? used->milliseconds() : 0ms;
}

}  // namespace sheaf::arguments
