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

// The longest wait in a read (Wait::read).
inline constexpr std::chrono::milliseconds longest_read{20};

class UvLoop final : public DrivenLoop {
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

  Now refresh() noexcept override;
  void do_not_wait() noexcept override;
  void wait_by(Wait wait) noexcept override;
  bool spins() const noexcept override;
  void set_idle_hook(IdleHook* hook) noexcept override;
  void post(Deferred& work) noexcept override;
  void cancel(Deferred& work) noexcept override;
  void close_descriptors() noexcept override;

  // TCP: resolves names (libuv's pool threads, only for names), connects, TCP_NODELAY, keep-alive.
  std::unique_ptr<Dialer> tcp_dialer();

  class Impl;

 private:
  explicit UvLoop(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sheaf::socket
