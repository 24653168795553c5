#include "base/descriptor.h"

#include <unistd.h>

#include <cerrno>

namespace sheaf {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (valid()) ::close(number_);
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (valid()) ::close(number_);
}

std::optional<std::size_t> read_up_to(int descriptor, std::span<char> space) noexcept {
  std::size_t size = 0;
  while (size < space.size()) {
    const auto got = ::read(descriptor, space.data() + size, space.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

}  // namespace sheaf
