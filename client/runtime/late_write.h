#pragma once

// LateWrite: a write over an extra connection that ended without an answer, and that the server may
// still carry out. No later operation on its key may overtake it. So operations on the key wait in
// the client's own cluster until the server has answered what was asked after the write: on the
// connection of the write, or if that has closed, on the next one. They wait 5 s at most; a server
// that has not been reached by then may carry out the write later.
//
//   new --begin()--> asked --answered, the client closes, or 5 s are over--> ended
//                    asked --not answered--> pauses --100 ms--> asked
//
// Thread rule: made, and begun, by the caller of the write. Then it belongs to the lane of its
// extra connection, where it may be destroyed after on_key_free().

#include <memory>
#include <string>
#include <string_view>

#include "client/runtime/path.h"
#include "socket/lane/post.h"

namespace sheaf::client::runtime {

class LateWriteOwner {
 public:
  // The last call, on the client's own lane.
  virtual void on_key_free() noexcept = 0;

 protected:
  ~LateWriteOwner() = default;
};

class LateWrite final : private socket::RequestSink, private socket::TimerSink {
 public:
  // `own` is the client's path, `other` the one that carried the write to the node.
  LateWrite(Path& own, Path& other, std::uint32_t node, std::string_view key,
            LateWriteOwner& owner);
  LateWrite(const LateWrite&) = delete;
  LateWrite& operator=(const LateWrite&) = delete;

  // Returns when operations on the key wait.
  void begin() noexcept;

 private:
  void ask(Now now);
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void on_timer(Now now) override { ask(now); }
  void end() noexcept;
  void free_key(Now now);

  Path& own_;
  Path& other_;
  const std::uint32_t node_;
  const std::string key_;
  LateWriteOwner& owner_;
  cluster::Request place_;     // of the write among the operations on its key
  cluster::Request question_;  // to the server
  std::unique_ptr<socket::Timer> timer_;
  socket::MemberTask<LateWrite> ask_{*this, &LateWrite::ask};
  socket::MemberTask<LateWrite> free_key_{*this, &LateWrite::free_key};
};

}  // namespace sheaf::client::runtime
