#pragma once

// Decides if the store can run in this broker. It checks the running broker before the first
// request, because the headers that the plugin was compiled with say nothing about it.
//
// Thread rule: free functions on the broker's one thread.

#include <optional>
#include <string>

namespace sheaf::store::plugin {

// Says why not, as one sentence, from the versions of the plugin interface that the broker offers
// and the functions that it exports; nothing if it can.
std::optional<std::string> interface_fault(int count, const int* versions);

}  // namespace sheaf::store::plugin
