#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "socket/address_race.h"
#include "socket/own_pause.h"
#include "socket/useless_addresses.h"
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

// An address that only this machine cannot reach says less than what another one has answered.
bool is_unreachable(int error) noexcept {
  return error == ENETUNREACH || error == EHOSTUNREACH || error == EADDRNOTAVAIL ||
         error == EAFNOSUPPORT;
}

// What all dials of a dialer share.
struct Ways {
  UvLoop& loop;
  UvResolver& resolver;
  const std::shared_ptr<UselessAddresses>& useless;
};

// Resolves the name and tries its addresses as AddressRace says, until one accepts or the deadline
// comes. If the name server is slow, the addresses of the last good look-up serve.
class UvDial final : public Dial, private ResolveSink, private TimerSink, private Deferred {
 public:
  UvDial(const Ways& ways, const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink,
         StreamSink& stream_sink)
      : loop_(ways.loop),
        useless_(ways.useless),
        dial_sink_(dial_sink),
        stream_sink_(stream_sink),
        deadline_(deadline) {
    timer_ = loop_.timer(*this);
    lookup_ = ways.resolver.resolve(endpoint, *this);
    const Deadline now = loop_.now().mono;
    timer_->set(std::min(now + patience, now + (deadline - now) / 2));
    loop_.direct_reads().dial_begins();  // nothing after this may throw
  }
  ~UvDial() override {
    loop_.forget(*this);
    loop_.direct_reads().dial_ends();
  }
  UvDial(const UvDial&) = delete;
  UvDial& operator=(const UvDial&) = delete;

 private:
  // A socket that is connecting to the address at this place.
  class Attempt {
   public:
    Attempt(UvDial& dial, std::size_t place) noexcept : dial_(dial), place_(place) {}
    ~Attempt();
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    // Returns 0 or an errno value.
    int begin(const Address& address);
    std::size_t place() const noexcept { return place_; }
    int error() const noexcept;
    // Hands the descriptor out. A descriptor has one handle at a time, so ours is closed.
    int release() noexcept;

   private:
    UvDial& dial_;
    const std::size_t place_;
    int fd_ = -1;
    PollHandle poll_;
  };

  void on_resolved(std::vector<Address> addresses, std::string error) override;
  void on_timer(Now now) override;
  void run_deferred(Now now) override { dial_sink_.on_dial_failed({last_error_}, now); }

  void proceed(Deadline now);
  void on_writable(Attempt& attempt);
  void note(int error);

  // How long a look-up may take, with half of the time that there is, before its last good answer
  // is used.
  static constexpr std::chrono::seconds patience{1};

  UvLoop& loop_;
  const std::shared_ptr<UselessAddresses> useless_;
  DialSink& dial_sink_;
  StreamSink& stream_sink_;
  Deadline deadline_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Lookup> lookup_;  // until it is over
  std::vector<Address> addresses_;
  std::optional<AddressRace> race_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
  std::string last_error_ = "no address";
  bool answered_ = false;  // last_error_ is a peer's
};

UvDial::Attempt::~Attempt() {
  poll_.reset();
  if (fd_ < 0) return;
  dial_.loop_.untrack(fd_);
  close(fd_);
}

int UvDial::Attempt::begin(const Address& address) {
  const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
  fd_ = ::socket(raw->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return errno;
  dial_.loop_.track(fd_);
  if (raw->sa_family != AF_UNIX) prepare(fd_);
  int result = 0;
  do {
    result = connect(fd_, raw, address.size);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINPROGRESS) return errno;
  poll_ = make_poll(dial_.loop_.raw(), fd_, this);
  uv_poll_start(poll_.get(), UV_WRITABLE, [](uv_poll_t* handle, int, int) {
    auto& attempt = *static_cast<Attempt*>(handle->data);
    attempt.dial_.on_writable(attempt);
  });
  return 0;
}

int UvDial::Attempt::error() const noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

int UvDial::Attempt::release() noexcept {
  dial_.loop_.untrack(fd_);
  poll_.reset();
  return std::exchange(fd_, -1);
}

void UvDial::on_resolved(std::vector<Address> addresses, std::string error) {
  lookup_.reset();
  addresses_ = std::move(addresses);
  if (addresses_.empty()) last_error_ = std::move(error);
  const Deadline now = loop_.now().mono;
  std::vector<AddressRace::Racer> racers;
  for (const Address& address : addresses_) {
    racers.push_back({address.storage.ss_family, useless_->contains(key_of(address), now)});
  }
  race_.emplace(racers, now, deadline_);
  proceed(now);
}

// Begins the attempts that are due.
void UvDial::proceed(Deadline now) {
  while (const auto place = race_->next(now)) {
    auto attempt = std::make_unique<Attempt>(*this, *place);
    if (const int error = attempt->begin(addresses_[*place]); error != 0) {
      note(error);
      race_->on_failed();
      continue;
    }
    attempts_.push_back(std::move(attempt));
  }
  if (race_->lost()) {
    timer_->cancel();
    loop_.defer(*this);
  } else {
    timer_->set(std::min(deadline_, race_->poll_deadline()));
  }
}

void UvDial::on_timer(Now now) {
  if (now.mono >= deadline_) deadline_ = excused_deadline(loop_, now).value_or(deadline_);
  if (now.mono < deadline_) {
    if (race_) return proceed(now.mono);
    timer_->set(deadline_);
    return lookup_->use_last_good();
  }
  std::string text = race_ ? "connect timed out" : "name look-up timed out";
  if (race_ && race_->begun() > 1) {
    text.append(" (").append(std::to_string(race_->begun())).append(" addresses tried)");
  }
  dial_sink_.on_dial_failed({std::move(text)}, now);
}

void UvDial::on_writable(Attempt& attempt) {
  const Now now = loop_.now_in_turn();
  if (const int error = attempt.error(); error != 0) {
    std::erase_if(attempts_, [&](const auto& one) { return one.get() == &attempt; });
    note(error);
    race_->on_failed();
    return proceed(now.mono);
  }
  // Those that began earlier were overtaken: the next dial does not wait for them again.
  for (const auto& other : attempts_) {
    if (other.get() == &attempt) break;
    useless_->note(key_of(addresses_[other->place()]), now.mono);
  }
  // Only a name that has other addresses profits from what is learned of this one.
  std::string key = addresses_.size() > 1 ? key_of(addresses_[attempt.place()]) : std::string();
  const int fd = attempt.release();
  attempts_.clear();
  timer_->cancel();
  dial_sink_.on_connected(make_uv_stream(loop_, fd, stream_sink_, {useless_, std::move(key)}), now);
}

void UvDial::note(int error) {
  const bool answered = !is_unreachable(error);
  if (answered_ && !answered) return;
  answered_ = answered;
  last_error_ = std::strerror(error);
}

class TcpDialer final : public Dialer {
 public:
  explicit TcpDialer(UvLoop& loop) : loop_(loop), resolver_(loop) {}
  std::unique_ptr<Dial> dial(const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink,
                             StreamSink& stream_sink) override {
    return std::make_unique<UvDial>(Ways{loop_, resolver_, useless_}, endpoint, deadline, dial_sink,
                                    stream_sink);
  }

 private:
  UvLoop& loop_;
  UvResolver resolver_;
  const std::shared_ptr<UselessAddresses> useless_ = std::make_shared<UselessAddresses>();
};

}  // namespace

std::unique_ptr<Dialer> make_tcp_dialer(UvLoop& loop) { return std::make_unique<TcpDialer>(loop); }

}  // namespace sheaf::socket
