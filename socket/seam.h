#pragma once

// The seam: all that differs between production (libuv, TCP), the in-process pipe and simulation.
//
// Life rules
//  1 Every object belongs to one Loop and is touched only under that loop's baton.
//  2 Results come only as sink calls out of Loop::turn(), never from inside a call on the object.
//  3 unique_ptr owns; after a destructor no sink is called.
//  4 A sink outlives what it was handed to; on_closed and on_done are the last call, at most once.
//  5 Nothing throws.
//  6 A sink may destroy the object that calls it, as the last thing it does in that call.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sheaf/result.h>

#include "base/bytes.h"
#include "base/clock.h"

namespace sheaf::socket {

// Where to connect: a configured host and port. `host` is a name or an address (IPv6 without
// brackets).
struct Endpoint {
  std::string host;  // or the path of a Unix socket
  std::uint16_t port = 0;
};

class StreamSink {
 public:
  virtual std::span<std::byte> read_space() = 0;  // empty: reading pauses until the next turn
  virtual void on_read(std::size_t size, Now now) = 0;
  virtual void on_writable(Now now) = 0;           // only after write() took less than all
  virtual void on_closed(int error, Now now) = 0;  // errno value; 0 = orderly end
  // True while more is expected from the peer: what came is acknowledged at once.
  virtual bool expecting() const { return true; }

 protected:
  ~StreamSink() = default;
};

struct Encryption {
  std::string_view name;  // "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty: it is not encrypted
  // When the certificate that the peer has shown ends, on the wall clock; nothing: it showed none.
  std::optional<std::chrono::milliseconds> certificate_end;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // Takes what it can now and says how much; less than all: on_writable follows.
  virtual std::size_t write(std::span<const Bytes> parts) = 0;
  // In on_closed with an error: why, as one clause; empty: the errno value says it.
  virtual std::string_view failure() const { return {}; }
  // In on_closed with an error: the peer does not take us for who we are. Soon trying again is
  // useless.
  virtual bool refused() const { return false; }
  virtual Encryption encryption() const { return {}; }
};

struct DialFailure {
  std::string text;  // one clause, "connection refused"
  // The peer is not who it should be, or does not take us for who we are: soon trying again is
  // useless.
  bool refused = false;
  // There was nothing to log in with: the peer has not been asked.
  bool login = false;
  bool no_tls = false;  // the peer was reached, and the handshake did not come to its end
};

class DialSink {
 public:
  virtual void on_connected(std::unique_ptr<Stream> stream, Now now) = 0;
  virtual void on_dial_failed(DialFailure why, Now now) = 0;

 protected:
  ~DialSink() = default;
};

// A dial in progress; destroying it cancels.
class Dial {
 public:
  virtual ~Dial() = default;
};

// Resolves and connects. Gives up at `deadline` with on_dial_failed.
class Dialer {
 public:
  virtual ~Dialer() = default;
  virtual std::unique_ptr<Dial> dial(const Endpoint& endpoint, Deadline deadline,
                                     DialSink& dial_sink, StreamSink& stream_sink) = 0;
  // A server did not take the login of a connection that was made here.
  virtual void on_login_refused(Now /*now*/) {}
  // When the certificate ends that the next connection will show, on the wall clock; nothing: it
  // will show none.
  virtual std::optional<std::chrono::milliseconds> certificate_end() { return {}; }
};

class TimerSink {
 public:
  virtual void on_timer(Now now) = 0;

 protected:
  ~TimerSink() = default;
};

class Timer {
 public:
  virtual ~Timer() = default;
  virtual void set(Deadline deadline) = 0;  // replaces an earlier setting
  virtual void cancel() = 0;
};

// Work to be done before the loop next waits; may be put off again from inside run_deferred().
class Deferred {
 public:
  virtual void run_deferred(Now now) = 0;

 protected:
  ~Deferred() = default;
};

class Loop {
 public:
  virtual ~Loop() = default;
  virtual Now now() const = 0;  // fixed during a turn
  // Runs deferred work; waits for something to happen, at most until `until`; READS all that is
  // ready, then fires due timers, then runs deferred work again. `until` <= now: does not wait.
  virtual void turn(Deadline until) = 0;
  // Any thread: ends the wait in progress or the next one.
  virtual void wake() noexcept = 0;
  virtual std::unique_ptr<Timer> timer(TimerSink& sink) = 0;
  virtual void defer(Deferred& work) = 0;            // once, even if asked twice
  virtual void forget(Deferred& work) noexcept = 0;  // before `work` dies
  // How late timers fired in this turn because nobody ran the loop (process stopped, starved):
  // deadlines that passed meanwhile are not the peer's fault.
  virtual std::chrono::nanoseconds lateness() const = 0;
};

// How a turn waits for something to happen.
enum class Wait : std::uint8_t {
  sleep,  // in the kernel
  spin,   // polls without sleeping first, if the loop spins at all and while it pays
  // In the read of the only connection, which is less work for the kernel than to report that there
  // are bytes and then to read them. The loop notices everything else, wake() and new work too,
  // up to 20 ms late. It sleeps instead if there are more connections or if little time is left.
  read,
};

// Who may have work for a loop that is about to wait. Called by the thread that turns the loop.
class IdleHook {
 public:
  // Asked by a loop that polls without sleeping: is there work, so that it should end the turn?
  virtual bool has_work() noexcept = 0;
  // Asked before the loop sleeps. False: it ends the turn instead. True: new work calls wake().
  virtual bool may_sleep() noexcept = 0;

 protected:
  ~IdleHook() = default;
};

// A loop that several threads take turns at driving, and that other threads give work to: what a
// Lane needs of its loop.
class DrivenLoop : public Loop {
 public:
  // Reads the clocks, for work that is done between turns.
  virtual Now refresh() noexcept = 0;
  // The turn in progress, or the next one, does not wait.
  virtual void do_not_wait() noexcept = 0;
  // How turns wait from now on. A new loop sleeps.
  virtual void wait_by(Wait wait) noexcept = 0;
  // Whether this loop polls without sleeping when it is asked to.
  virtual bool spins() const noexcept = 0;
  // Null: nobody. The hook outlives the turns in which it is asked.
  virtual void set_idle_hook(IdleHook* hook) noexcept = 0;
  // Any thread: wakes the loop, whose next turn runs the work as deferred work; once, even if it is
  // posted again before that.
  virtual void post(Deferred& work) noexcept = 0;
  // When nobody can post the work any more: it will not be run.
  virtual void cancel(Deferred& work) noexcept = 0;
  // When it is to be turned again without an occasion: at once (0) unless nothing has happened in
  // the latest turn, for only then has the kernel been asked for all that is waited for; else when
  // the next timer is due, `never` if none is set.
  virtual Deadline next_turn() const noexcept = 0;
  // Readable while the kernel has something for a turn, timers and deferred work apart. Any thread.
  virtual int descriptor() const noexcept = 0;
  // In a forked child: closes every descriptor and leaves the rest alone. The loop must be leaked
  // afterwards.
  virtual void close_descriptors() noexcept = 0;
};

}  // namespace sheaf::socket
