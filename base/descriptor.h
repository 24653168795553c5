#pragma once

// File descriptors and files that close themselves.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace sheaf {

// Owns a file descriptor. A negative number means that it owns none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const noexcept { return number_; }
  bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Reads until `space` is full or the file ends, and continues after interruptions. Returns the
// number of bytes, or nothing on an error, which is in errno.
std::optional<std::size_t> read_up_to(int descriptor, std::span<char> space) noexcept;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace sheaf
