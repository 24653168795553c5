#pragma once

// DnsSocket: one question to one name server, over UDP or TCP, by a thread that waits for the
// answer. It is not on a loop: whoever asks has nothing else to do, and the C library's own way
// (res_nquery) has neither an exact end nor one over TCP (docs/design/0038-sources-of-servers.md).
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "protocol/dns/name_servers.h"

namespace sheaf::socket {

// A descriptor that is readable once a token is asked to stop.
class StopEvent {
 public:
  // Null, and one that nobody can ask: it is never readable.
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
  // 0, or an errno value: ETIMEDOUT when `until` has come, ECANCELED when it was asked to stop.
  using Ended = int;

  explicit DnsSocket(const StopEvent& stop) noexcept : stop_(stop) {}
  ~DnsSocket();
  DnsSocket(const DnsSocket&) = delete;
  DnsSocket& operator=(const DnsSocket&) = delete;

  // First, once. EINVAL for what is no numeric address.
  Ended open(const protocol::dns::NameServer& server, Over over, Deadline until);
  // Then the question, whole.
  Ended send(std::string_view query, Deadline until);
  // Then what the server sends, message by message: over UDP anybody may have sent it who knows
  // both ports.
  Ended receive(std::string& message, Deadline until);

 private:
  Ended wait(short events, Deadline until) const;
  Ended read(char* to, std::size_t size, std::size_t& got, Deadline until) const;
  Ended read_all(std::string& to, std::size_t size, Deadline until) const;

  const StopEvent& stop_;
  int fd_ = -1;
  Over over_ = Over::udp;
};

}  // namespace sheaf::socket
