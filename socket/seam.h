#pragma once

// The seam: everything that differs between production (libuv, TCP), the in-process pipe and
// simulation.
//
// Lifetime rules
//  1 Every object belongs to one Loop and is touched only under that loop's baton.
//  2 Results arrive only as sink calls from Loop::turn(), never from inside a call on the object.
//  3 unique_ptr owns; after a destructor no sink is called.
//  4 A sink must outlive the object it was given to; on_closed and on_done come last, at most once.
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
#include "base/yielding.h"
#include "protocol/shared_input.h"

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
  virtual void on_writable(Now now) = 0;           // only after write() took a part
  virtual void on_closed(int error, Now now) = 0;  // errno value; 0 = orderly end
  // True while more is expected from the peer. Then bytes that arrive are acknowledged at once.
  virtual bool expecting() const { return true; }

 protected:
  ~StreamSink() = default;
};

struct Encryption {
  std::string_view name;  // "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty if not encrypted
  // When the certificate that the peer has shown expires, by the wall clock; nothing if it showed
  // none.
  std::optional<std::chrono::milliseconds> certificate_end;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // Takes what it can now and returns how much. If that is not all, on_writable follows.
  virtual std::size_t write(std::span<const Bytes> parts) = 0;
  // In on_closed with an error: the cause as one clause; empty if the errno value says it.
  virtual std::string_view failure() const { return {}; }
  // In on_closed with an error: the peer does not accept our identity, so a retry soon is useless.
  virtual bool refused() const { return false; }
  virtual Encryption encryption() const { return {}; }
  // No server that can be used is behind this connection. If its name has several addresses, the
  // next dial tries the others first.
  virtual void found_useless() {}
};

struct DialFailure {
  std::string text;  // one clause, "connection refused"
  // One side does not accept the other's identity, so a retry soon is useless.
  bool refused = false;
  // There were no credentials to log in with, so the peer was not contacted.
  bool login = false;
  bool not_understood = false;  // the peer was reached, but the handshake was not completed
};

class DialSink {
 public:
  virtual void on_connected(std::unique_ptr<Stream> stream, Now now) = 0;
  virtual void on_dial_failed(DialFailure why, Now now) = 0;

 protected:
  ~DialSink() = default;
};

// A dial in progress. Destroying it cancels the dial.
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
  // A server refused the login of a connection that this dialer made.
  virtual void on_login_refused(Now /*now*/) {}
  // When the certificate that the next connection will show expires, by the wall clock; nothing if
  // it will show none.
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

// Work to be done before the loop waits again. run_deferred() may defer it again.
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
  // Runs deferred work and waits for an event until `until` at the latest. Then READS everything
  // that is ready, fires due timers and runs deferred work again. Does not wait if `until` <= now.
  virtual void turn(Deadline until) = 0;
  // Any thread: ends the current wait, or the next one.
  virtual void wake() noexcept = 0;
  virtual std::unique_ptr<Timer> timer(TimerSink& sink) = 0;
  virtual void defer(Deferred& work) = 0;            // once, even if asked twice
  virtual void forget(Deferred& work) noexcept = 0;  // before `work` dies
  // Its connections read through this memory.
  protocol::SharedInput& shared_input() noexcept { return shared_input_; }
  // How late timers fired in this turn because the loop did not run (process stopped or starved):
  // the peer is not to blame for deadlines that passed in that time. A turn that was not to wait
  // is late only by its timers.
  virtual std::chrono::nanoseconds lateness() const = 0;

 private:
  protocol::SharedInput shared_input_;
};

// How a turn waits for events.
enum class Wait : std::uint8_t {
  sleep,  // in the kernel
  spin,   // polls without sleeping first, if the loop spins at all and as long as it pays
  // Waits in the read of the connection that a reply is due on, if there is just one. The kernel
  // has less work that way than with a report followed by a read. The loop notices all other
  // events, including wake() and new work, up to 20 ms late. It sleeps instead if replies are due
  // on several connections, or if little time is left.
  read,
};

// A source of work, asked by a loop that is about to wait, on the thread that turns the loop.
class IdleHook {
 public:
  // Asked by a loop that polls without sleeping: true if there is work, so that it ends the turn.
  virtual bool has_work() noexcept = 0;
  // Asked before the loop sleeps. False: the loop ends the turn instead. True: new work calls
  // wake().
  virtual bool may_sleep() noexcept = 0;

 protected:
  ~IdleHook() = default;
};

// A loop that several threads take turns at driving and that other threads give work to: what a
// Lane needs of its loop.
class DrivenLoop : public Loop {
 public:
  // Reads the clocks for work between turns.
  virtual Now refresh() noexcept = 0;
  // The turn in progress, or the next one, does not wait.
  virtual void do_not_wait() noexcept = 0;
  // Sets how turns wait from now on. A new loop sleeps.
  virtual void wait_by(Wait wait) noexcept = 0;
  // Any thread. Whether a thread that waits for this loop should yield before it sleeps.
  virtual Yielding& yielding() noexcept = 0;
  // Null: no hook. The hook must outlive the turns in which it is asked.
  virtual void set_idle_hook(IdleHook* hook) noexcept = 0;
  // Any thread: wakes the loop, whose next turn runs the work as deferred work. Posting it again
  // before that has no effect.
  virtual void post(Deferred& work) noexcept = 0;
  // Takes the work back, which then does not run. No thread may post it any more.
  virtual void cancel(Deferred& work) noexcept = 0;
  // When to turn it again if nothing else happens. 0, at once, unless the latest turn was idle,
  // because only then has the kernel been asked for everything that is awaited. Otherwise when the
  // next timer is due; `never` if none is set.
  virtual Deadline next_turn() const noexcept = 0;
  // Readable while the kernel has an event for a turn; timers and deferred work do not count. Any
  // thread.
  virtual int descriptor() const noexcept = 0;
  // In a forked child: closes every descriptor and leaves the rest alone. The loop must be leaked
  // afterwards.
  virtual void close_descriptors() noexcept = 0;
};

}  // namespace sheaf::socket
