// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/endpoint_kinds.h"

namespace sheaf::protocol {

std::span<const EndpointTraits> endpoint_kinds() noexcept { return product_kinds(); }

}  // namespace sheaf::protocol
