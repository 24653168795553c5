#pragma once

// ReservedPort: a free port of 127.0.0.1 for a server that is started, ended and started again. The
// kernel gives a bound port only to a program that asks for it by number. A server that sets
// SO_REUSEADDR can still listen on it, because the reservation does not listen. While no server
// listens, connections are refused.
//
// Thread rule: one thread at a time.

#include <cstdint>

namespace sheaf::test {

class ReservedPort {
 public:
  ReservedPort();  // throws std::system_error
  ReservedPort(ReservedPort&& other) noexcept;
  ReservedPort& operator=(ReservedPort&& other) noexcept;
  ~ReservedPort();

  std::uint16_t number() const noexcept { return number_; }

 private:
  int descriptor_ = -1;
  std::uint16_t number_ = 0;
};

}  // namespace sheaf::test
