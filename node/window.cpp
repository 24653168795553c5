#include "node/window.h"

#include "base/checks.h"

namespace sheaf::node {

bool Window::fits(std::size_t bytes, std::uint32_t count) const noexcept {
  if (count_ == 0) return max_count_ > 0;
  return count_ < max_count_ && count <= max_count_ - count_ && bytes_ <= max_bytes_ &&
         bytes <= max_bytes_ - bytes_;
}

bool Window::admit(std::size_t bytes, std::uint32_t count) noexcept {
  if (!fits(bytes, count)) return false;
  count_ += count;
  bytes_ += bytes;
  return true;
}

void Window::release(std::size_t bytes, std::uint32_t count) noexcept {
  SHEAF_CHECK(count_ >= count && bytes_ >= bytes);
  count_ -= count;
  bytes_ -= bytes;
}

void Window::set_bounds(std::uint64_t max_count, std::uint64_t max_bytes) noexcept {
  max_count_ = max_count;
  max_bytes_ = max_bytes;
}

}  // namespace sheaf::node
