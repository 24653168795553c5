#pragma once

// DnsSocket: sends one question to one name server, over UDP or TCP, on a thread that waits for the
// answer. It does not use a loop, because that thread has nothing else to do. The C library's
// function (res_nquery) has no exact deadline, and none at all over TCP
// (docs/design/0038-sources-of-servers.md).
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "extras/discovery/dns/name_servers.h"

namespace sheaf::discovery {

// A file descriptor that becomes readable when a token is asked to stop.
class StopEvent {
 public:
  // A null token, or one that cannot be stopped, never makes it readable.
  explicit StopEvent(const std::stop_token* token);
  ~StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;

  int descriptor() const noexcept { return fd_; }  // -1: none
  bool stopped() const noexcept { return token_ != nullptr && token_->stop_requested(); }

 private:
  class Writer;

  const std::stop_token* token_;
  int fd_ = -1;
  std::unique_ptr<Writer> writer_;
};

class DnsSocket {
 public:
  enum class Over : unsigned char { udp, tcp };
  // 0 or an errno value: ETIMEDOUT when `until` has come, ECANCELED after a stop request.
  using Ended = int;

  explicit DnsSocket(const StopEvent& stop) noexcept : stop_(stop) {}
  ~DnsSocket();
  DnsSocket(const DnsSocket&) = delete;
  DnsSocket& operator=(const DnsSocket&) = delete;

  // Called first, once. EINVAL if the address is not numeric.
  Ended open(const dns::NameServer& server, Over over, Deadline until);
  // Then sends the whole question.
  Ended send(std::string_view query, Deadline until);
  // Then receives what the server sends, message by message. Over UDP any host that knows both
  // ports may have sent it.
  Ended receive(std::string& message, Deadline until);

 private:
  Ended wait(short events, Deadline until) const;
  Ended read(char* to, std::size_t size, std::size_t& got, Deadline until) const;
  Ended read_all(std::string& to, std::size_t size, Deadline until) const;

  const StopEvent& stop_;
  int fd_ = -1;
  Over over_ = Over::udp;
};

}  // namespace sheaf::discovery
