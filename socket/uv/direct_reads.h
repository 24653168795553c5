#pragma once

// Direct reads: a loop reads at once, without asking the kernel first if there is something to
// read.
//
// - A loop that polls without sleeping (Wait::spin) saves one of two system calls per poll. It
//   reads the connections that a reply is due on, if they are few, and asks the kernel about the
//   others only now and then.
// - With Wait::read the thread waits inside recv() instead of epoll_wait(), if there is one
//   connection that a reply is due on. The kernel then wakes it with the bytes at hand, and libuv
//   need not watch the connection meanwhile. recv() notices only its own connection, so it waits
//   for `longest_read` at most. Now and then one poll() asks about everything else; to let
//   libuv watch all connections again would take three system calls for each of them.
//
// With a dial in progress it does neither.
//
// Thread rule: belongs to one loop.

#include <poll.h>

#include <chrono>
#include <vector>

#include "base/clock.h"

namespace sheaf::socket {

inline constexpr std::chrono::milliseconds longest_read{20};

// A connection that can be read without a report from libuv.
class Readable {
 public:
  // Reads what there is. `wait`: waits up to `longest_read` for something. Returns false if the
  // connection cannot be read now because it waits for something else.
  virtual bool try_read(bool wait) = 0;
  // True while something is due from the peer.
  virtual bool expecting() const = 0;
  // Makes libuv watch it from now on.
  virtual void watch() = 0;
  virtual int descriptor() const noexcept = 0;

 protected:
  ~Readable() = default;

 private:
  friend class DirectReads;
  bool watched_ = true;
};

class DirectReads {
 public:
  DirectReads() = default;
  DirectReads(const DirectReads&) = delete;
  DirectReads& operator=(const DirectReads&) = delete;

  void add(Readable& connection) {
    connections_.push_back(&connection);
    unwatched_.reserve(connections_.size());
    asked_.reserve(connections_.size() + 1);
  }
  void remove(Readable& connection) noexcept;
  void dial_begins() noexcept { ++dials_; }
  void dial_ends() noexcept { --dials_; }

  // The loop now asks the kernel about all connections, and does so again by then.
  void ask_about_all_by(Deadline then) noexcept { ask_at_ = then; }
  // True if it need not do so yet, or never, because there is only one.
  bool may_neglect_others(Deadline now) const noexcept {
    return now < ask_at_ || only() != nullptr;
  }
  // Reads the only connection, or those that something is due on; returns true if any was read.
  bool try_read() const;
  // True if the thread may wait in a read, because the kernel has nothing to report of the others,
  // or had nothing a moment ago. `loop`: the descriptor of libuv, which watches some of them.
  bool may_wait(Deadline now, int loop);
  // Waits in the read of the connection that a reply is due on, if there is just one; returns true
  // if it did. `left`: the time until something is due.
  bool wait(std::chrono::nanoseconds left) const;

  static bool is_watched(const Readable& connection) noexcept { return connection.watched_; }
  // libuv does not watch the connection until watch_all().
  void leave_unwatched(Readable& connection) noexcept {
    connection.watched_ = false;
    unwatched_.push_back(&connection);  // never reallocates
  }
  // Called before libuv polls all connections.
  void watch_all();

 private:
  // Null if there are several, or if one is being dialed.
  Readable* only() const noexcept {
    return connections_.size() == 1 && dials_ == 0 ? connections_.front() : nullptr;
  }
  Readable* only_awaited() const noexcept;
  bool all_quiet(int loop);

  std::vector<Readable*> connections_;
  std::vector<Readable*> unwatched_;  // some of connections_
  std::vector<pollfd> asked_;         // about, in one poll()
  unsigned dials_ = 0;                // dials in progress
  Deadline ask_at_{0};
};

// Lets recv() on a non-blocking socket wait for up to `longest_read` unless it is given
// MSG_DONTWAIT. Returns false if the kernel refuses.
bool let_reads_wait(int fd) noexcept;

}  // namespace sheaf::socket
