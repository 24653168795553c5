// The servers of an ElastiCache cluster, from its configuration endpoint. Uses one connection on a
// loop of its own, with the dialer of the source, and so with its TLS.

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/local_error.h"
#include "base/stop_callback.h"
#include "base/text.h"
#include "extras/discovery/fleet_inquiry.h"
#include "extras/discovery/found_servers.h"
#include "extras/discovery/lookup.h"
#include "socket/dial/network_dialer.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::discovery {
namespace {

// Turns the loop until the inquiry ends.
class AskingEndpoint final : private socket::DialSink,
                             private socket::StreamSink,
                             private StopHandler {
 public:
  AskingEndpoint(socket::DrivenLoop& loop, Deadline deadline) : loop_(loop), deadline_(deadline) {}

  Result<Found> run(socket::Dialer& dialer, const socket::Endpoint& endpoint,
                    const std::stop_token* stop) {
    std::optional<StopCallback> callback;
    if (stop != nullptr && stop->stop_possible()) callback.emplace(*stop, handler());
    dial_ = dialer.dial(endpoint, deadline_, *this, *this);
    while (!inquiry_.over() && !failure_) {
      if (stop != nullptr && stop->stop_requested()) {
        fail(Outcome::unknown, Reason::cancelled, "the look-up was stopped");
      } else if (loop_.refresh().mono >= deadline_) {
        fail(Outcome::unknown, Reason::timed_out, "the server has not answered in time");
      } else {
        loop_.turn(deadline_);
      }
    }
    dial_.reset();
    stream_.reset();
    return inquiry_.over() ? take() : Failure(std::move(*failure_));
  }

 private:
  StopHandler& handler() noexcept { return *this; }
  void on_stop_requested() noexcept override { loop_.wake(); }

  void on_connected(std::unique_ptr<socket::Stream> stream, Now) override {
    stream_ = std::move(stream);
    write();
  }
  void on_dial_failed(socket::DialFailure why, Now now) override {
    const Reason other = now.mono >= deadline_ ? Reason::timed_out : Reason::connect_failed;
    fail(Outcome::not_sent, why.refused ? Reason::authentication : other, std::move(why.text));
  }
  std::span<std::byte> read_space() override { return buffer_; }
  void on_read(std::size_t size, Now) override {
    inquiry_.on_input(as_text(Bytes(buffer_).first(size)));
    write();
  }
  void on_writable(Now) override { write(); }
  void on_closed(int error, Now) override {
    const std::string_view why = stream_->failure();
    std::string text = "the connection ended before the answer arrived";
    if (!why.empty()) {
      text.append(": ").append(why);
    } else if (error != 0) {
      text.append(": ").append(std::strerror(error));
    }
    const bool refused = error != 0 && stream_->refused();
    fail(Outcome::unknown, refused ? Reason::authentication : Reason::connection_lost,
         std::move(text));
  }

  void write() {
    output_.append(inquiry_.take_output());
    if (output_.empty() || failure_) return;
    const Bytes part = as_bytes(output_);
    output_.erase(0, stream_->write({&part, 1}));
  }

  void fail(Outcome outcome, Reason reason, std::string text) {
    if (!failure_) failure_ = local_error(outcome, reason, std::move(text));
  }

  Result<Found> take() {
    auto& fleet = inquiry_.result();
    if (!fleet) {
      const Reason reason = fleet.error().by_server ? Reason::other : Reason::protocol_error;
      return Failure(local_error(Outcome::refused, reason, std::move(fleet.error().text)));
    }
    auto servers = servers_of_fleet(*fleet);
    if (servers) return Found{std::move(*servers), fleet->version};
    return Failure(
        local_error(Outcome::refused, Reason::protocol_error, std::move(servers.error())));
  }

  socket::DrivenLoop& loop_;
  Deadline deadline_;
  FleetInquiry inquiry_;
  std::optional<Error> failure_;
  std::string output_;
  std::array<std::byte, 4'096> buffer_;
  std::unique_ptr<socket::Dial> dial_;
  std::unique_ptr<socket::Stream> stream_;
};

}  // namespace

Result<Found> look_up_elasticache(const ServerSource& source, const DiscoveryOptions& options) {
  auto loop = socket::UvLoop::create({source.config.spin});
  if (!loop) {
    return Failure(local_error(Outcome::overloaded, Reason::other,
                               "no event loop could be opened: " + loop.error()));
  }
  auto dialer = socket::make_network_dialer(source.config, **loop);
  if (!dialer) return Failure(std::move(dialer.error()));
  auto found = AskingEndpoint(**loop, (*loop)->refresh().mono + options.timeout)
                   .run(**dialer, {source.host, source.port}, options.stop);
  if (!found) found.error().node = join_host_port(source.host, source.port);
  return found;
}

}  // namespace sheaf::discovery
