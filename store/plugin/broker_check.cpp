#include "store/plugin/broker_check.h"

#include <algorithm>
#include <string_view>

#include "store/plugin/broker_api.h"

namespace sheaf::store::plugin {
namespace {

// The name of a missing function; empty if the broker exports all of them.
std::string_view missing_function() {
#define SHEAF_LOOK(name) \
  if ((name) == nullptr) return #name;
  SHEAF_BROKER_FUNCTIONS(SHEAF_LOOK)
#undef SHEAF_LOOK
  return {};
}

}  // namespace

std::optional<std::string> interface_fault(int count, const int* versions) {
  const int* const end = versions + std::max(count, 0);
  if (std::find(versions, end, MOSQ_PLUGIN_VERSION) == end) {
    std::string offered;
    for (const int* at = versions; at != end; ++at) {
      offered += (offered.empty() ? "" : ", ") + std::to_string(*at);
    }
    return "this broker offers version " + (offered.empty() ? "none" : offered) +
           " of the plugin interface, not " + std::to_string(MOSQ_PLUGIN_VERSION) + needed_broker;
  }
  if (const std::string_view name = missing_function(); !name.empty()) {
    return "this broker does not export " + std::string(name) + needed_broker;
  }
  return std::nullopt;
}

}  // namespace sheaf::store::plugin
