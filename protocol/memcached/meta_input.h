#pragma once

// MetaInput: cuts the input of the meta protocol into lines and values.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "protocol/connection_life.h"

namespace sheaf::protocol::memcached {

class MetaInput {
 public:
  // `life` outlives this object.
  MetaInput(std::uint64_t value_limit, ConnectionLife& life) noexcept
      : value_limit_(value_limit), life_(life) {}

  // The bytes that are not parsed yet.
  std::string_view data() const noexcept { return life_.input().data(); }
  void consumed(std::size_t size) noexcept { life_.input().consumed(size); }

  // Call before each line: reads the end of a skipped value. The error is the step to take instead.
  std::expected<void, Step> end_skipped();

  // The line that begins `offset` bytes from here, without its end; consumes nothing. The error is
  // the step to take instead.
  std::expected<std::string_view, Step> line(std::size_t offset = 0) const;

  // The value of `size` bytes after a line of `line` bytes; nothing if it exceeds our limit.
  // Consumes both. The error is the step to take instead.
  std::expected<std::optional<std::string_view>, Step> value(std::size_t size, std::size_t line);

 private:
  std::uint64_t value_limit_;
  ConnectionLife& life_;
  bool line_end_due_ = false;  // after a value that was skipped
};

}  // namespace sheaf::protocol::memcached
