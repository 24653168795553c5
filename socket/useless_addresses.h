#pragma once

// UselessAddresses: addresses that were overtaken by another one of their name, or that lead to no
// server that can be used (one that is stopped still accepts). Other addresses of the name are
// tried before them. Nothing is remembered for long, because the preferred one may be back.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <string>

#include "base/clock.h"

namespace sheaf::socket {

class UselessAddresses {
 public:
  static constexpr std::chrono::seconds memory{30};

  // `address`: the same text for the same address.
  void note(const std::string& address, Deadline now);
  bool contains(const std::string& address, Deadline now) const noexcept;
  std::size_t size() const noexcept { return until_.size(); }

 private:
  std::map<std::string, Deadline> until_;
};

}  // namespace sheaf::socket
