// The table of a program with one additional kind. It replaces the product's
// (docs/design/0019-link-seams.md).
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/endpoint_kinds.h"

#include <vector>

#include "tests/toy/toy_session.h"

namespace sheaf::protocol {
namespace {

constexpr EndpointTraits toy_row{
    .kind = EndpointKind{100},
    .scheme = "toy",
    .system = "toy",
    .transport = Transport::tcp,
    .default_port = 7,
    .make_sessions = toy::make_sessions,
    .features = {Feature::rehash},
};

std::vector<EndpointTraits> one_row_more() {
  std::vector<EndpointTraits> rows(product_kinds().begin(), product_kinds().end());
  rows.push_back(toy_row);
  return rows;
}

}  // namespace

std::span<const EndpointTraits> endpoint_kinds() noexcept {
  static const std::vector<EndpointTraits> rows = one_row_more();
  return rows;
}

}  // namespace sheaf::protocol
