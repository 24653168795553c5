#pragma once

// Owners of libuv's handles. libuv frees a handle in a later turn of its loop, after closing it.
// The types are only declared, so that libuv's header stays in the files that call it.

#include <memory>

struct uv_loop_s;
struct uv_poll_s;
struct uv_timer_s;

namespace sheaf::socket {

struct CloseHandle {
  void operator()(uv_poll_s* handle) const noexcept;
  void operator()(uv_timer_s* handle) const noexcept;
};
using PollHandle = std::unique_ptr<uv_poll_s, CloseHandle>;
using TimerHandle = std::unique_ptr<uv_timer_s, CloseHandle>;

// Makes a handle that, once started, reports when the descriptor is ready. A descriptor has one
// handle at a time.
PollHandle make_poll(uv_loop_s* loop, int fd, void* data);

}  // namespace sheaf::socket
