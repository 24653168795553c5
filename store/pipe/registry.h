#pragma once

// The engines of this process, by name and index. Clients that open the same `embedded://N?name=X`
// share engines. An engine ends with the last of its clients. A forked child has engines of its
// own, because its parent's may be locked forever.

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/pipe/shared_engine.h"

namespace sheaf::store::pipe {

using Engines = std::vector<std::shared_ptr<SharedEngine>>;

// Any thread. Returns engines 0 to count - 1 of `name`; those that do not exist yet are made with
// `options`. An engine that exists with other options is an error. The error is one sentence.
std::expected<Engines, std::string> open_engines(std::string_view name, unsigned count,
                                                 const EngineOptions& options);

}  // namespace sheaf::store::pipe
