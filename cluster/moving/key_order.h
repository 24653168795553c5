#pragma once

// KeyOrder: keeps the operations on one key in the order of their submission while some of them are
// redirected, wait, or are on different nodes (docs/design/0049-order-of-one-key.md):
//
//   O1  An operation is sent to a node only while every earlier one on its key that has not ended
//       is on that same node, whose queue and connections keep the order. For one that is on
//       another node, which may hang, it waits at most for `patience`.
//   O2  An operation that has to be sent once more, because a server has not carried it out, is not
//       sent while a later one on its key is on a node. If the later one may have been carried out,
//       the earlier one ends.
//
// Most of the time it knows nothing and costs one comparison: as long as each key has one node and
// no request waits outside a node, both rules hold by themselves. It is active from keep(), which
// enters all requests in progress, until those have ended and nothing waits any more.
//
// | stage  | input                                       | next                               |
// |--------|---------------------------------------------|------------------------------------|
// | sent   | a server has not carried it out: hold()     | held                               |
// | held   | its time has come: may_go() allows it       | sent                               |
// | held   | the same, and may_go() does not: park()     | parked                             |
// | new    | may_go() allows it, or does not: park()     | sent, or parked                    |
// | parked | another request on its key ended, was sent  | is tried again: next_to_try()      |
// |        | or is held; a later one left its node; its  |                                    |
// |        | patience has ended                          |                                    |
// | any    | leave()                                     | forgotten                          |
//
// Pure: no socket, clock, entropy, thread or callback. Thread rule: one thread at a time. Lifetime:
// it borrows the requests, until leave().

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/moving/request.h"

namespace sheaf::cluster {

// What ends the text of an operation that a later one has overtaken.
inline constexpr std::string_view overtaken_text =
    " (not sent once more: a later operation on its key was)";

class KeyOrder {
 public:
  static constexpr std::chrono::milliseconds patience{250};

  bool active() const noexcept { return active_; }

  // A request begins, as sent. One that continues an earlier request (Request::continues) has its
  // place in the order.
  void begin(Request& request);
  // Keeps the order from now on. `for_each` calls its argument with every request in progress that
  // has begun.
  template <class ForEach>
  void keep(const ForEach& for_each) {
    if (!active_) {
      active_ = true;
      for_each([this](Request& request) { enter(request); });
    }
    newest_kept_ = last_;
    kept_ = entered_;
  }

  // True if the request may go to this node now.
  bool may_go(const Request& request, std::uint32_t node) const {
    return !active_ || request.stage_ == Request::Stage::none || is_free(request, node);
  }
  // True if a later operation on its key may have been carried out, so that the request must end.
  bool overtaken(const Request& request) const noexcept { return request.overtaken_; }
  void send(Request& request);
  void hold(Request& request);
  void park(Request& request, Now now);
  bool parked(const Request& request) const noexcept {
    return request.stage_ == Request::Stage::parked;
  }
  // The request has ended. `carried_out`: a server may have carried it out.
  void leave(Request& request, bool carried_out);

  // A parked request that may have become free; null: none. It stays the next one until it is sent,
  // held, parked again or has left.
  Request* next_to_try();
  bool has_to_try() const noexcept { return !woken_.empty(); }
  // Ends the patience of those whose time has come.
  void advance(Now now);
  Deadline poll_deadline() const noexcept { return patient_.next(); }
  // Any parked request; null: none.
  Request* any_parked() const;

 private:
  using Line = std::vector<Request*>;  // requests on one key, the earliest first

  void enter(Request& request);
  bool is_free(const Request& request, std::uint32_t node) const;
  bool follows_parked(const Request& request) const;
  static Request* first_parked(const Line& line);
  void wake(const Request& request);
  void rest() noexcept;
  void set_stage(Request& request, Request::Stage stage);

  bool active_ = false;
  std::uint64_t last_ = 0;  // the latest number given
  std::uint64_t newest_kept_ = 0;
  std::size_t kept_ = 0;  // requests up to that number that have not left
  std::size_t entered_ = 0;
  std::size_t waiting_ = 0;                        // held or parked
  std::unordered_map<std::uint64_t, Line> lines_;  // by the hash of the key
  std::vector<std::uint64_t> woken_;               // lines whose parked requests are to be tried
  DeadlineHeap<Request::Patience> patient_;        // of parked requests
};

}  // namespace sheaf::cluster
