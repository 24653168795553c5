#pragma once

// When `sheaf dev` replaces its token, certificate and authority, and which of them count until the
// next time.
//
// Each step replaces all three. A token is accepted for one more step after it was replaced. An
// authority is trusted one step before it signs the brokers' certificate, and one step after.
//
// Thread rule: one thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace sheaf::cli {

// Tokens and authorities have numbers.
struct RotationStep {
  std::uint64_t number = 0;
  std::uint64_t oldest_token = 0;  // accepted, with all newer ones
  std::uint64_t token = 0;         // the newest, which clients find
  std::uint64_t oldest_authority = 0;
  std::uint64_t signer = 0;
  std::uint64_t newest_authority = 0;

  bool operator==(const RotationStep&) const = default;
};
constexpr RotationStep rotation_step(std::uint64_t number) noexcept {
  const std::uint64_t before = number == 0 ? 0 : number - 1;
  return {number, before, number, before, number, number + 1};
}

class Rotation {
 public:
  // Step 0 begins `now`. A period of 0: it is the only one.
  Rotation(std::chrono::seconds period, Deadline now) : period_(period), next_(now + period) {}

  // The step that begins `now`, if one does. A step that begins late moves the later ones, so that
  // none is shorter than the period.
  std::optional<RotationStep> due(Deadline now);
  // How long to wait until a step may begin; negative: for ever.
  std::chrono::milliseconds pause(Deadline now) const;

 private:
  std::chrono::seconds period_;
  Deadline next_;
  std::uint64_t number_ = 0;
};

}  // namespace sheaf::cli
