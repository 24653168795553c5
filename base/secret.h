#pragma once

// Bytes that must not leak: they are wiped when they end, and their pages are left out of core
// dumps.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sheaf {

// Sets every byte to zero. The compiler may not optimise this away.
void wipe(std::span<char> bytes) noexcept;
// Wipes all of the string's capacity, then empties it.
void wipe(std::string& text) noexcept;

// A password or a token. It owns its bytes and can be moved but not copied; code that shares a
// secret shares the object. It cannot be printed. It shares its pages with no other memory, and the
// kernel leaves them out of core dumps.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view bytes);
  // Room for bytes that are read straight into it. They are zero until then.
  explicit Secret(std::size_t size);
  // Takes the text's bytes and wipes the text.
  static Secret take(std::string& text);

  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { clear(); }

  std::string_view view() const noexcept { return {bytes_, size_}; }
  std::span<char> writable() noexcept { return {bytes_, size_}; }
  bool empty() const noexcept { return size_ == 0; }
  // Keeps the first `size` bytes and wipes the rest.
  void shrink(std::size_t size) noexcept;
  void clear() noexcept;

  // Takes the same time wherever the two differ. Their sizes are not secret.
  friend bool operator==(const Secret& left, const Secret& right) noexcept;

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace sheaf
