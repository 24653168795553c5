#pragma once

// One look-up of SRV records: which name server is asked next, over which transport, and for how
// long. It follows the C library: one server after the other, all again with twice the time if one
// was silent, and over TCP if the answer does not fit in a UDP message.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/result.h>

#include "base/clock.h"
#include "extras/discovery/dns/message.h"

namespace sheaf::discovery::dns {

class SrvLookup {
 public:
  struct Attempt {
    std::size_t server = 0;
    bool tcp = false;
    Deadline until{0};
  };

  // Needs at least one server.
  SrvLookup(std::size_t servers, Deadline deadline) : servers_(servers), deadline_(deadline) {}

  // The next attempt; nothing if the look-up is over.
  std::optional<Attempt> next(Deadline now);
  // How the attempt from next() ended: call one of these.
  void on_answer(SrvAnswer answer);
  void on_malformed();
  void on_silence();                        // until the end of its time
  void on_failure(const std::string& why);  // the server could not be asked

  // Only once it is over: at least one record, or why there are none. The text lacks its subject,
  // the name.
  Result<std::vector<SrvRecord>> take();

 private:
  void end(Error why);
  void go_on(Error why);

  std::size_t servers_;
  Deadline deadline_;
  std::size_t server_ = 0;
  unsigned round_ = 0;
  bool tcp_ = false;
  bool silence_ = false;  // a server was silent in this round
  bool over_ = false;
  std::optional<Error> error_;  // the latest failure
  std::vector<SrvRecord> records_;
};

}  // namespace sheaf::discovery::dns
