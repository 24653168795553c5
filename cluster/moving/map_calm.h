#pragma once

// MapCalm: when a client asks its cluster for the whole map of slots. A redirect mends its one slot
// at once, so the map is never urgent, and thousands of clients that are redirected at the same
// moment must not all ask at that moment.
//
// - One request at a time serves all that want the map, and there is at most one per second.
// - It starts after a random part of a time that grows with the cluster: 10 ms for each server, up
//   to 1 s at 100 servers, then up to 30 s at 1,000.
// - A map that is wanted early costs credit. Credit grows by one in each idle interval, so in the
//   long run a client asks at most twice as often as a client without redirects. The last credit is
//   reserved for when the map is needed: requests are sent to a server that no map has named, or
//   another server has taken over from one that is down.
// - A map that is needed is fetched even without credit, but not within 5 s of the latest one.
//   Requests fail meanwhile, so an idle interval would be too long.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/random.h"

namespace sheaf::cluster {

struct MapCalmOptions {
  std::chrono::nanoseconds least = std::chrono::seconds(1);   // between two requests
  std::chrono::nanoseconds idle = std::chrono::seconds(45);   // x 0.67-1.33: without an occasion
  std::chrono::nanoseconds needed = std::chrono::seconds(5);  // between two without credit
  unsigned most_credit = 4;
  bool known = true;  // the first map is known; otherwise it is asked for at once
};

class MapCalm {
 public:
  MapCalm(const Seed& seed, Now now, const MapCalmOptions& options = {});

  // The map is wanted: a slot has moved or has no owner. `servers`: the size of the cluster. The
  // first map is asked for in any case.
  void want(std::size_t servers, Now now) { note(Occasion::wanted, servers, now); }
  // The same, but requests cannot continue without the map.
  void need(std::size_t servers, Now now) { note(Occasion::needed, servers, now); }
  // When to ask; `never` while an answer is awaited.
  Deadline poll_deadline() const noexcept { return asking_ ? never : ask_at_; }
  void on_asked(Now now);
  // `good`: there is a map. Otherwise another server is asked a second later.
  void on_answer(bool good, Now now);

 private:
  enum class Occasion : std::uint8_t { none, wanted, needed };

  void note(Occasion occasion, std::size_t servers, Now now);
  void earn(Now now);
  // Credit that the next request may not use.
  unsigned reserve() const noexcept { return occasion_ == Occasion::wanted ? 1 : 0; }

  MapCalmOptions options_;
  Random random_;
  unsigned credit_;
  Deadline earned_at_;  // when credit last grew
  Deadline asked_at_;
  Deadline ask_at_ = never;
  Occasion occasion_ = Occasion::none;  // for the next request
  bool asking_ = false;
  bool known_;
  Occasion meanwhile_ = Occasion::none;  // since the present request,
  std::size_t servers_meanwhile_ = 0;    // in a cluster of this size
};

}  // namespace sheaf::cluster
