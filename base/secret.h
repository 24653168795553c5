#pragma once

// Bytes that nobody is to find: wiped when they end, and in pages that no core dump has.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sheaf {

// Every byte of it becomes zero, and the compiler may not leave that out.
void wipe(std::span<char> bytes) noexcept;
// As above, with what the text has room for; then it is empty.
void wipe(std::string& text) noexcept;

// A password, a token. It owns its bytes and moves, but is not copied: whoever shares it shares the
// object. There is no way to print it. Its pages are its own, so that no freed memory of others
// lies beside it, and the kernel leaves them out of core dumps.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view bytes);
  // Room for bytes that are read straight into it, zero until then.
  explicit Secret(std::size_t size);
  // What the text holds; the text is wiped.
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

  // Takes as long wherever the two differ. Their sizes are no secret.
  friend bool operator==(const Secret& left, const Secret& right) noexcept;

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace sheaf
