#pragma once

// Logs refused requests: a few at once, then one line per second with the number of omitted lines.
// A line never contains a value.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "store/rights/rights.h"

namespace sheaf::store::rights {

class RefusalLog {
 public:
  // Returns nothing if this line is omitted.
  std::optional<std::string> line(const Subject& subject, std::string_view verb,
                                  std::string_view key, std::string_view why, Deadline now);

 private:
  static constexpr std::uint64_t most = 10;

  std::uint64_t left_ = most;
  std::uint64_t omitted_ = 0;
  Deadline counted_{0};  // when left_ was last increased
};

}  // namespace sheaf::store::rights
