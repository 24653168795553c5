#pragma once

// A proxy between broker and client that understands just enough MQTT to harm whole PUBLISH packets
// on their way to the client: it delays, drops, duplicates and swaps them. Everything else passes.
//
// Thread rule: one thread.

#include <string>

#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

struct MangleRates {
  double delay = 0;
  double drop = 0;
  double twice = 0;
  double swap = 0;  // with the next PUBLISH of the connection
  std::chrono::nanoseconds most_delay = std::chrono::milliseconds(50);
};

// Counts over all connections of a test.
struct MangleCounts {
  std::uint64_t passed = 0;
  std::uint64_t delayed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t doubled = 0;
  std::uint64_t swapped = 0;
};

class PublishMangler final : public SimMangler {
 public:
  PublishMangler(const MangleRates& rates, Random& random, MangleCounts& counts)
      : rates_(rates), random_(random), counts_(counts) {}

  void on_bytes(std::string_view bytes, const Emit& emit) override;

 private:
  void on_publish(std::string packet, const Emit& emit);

  const MangleRates& rates_;
  Random& random_;
  MangleCounts& counts_;
  std::string buffer_;  // of an incomplete packet
  std::string held_;    // sent after the next PUBLISH
};

}  // namespace sheaf::sim
