#include "socket/uv/uv_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace sheaf::socket {
namespace {

constexpr std::size_t max_parts = 64;
// The most reads from one connection in a turn, so that a flood does not starve the others.
constexpr int max_reads_per_turn = 16;

class UvStream final : public Stream, private Deferred, private Readable {
 public:
  UvStream(UvLoop& loop, int fd, StreamSink& sink, AddressNote note)
      : loop_(loop), fd_(fd), sink_(sink), note_(std::move(note)) {
    loop_.track(fd_);
    poll_ = make_poll(loop_.raw(), fd_, this);
    loop_.direct_reads().add(*this);  // nothing after this may throw
    listen();
  }
  ~UvStream() override {
    if (guard_ != nullptr) *guard_ = true;
    loop_.forget(*this);
    poll_.reset();
    loop_.direct_reads().remove(*this);
    loop_.untrack(fd_);
    close(fd_);
  }
  UvStream(const UvStream&) = delete;
  UvStream& operator=(const UvStream&) = delete;

  std::size_t write(std::span<const Bytes> parts) override;
  void found_useless() override {
    if (!note_.address.empty()) note_.useless->note(note_.address, loop_.now().mono);
  }

 private:
  void listen() {
    const int events = writing_ ? UV_READABLE | UV_WRITABLE : UV_READABLE;
    uv_poll_start(poll_.get(), events, [](uv_poll_t* handle, int status, int ready) {
      static_cast<UvStream*>(handle->data)->on_ready(status, ready);
    });
  }
  void on_ready(int status, int ready);
  ssize_t send_parts(std::span<const Bytes> parts) const;
  std::size_t send_some(std::span<const Bytes> parts);
  bool try_read(bool wait) override;
  bool expecting() const override { return sink_.expecting(); }
  void watch() override {
    if (!ended_) listen();
  }
  int descriptor() const noexcept override { return fd_; }
  ssize_t receive(std::span<std::byte> space, bool waiting) const;
  bool read_all(const bool& gone, bool waiting = false);
  int pending_error(int otherwise) const noexcept;
  void end(int error);
  void run_deferred(Now now) override;

  UvLoop& loop_;
  int fd_;
  StreamSink& sink_;
  AddressNote note_;
  PollHandle poll_;
  bool* guard_ = nullptr;  // set in callbacks: becomes true if the sink destroys this stream
  bool writing_ = false;   // waits for writability
  bool blocks_ = false;    // calls without MSG_DONTWAIT wait for `longest_read`
  bool wrote_ = false;     // since the last read: the write carried the ACK
  bool ended_ = false;
  int error_ = 0;
  int write_error_ = 0;
};

std::size_t UvStream::write(std::span<const Bytes> parts) {
  if (ended_ || writing_) return 0;
  std::size_t taken = 0;
  while (!parts.empty()) {
    const std::span<const Bytes> some = parts.first(std::min(parts.size(), max_parts));
    std::size_t wanted = 0;
    for (const Bytes part : some) wanted += part.size();
    const std::size_t got = send_some(some);
    taken += got;
    if (ended_) return taken;
    if (got < wanted) {
      writing_ = true;
      listen();
      return taken;
    }
    parts = parts.subspan(some.size());
  }
  return taken;
}

// A single part is sent with send(), which costs the kernel less.
ssize_t UvStream::send_parts(std::span<const Bytes> parts) const {
  constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (parts.size() == 1) return send(fd_, parts[0].data(), parts[0].size(), flags);
  std::array<iovec, max_parts> list;
  std::size_t count = 0;
  for (const Bytes part : parts) {
    list[count++] = {const_cast<std::byte*>(part.data()), part.size()};
  }
  msghdr message{};
  message.msg_iov = list.data();
  message.msg_iovlen = count;
  return sendmsg(fd_, &message, flags);
}

// Makes one system call and returns how much the kernel took.
std::size_t UvStream::send_some(std::span<const Bytes> parts) {
  ssize_t taken = 0;
  do {
    taken = send_parts(parts);
  } while (taken < 0 && errno == EINTR);
  if (taken < 0) {
    // Bytes that the peer sent before it hung up must still be read: see on_ready.
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) write_error_ = errno;
    return 0;
  }
  wrote_ = wrote_ || taken > 0;
  return static_cast<std::size_t>(taken);
}

void UvStream::on_ready(int status, int ready) {
  const Now now = loop_.now_in_turn();
  bool gone = false;
  guard_ = &gone;
  if (!ended_ && (status < 0 || write_error_ != 0)) {
    const int error = write_error_ != 0 ? write_error_ : pending_error(-status);
    if (!read_all(gone)) return;
    if (!ended_ || error_ == 0) end(error);
    guard_ = nullptr;
    return;
  }
  if (!ended_ && (ready & UV_WRITABLE) != 0) {
    writing_ = false;
    listen();
    sink_.on_writable(now);
    if (gone) return;
  }
  if (!ended_ && (ready & UV_READABLE) != 0 && !read_all(gone)) return;
  guard_ = nullptr;
}

bool UvStream::try_read(bool wait) {
  if (ended_ || writing_ || write_error_ != 0) return false;
  if (wait) {
    blocks_ = blocks_ || let_reads_wait(fd_);
    if (!blocks_) return false;
    // The kernel need not report to libuv what the read itself will see.
    if (loop_.direct_reads().is_watched(*this)) {
      uv_poll_stop(poll_.get());
      loop_.direct_reads().leave_unwatched(*this);
    }
  }
  bool gone = false;
  guard_ = &gone;
  if (read_all(gone, wait)) guard_ = nullptr;
  return true;
}

// `waiting`: waits for bytes until a signal or the time limit ends it, with an error as if there
// were none.
ssize_t UvStream::receive(std::span<std::byte> space, bool waiting) const {
  ssize_t size = 0;
  do {
    size = recv(fd_, space.data(), space.size(), waiting ? 0 : MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR && !waiting);
  return size;
}

// Returns false if the sink destroyed this stream.
bool UvStream::read_all(const bool& gone, bool waiting) {
  for (int i = 0; i < max_reads_per_turn; ++i) {
    const std::span<std::byte> space = sink_.read_space();
    if (space.empty()) break;
    const ssize_t size = receive(space, std::exchange(waiting, false));
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) break;
    const int error = errno;
    const Now now = loop_.now_in_turn();
    if (size <= 0) {
      end(size == 0 ? 0 : error);
      return true;
    }
    wrote_ = false;
    loop_.defer(*this);
    sink_.on_read(static_cast<std::size_t>(size), now);
    if (gone) return false;
    if (static_cast<std::size_t>(size) < space.size()) break;
  }
  return true;
}

// libuv reports EBADF for every socket error, so the socket itself is asked.
int UvStream::pending_error(int otherwise) const noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error == 0) return otherwise;
  return error;
}

void UvStream::end(int error) {
  ended_ = true;
  error_ = error;
  uv_poll_stop(poll_.get());
  loop_.defer(*this);
}

// Runs after the turn's reads and writes. Reports the end, or acknowledges received bytes at once
// if no write has done so while an answer is due. Otherwise a broker with Nagle's algorithm on
// would hold the reply that follows its PUBACK for 40 ms.
void UvStream::run_deferred(Now now) {
  if (ended_) {
    sink_.on_closed(error_, now);
    return;
  }
  if (wrote_ || !sink_.expecting()) return;
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

}  // namespace

std::unique_ptr<Stream> make_uv_stream(UvLoop& loop, int fd, StreamSink& sink, AddressNote note) {
  return std::make_unique<UvStream>(loop, fd, sink, std::move(note));
}

}  // namespace sheaf::socket
