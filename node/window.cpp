#include "node/window.h"

#include "base/checks.h"

namespace sheaf::node {

bool Window::fits(std::size_t bytes) const noexcept {
  if (count_ == 0) return max_count_ > 0;
  return count_ < max_count_ && bytes_ <= max_bytes_ && bytes <= max_bytes_ - bytes_;
}

bool Window::admit(std::size_t bytes) noexcept {
  if (!fits(bytes)) return false;
  ++count_;
  bytes_ += bytes;
  return true;
}

void Window::release(std::size_t bytes) noexcept {
  SHEAF_CHECK(count_ > 0 && bytes_ >= bytes);
  --count_;
  bytes_ -= bytes;
}

void Window::set_bounds(std::uint64_t max_count, std::uint64_t max_bytes) noexcept {
  max_count_ = max_count;
  max_bytes_ = max_bytes;
}

}  // namespace sheaf::node
