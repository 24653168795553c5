#pragma once

// QoS 1 deliveries to one client: packet identifiers in flight, bounded by the client's Receive
// Maximum (MQTT 5 section 3.3.4), and encoded packets that wait for room, bounded by the host's
// limits.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace sheaf::store::server {

class OutgoingWindow {
 public:
  // An encoded PUBLISH. Its packet identifier, two bytes at `id_at`, is not written yet.
  struct Waiting {
    std::string packet;
    std::size_t id_at = 0;
  };

  OutgoingWindow(std::size_t max_waiting, std::size_t max_waiting_bytes)
      : max_waiting_(max_waiting), max_bytes_(max_waiting_bytes) {}

  void set_receive_maximum(std::uint16_t maximum) { receive_maximum_ = maximum; }

  // The next free identifier, never 0; nothing while the client's Receive Maximum is reached.
  std::optional<std::uint16_t> acquire();
  // A PUBACK has arrived. Returns false if the identifier was not in flight.
  bool release(std::uint16_t id);

  // Returns false if the bound is reached, and drops the packet.
  bool push(Waiting waiting);
  // The oldest waiting packet, with its identifier written, if there is room for it.
  std::optional<std::string> pop();

  std::size_t in_flight() const { return in_flight_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  std::size_t max_waiting_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint16_t receive_maximum_ = 65535;  // section 3.1.2.11.3
  std::uint16_t last_id_ = 0;
  std::size_t in_flight_ = 0;
  std::vector<bool> used_;  // by identifier; made with the first delivery
  std::deque<Waiting> waiting_;
};

}  // namespace sheaf::store::server
