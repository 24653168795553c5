#include "base/secret.h"

#include <string.h>  // <cstring> does not declare explicit_bzero
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace sheaf {
namespace {

std::size_t whole_pages(std::size_t size) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

void wipe(std::span<char> bytes) noexcept {
  if (!bytes.empty()) explicit_bzero(bytes.data(), bytes.size());
}

void wipe(std::string& text) noexcept {
  text.resize(text.capacity());  // does not allocate: the capacity is there
  wipe(std::span(text.data(), text.size()));
  text.clear();
}

Secret::Secret(std::size_t size) : size_(size), mapped_(whole_pages(size)) {
  if (size == 0) return;
  void* pages = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  madvise(pages, mapped_, MADV_DONTDUMP);  // best effort: the bytes are wiped in any case
  bytes_ = static_cast<char*>(pages);
}

Secret::Secret(std::string_view bytes) : Secret(bytes.size()) {
  std::copy(bytes.begin(), bytes.end(), bytes_);
}

Secret Secret::take(std::string& text) {
  Secret secret{std::string_view(text)};
  wipe(text);
  return secret;
}

Secret::Secret(Secret&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  clear();
  bytes_ = std::exchange(other.bytes_, nullptr);
  size_ = std::exchange(other.size_, 0);
  mapped_ = std::exchange(other.mapped_, 0);
  return *this;
}

void Secret::shrink(std::size_t size) noexcept {
  if (size >= size_) return;
  wipe(writable().subspan(size));
  size_ = size;
}

void Secret::clear() noexcept {
  if (bytes_ != nullptr) {
    explicit_bzero(bytes_, mapped_);
    munmap(bytes_, mapped_);
  }
  bytes_ = nullptr;
  size_ = 0;
  mapped_ = 0;
}

bool operator==(const Secret& left, const Secret& right) noexcept {
  if (left.size_ != right.size_) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < left.size_; ++i) {
    differs |= static_cast<unsigned char>(left.bytes_[i] ^ right.bytes_[i]);
  }
  return differs == 0;
}

}  // namespace sheaf
