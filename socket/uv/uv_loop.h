#pragma once

// The production loop and dialer: libuv's uv_poll on sockets of ours. libuv's own stream writes
// raise SIGPIPE and its timers fire before reads, so neither is used.
//
// Thread rule: as Loop; wake() alone may come from any thread.

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "socket/seam.h"

namespace sheaf::socket {

// How a turn waits before it sleeps in the kernel.
struct SpinPolicy {
  bool enabled = true;
  std::chrono::nanoseconds budget{50'000};  // at most this long, only while it pays
};

// How a turn waits for something to happen.
enum class Wait : std::uint8_t {
  sleep,  // in the kernel
  spin,   // polls first, if the policy has it and it pays
  // In the read of the only connection: less work for the kernel than to be told of bytes and then
  // to read them. All else, wake() and new work, too, is noticed only after `longest_read`. Sleeps
  // instead if there are more connections, or if the wait is to end within twice that.
  read,
};
inline constexpr std::chrono::milliseconds longest_read{20};

// Who may have work for a loop that waits. Asked by the thread that turns it.
class SpinGuest {
 public:
  virtual bool has_work() noexcept = 0;   // the loop polls without sleeping: shall it end the turn?
  virtual bool may_sleep() noexcept = 0;  // false: end the turn; true: wake() comes with new work

 protected:
  ~SpinGuest() = default;
};

class UvLoop final : public Loop {
 public:
  // Fails when descriptors are exhausted; the text says so.
  static std::expected<std::unique_ptr<UvLoop>, std::string> create(SpinPolicy spin);
  ~UvLoop() override;

  Now now() const override;
  void turn(Deadline until) override;
  void wake() noexcept override;
  std::unique_ptr<Timer> timer(TimerSink& sink) override;
  void defer(Deferred& work) override;
  void forget(Deferred& work) noexcept override;
  std::chrono::nanoseconds lateness() const override;

  // Reads the clocks, for work that is done between turns.
  Now refresh() noexcept;
  // The turn in progress, or the next one, does not wait.
  void hurry() noexcept;
  // Any thread: wakes the loop, whose next turn runs the work as deferred work; once, even if asked
  // again before that.
  void summon(Deferred& work) noexcept;
  // When nobody can summon the work any more: it will not be run.
  void dismiss(Deferred& work) noexcept;
  // How turns wait from now on; sleep until told otherwise.
  void wait_by(Wait wait) noexcept;
  bool spins() const noexcept;  // by its policy
  // Who is asked before the loop sleeps; it outlives the loop's turns.
  void set_guest(SpinGuest* guest) noexcept;

  // In a forked child: closes every descriptor and forgets the rest. The object must be leaked
  // after it.
  void close_descriptors() noexcept;

  // TCP: resolves names (libuv's pool threads, only for names), connects, TCP_NODELAY, keep-alive.
  std::unique_ptr<Dialer> tcp_dialer();

  class Impl;

 private:
  explicit UvLoop(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sheaf::socket
