#pragma once

// Can the store run in this broker? Asked of the running broker, before it is trusted with a
// request; the headers that the plugin was compiled with say nothing about it.
//
// Thread rule: free functions on the broker's one thread.

#include <optional>
#include <string>

namespace sheaf::store::plugin {

// Why not, as one sentence, from the versions of the plugin interface that the broker offers and
// from the functions that it exports. Nothing: it can.
std::optional<std::string> interface_fault(int count, const int* versions);

}  // namespace sheaf::store::plugin
