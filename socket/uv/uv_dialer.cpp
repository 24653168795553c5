#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <cstring>

#include "socket/uv/uv_loop.h"
#include "socket/uv/uv_resolver.h"
#include "socket/uv/uv_stream.h"

namespace sheaf::socket {
namespace {

void set_option(int fd, int level, int name, int value) noexcept {
  setsockopt(fd, level, name, &value, sizeof value);
}

// Detects half-open connections early: the kernel's defaults take 2 h (keep-alive) or 15 min
// (retransmission).
void prepare(int fd) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

// Resolves the name, then tries each address in turn until one accepts or the deadline comes.
class UvDial final : public Dial, private ResolveSink, private TimerSink, private Deferred {
 public:
  UvDial(UvLoop& loop, UvResolver& resolver, const Endpoint& endpoint, Deadline deadline,
         DialSink& dial_sink, StreamSink& stream_sink)
      : loop_(loop), dial_sink_(dial_sink), stream_sink_(stream_sink) {
    timer_ = loop_.timer(*this);
    timer_->set(deadline);
    lookup_ = resolver.resolve(endpoint, *this);
    loop_.direct_reads().dial_begins();  // nothing after this may throw
  }
  ~UvDial() override {
    loop_.forget(*this);
    loop_.direct_reads().dial_ends();
    drop();
  }
  UvDial(const UvDial&) = delete;
  UvDial& operator=(const UvDial&) = delete;

 private:
  void on_resolved(std::vector<Address> addresses, std::string error) override {
    lookup_.reset();
    addresses_ = std::move(addresses);
    last_error_ = std::move(error);
    connect_next();
  }
  void on_timer(Now now) override {
    const bool unresolved = poll_ == nullptr && lookup_ != nullptr;
    dial_sink_.on_dial_failed({unresolved ? "name look-up timed out" : "connect timed out"}, now);
  }
  void run_deferred(Now now) override { dial_sink_.on_dial_failed({last_error_}, now); }

  void connect_next();
  bool begin(const Address& address);
  void on_writable();
  void drop() noexcept;

  UvLoop& loop_;
  DialSink& dial_sink_;
  StreamSink& stream_sink_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Lookup> lookup_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::string last_error_ = "no address";
  int fd_ = -1;
  PollHandle poll_;
};

void UvDial::connect_next() {
  drop();
  while (next_ < addresses_.size()) {
    if (begin(addresses_[next_++])) return;
    drop();
  }
  loop_.defer(*this);
}

bool UvDial::begin(const Address& address) {
  const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
  fd_ = ::socket(raw->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) {
    last_error_ = std::strerror(errno);
    return false;
  }
  if (raw->sa_family != AF_UNIX) prepare(fd_);
  int result = 0;
  do {
    result = connect(fd_, raw, address.size);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINPROGRESS) {
    last_error_ = std::strerror(errno);
    return false;
  }
  loop_.track(fd_);
  poll_ = make_poll(loop_.raw(), fd_, this);
  uv_poll_start(poll_.get(), UV_WRITABLE, [](uv_poll_t* handle, int, int) {
    static_cast<UvDial*>(handle->data)->on_writable();
  });
  return true;
}

void UvDial::on_writable() {
  const Now now = loop_.now_in_turn();
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    last_error_ = std::strerror(error);
    connect_next();
    return;
  }
  // A descriptor has one handle at a time, so this one is closed before the stream makes its own.
  const int fd = fd_;
  fd_ = -1;
  loop_.untrack(fd);
  drop();
  timer_->cancel();
  dial_sink_.on_connected(make_uv_stream(loop_, fd, stream_sink_), now);
}

void UvDial::drop() noexcept {
  poll_.reset();
  if (fd_ >= 0) {
    loop_.untrack(fd_);
    close(fd_);
    fd_ = -1;
  }
}

class TcpDialer final : public Dialer {
 public:
  explicit TcpDialer(UvLoop& loop) : loop_(loop), resolver_(loop) {}
  std::unique_ptr<Dial> dial(const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink,
                             StreamSink& stream_sink) override {
    return std::make_unique<UvDial>(loop_, resolver_, endpoint, deadline, dial_sink, stream_sink);
  }

 private:
  UvLoop& loop_;
  UvResolver resolver_;
};

}  // namespace

std::unique_ptr<Dialer> make_tcp_dialer(UvLoop& loop) { return std::make_unique<TcpDialer>(loop); }

}  // namespace sheaf::socket
