#include "socket/uv/uv_handles.h"

#include <uv.h>

namespace sheaf::socket {
namespace {

template <class Handle>
void close_and_delete(Handle* handle) noexcept {
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
}

}  // namespace

void CloseHandle::operator()(uv_poll_s* handle) const noexcept { close_and_delete(handle); }
void CloseHandle::operator()(uv_timer_s* handle) const noexcept { close_and_delete(handle); }

PollHandle make_poll(uv_loop_s* loop, int fd, void* data) {
  auto poll = std::make_unique<uv_poll_t>();
  uv_poll_init(loop, poll.get(), fd);
  poll->data = data;
  return PollHandle(poll.release());
}

}  // namespace sheaf::socket
