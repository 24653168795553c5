#pragma once

// The engines of this process, by name and index. Clients that open the same `embedded://N?name=X`
// get the same ones; an engine lives as long as the last of its clients.

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/pipe/shared_engine.h"

namespace sheaf::store::pipe {

using Engines = std::vector<std::shared_ptr<SharedEngine>>;

// Any thread. Engines 0 .. count - 1 under `name`, made where there are none. The options of the
// first opener hold; different ones are refused with one sentence.
std::expected<Engines, std::string> open_engines(std::string_view name, unsigned count,
                                                 const EngineOptions& options);

}  // namespace sheaf::store::pipe
