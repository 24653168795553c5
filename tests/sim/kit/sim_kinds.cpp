// The table of endpoint kinds of this program: the product's rows, whose sessions have a bug if a
// world has planted one (sim_transport.h). It replaces the product's table
// (docs/design/0019-link-seams.md).

#include <utility>
#include <vector>

#include "protocol/endpoint_kinds.h"
#include "tests/sim/kit/sim_transport.h"

namespace sheaf::protocol {
namespace {

class BuggySessions final : public SessionFactory {
 public:
  BuggySessions(std::unique_ptr<SessionFactory> real, sim::Bug bug)
      : real_(std::move(real)), bug_(bug) {}

  std::unique_ptr<Session> make(unsigned node, SessionUse use, Now now) override {
    return std::make_unique<sim::BuggySession>(real_->make(node, use, now), bug_);
  }
  void forget(unsigned node) override { real_->forget(node); }
  void set_login(SharedLogin login) override { real_->set_login(std::move(login)); }
  bool takes_batches(std::string_view key) const noexcept override {
    return real_->takes_batches(key);
  }
  bool sets_batches(std::string_view key, std::string_view value) const noexcept override {
    return real_->sets_batches(key, value);
  }

 private:
  std::unique_ptr<SessionFactory> real_;
  sim::Bug bug_;
};

std::unique_ptr<SessionFactory> make_sessions(const ClusterConfig& config, const Seed& seed) {
  for (const EndpointTraits& row : product_kinds()) {
    if (row.kind != config.kind) continue;
    auto real = row.make_sessions(config, seed);
    const sim::Bug bug = sim::planted_bug();
    if (bug == sim::Bug::none) return real;
    return std::make_unique<BuggySessions>(std::move(real), bug);
  }
  return nullptr;
}

std::vector<EndpointTraits> rows_with_our_sessions() {
  std::vector<EndpointTraits> rows(product_kinds().begin(), product_kinds().end());
  for (EndpointTraits& row : rows) {
    row.make_sessions = make_sessions;
  }
  return rows;
}

}  // namespace

std::span<const EndpointTraits> endpoint_kinds() noexcept {
  static const std::vector<EndpointTraits> rows = rows_with_our_sessions();
  return rows;
}

}  // namespace sheaf::protocol
