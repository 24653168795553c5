#pragma once

// A server that sends back what it gets, for tests of the simulation itself.

#include <string>

#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

class EchoPeer final : public SimPeer {
 public:
  EchoPeer(SimConnection& connection, std::string& received, int& ended)
      : connection_(connection), received_(received), ended_(ended) {}
  std::size_t on_bytes(std::string_view bytes, Now) override {
    if (bytes.starts_with('Q')) {
      connection_.end();
      return bytes.size();
    }
    const std::size_t taken = connection_.send(bytes);
    received_.append(bytes.substr(0, taken));
    return taken;
  }
  void on_writable(Now) override {}
  void on_end(Now) override { ++ended_; }

 private:
  SimConnection& connection_;
  std::string& received_;
  int& ended_;
};

struct EchoLog {
  std::string received;  // by all processes on the port
  int ended = 0;         // connections that the process has seen end
  int starts = 0;
  Deadline tick_every = never;
  std::vector<Now> ticks;
};

class EchoService final : public SimService {
 public:
  EchoService(EchoLog& log, Now now) : log_(log) {
    ++log_.starts;
    if (log_.tick_every != never) next_ = now.mono + log_.tick_every;
  }
  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now) override {
    return std::make_unique<EchoPeer>(connection, log_.received, log_.ended);
  }
  void tick(Now now) override {
    log_.ticks.push_back(now);
    if (next_ != never) next_ = now.mono + log_.tick_every;
  }
  Deadline next_tick() const override { return next_; }

  static SimServer::Start start(EchoLog& log) {
    return [&log](Now now) { return std::make_unique<EchoService>(log, now); };
  }

 private:
  EchoLog& log_;
  Deadline next_ = never;
};

// A client's end of one connection, which records what it receives.
struct Caller final : socket::StreamSink, socket::DialSink {
  std::unique_ptr<socket::Dial> dial;
  std::unique_ptr<socket::Stream> stream;
  std::string received;
  std::string failed;
  std::vector<std::size_t> reads;
  std::size_t space_size = 64 * 1024;
  bool reading = true;
  int writable = 0;
  int closed = 0;
  int error = 0;
  Now when;  // of the last call

  void call(socket::Dialer& dialer, const std::string& host, std::uint16_t port, Deadline until) {
    dial = dialer.dial({host, port}, until, *this, *this);
  }
  std::size_t write(std::string_view text) {
    const Bytes parts[] = {as_bytes(text)};
    return stream->write(parts);
  }

  void on_connected(std::unique_ptr<socket::Stream> made, Now now) override {
    stream = std::move(made);
    when = now;
    dial.reset();
  }
  void on_dial_failed(socket::DialFailure why, Now now) override {
    failed = std::move(why.text);
    when = now;
    dial.reset();
  }
  std::span<std::byte> read_space() override {
    space_.resize(reading ? space_size : 0);
    return std::as_writable_bytes(std::span(space_));
  }
  void on_read(std::size_t size, Now now) override {
    received.append(space_, 0, size);
    reads.push_back(size);
    when = now;
  }
  void on_writable(Now now) override {
    ++writable;
    when = now;
  }
  void on_closed(int code, Now now) override {
    ++closed;
    error = code;
    when = now;
    stream.reset();  // allowed: the last action in the call (life rule 6)
  }

 private:
  std::string space_;
};

}  // namespace sheaf::sim
