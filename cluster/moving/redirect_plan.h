#pragma once

// RedirectPlan: where a request goes after a server has redirected it. Each redirected request has
// one; most requests never do.
//
// | answer                          | then                                                      |
// |---------------------------------|-----------------------------------------------------------|
// | moved                           | goes there at once; the slot is mended, the map wanted    |
// | moved or ask, to a server that  | the same after 2 ms, doubling up to 250 ms: two servers   |
// | was asked before                | disagree                                                  |
// | moved, to the answering server  | the same, over a new connection                           |
// | ask                             | goes there once, after ASKING; nothing is learned         |
// | moved or ask, without a server  | as later                                                  |
// | moved or ask, for another slot  | fails: the caller has not named the key of a command      |
// | later                           | the same server after 5 ms, doubling up to 250 ms         |
// | moved or ask for the 7th time,  | the same, however many servers there are                  |
// | with no "later" in between      |                                                           |
// | moved or ask, to a server that  | as later, while the map may name it yet (strangers.h); if |
// | is not allowed                  | it does not, fails as not_authorized                      |
// | moved or ask, of a request that | fails as if its connection had ended                      |
// | belongs to one connection       |                                                           |
// | any, with no time left          | fails as timed_out, or with the cause of the wait         |
//
// A server that redirects has not carried out the request, so any request may be repeated until its
// deadline.
//
// While a slot moves, a request may need both: the old owner says ASK, and the new one says "later"
// until the last of the keys has arrived. Such a cycle is one wait: a hop back to a server that was
// asked before does not restart the back-off. A wait resets the count of hops, and the hop after it
// is immediate.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/result.h>

#include "base/clock.h"

namespace sheaf::cluster {

// What a server said instead of a result.
struct RedirectAnswer {
  enum class Kind : std::uint8_t { moved, ask, later };
  Kind kind = Kind::later;
  std::string_view from;      // identity of the server that says so
  std::string_view target;    // identity; empty: no known server. Not for `later`
  bool allowed = false;       // the target is a member of the cluster, or its host is allowed
  std::string_view text;      // the server's text
  bool may_be_named = false;  // it is not allowed, but the map that is fetched next may name it
  std::string_view obstacle = "redirects to this server are not allowed";  // if it does not
  bool other_slot = false;        // it names another slot than that of the request's key
  std::optional<Reason> cause{};  // how it ends if it waits in vain
};

struct RedirectTerms {
  Deadline deadline = never;
  bool bound = false;  // may not go to another connection
};

struct RedirectStep {
  enum class Kind : std::uint8_t {
    send,         // to `target`
    send_asking,  // to `target`, with ASKING directly before it
    fail          // with the error
  };
  Kind kind = Kind::fail;
  std::string target;      // identity
  Deadline at{0};          // not before
  bool mend = false;       // `target` owns the slot from now on
  bool want_map = false;   // ask for the whole map (map_calm.h)
  bool need_map = false;   // and the request cannot continue without it
  bool reconnect = false;  // over a new connection
  Outcome outcome = Outcome::refused;
  Reason reason = Reason::other;
  std::string text;
};

struct RedirectOptions {
  unsigned quick_hops = 6;
  std::chrono::nanoseconds bounce = std::chrono::milliseconds(2);  // doubled up to `most`
  std::chrono::nanoseconds later = std::chrono::milliseconds(5);   // doubled up to `most`
  std::chrono::nanoseconds most = std::chrono::milliseconds(250);
};

class RedirectPlan {
 public:
  explicit RedirectPlan(const RedirectOptions& options = {}) : options_(options) {}

  RedirectStep next(const RedirectAnswer& answer, const RedirectTerms& terms, Now now);

 private:
  RedirectStep follow(const RedirectAnswer& answer, Now now);
  RedirectStep wait(const RedirectAnswer& answer, Now now);
  bool has_asked(std::string_view server) const;

  RedirectOptions options_;
  std::vector<std::string> asked_;  // servers that answered or that it was sent to
  // Since the latest wait.
  unsigned hops_ = 0;
  unsigned bounces_ = 0;
  bool waited_ = false;  // and no hop since
  unsigned waits_ = 0;   // since the latest hop to a server that had not been asked before
};

}  // namespace sheaf::cluster
