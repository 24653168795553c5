#pragma once

// LateWrite: a write over an extra connection that ended without an answer, because of its deadline
// or its stop token. The server may still carry it out, and no later operation on its key may
// overtake it. So operations on the key wait in the client's own cluster until the server has
// answered what was asked after the write: on the connection of the write, or if that has closed,
// on the next one. They wait 5 s at most; a server that has not been reached by then may carry out
// the write later.
//
//   waits --start()--> asked --answered, or 5 s are over--> ended
//                      asked --not answered--> pauses --100 ms--> asked
//
// Thread rule: made by the caller of the write. Then it belongs to the lane of its extra
// connection, but for hold_key() and release_key().

#include <memory>
#include <string>
#include <string_view>

#include "client/runtime/path.h"

namespace sheaf::client::runtime {

class LateWriteOwner {
 public:
  // The last call, on the lane of the extra connection.
  virtual void on_late_write_ended() noexcept = 0;

 protected:
  ~LateWriteOwner() = default;
};

class LateWrite final : private socket::RequestSink, private socket::TimerSink {
 public:
  // `own` is the client's path, `other` the one that carried the write to the node.
  LateWrite(Path& own, Path& other, std::uint32_t node, std::string_view key,
            LateWriteOwner& owner);

  // On the client's own lane: from now on operations on the key wait, and no more.
  void hold_key() { own_.cluster().sender().hold_key(place_); }
  void release_key() { own_.cluster().sender().release_key(place_); }

  // On the lane of the extra connection.
  void start(Now now);

 private:
  void end();
  void ask(Now now);
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void on_timer(Now now) override { ask(now); }

  Path& own_;
  Path& other_;
  const std::uint32_t node_;
  const std::string key_;
  LateWriteOwner& owner_;
  cluster::Request place_;     // of the write among the operations on its key
  cluster::Request question_;  // to the server
  std::unique_ptr<socket::Timer> timer_;
};

}  // namespace sheaf::client::runtime
