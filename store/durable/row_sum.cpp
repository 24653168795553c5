// Pure: no socket, clock, entropy, thread or callback.

#include "store/durable/row_sum.h"

#include <array>
#include <initializer_list>
#include <string_view>

#include "base/hash.h"

namespace sheaf::store {
namespace {

// Little-endian, so that a file can move to another machine.
std::uint64_t mix(std::uint64_t sum, std::initializer_list<std::uint64_t> numbers) noexcept {
  std::array<char, 8> bytes{};
  for (std::uint64_t number : numbers) {
    for (char& byte : bytes) {
      byte = static_cast<char>(number & 0xff);
      number >>= 8;
    }
    sum = hash64({bytes.data(), bytes.size()}, sum);
  }
  return sum;
}

}  // namespace

std::uint64_t sum_of(const Change& row) noexcept {
  const auto kind = static_cast<std::uint64_t>(row.kind);
  const auto until = static_cast<std::uint64_t>(row.until.count());
  std::uint64_t sum = hash64(row.value, hash64(row.key, kind));
  sum = mix(sum, {row.key.size(), row.version.wall, row.version.counter, until});
  // Rows of the first schema had no owner.
  if (!row.owner.empty()) sum = hash64(row.owner, sum);
  if (!row.fence) return sum;
  return hash64(row.fence->node, mix(sum, {row.fence->wall, row.fence->counter}));
}

std::uint64_t sum_of(const FileHeader& header) noexcept {
  const FileTime::Mark& mark = header.mark;
  const std::uint64_t sum = hash64(mark.boot);
  return mix(sum, {header.wall, header.counter, static_cast<std::uint64_t>(mark.time.count()),
                   static_cast<std::uint64_t>(mark.now.mono.count()),
                   static_cast<std::uint64_t>(mark.now.wall.count())});
}

}  // namespace sheaf::store
