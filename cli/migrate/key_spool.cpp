#include "cli/migrate/key_spool.h"

#include "cli/migrate/dump_line.h"

namespace sheaf::cli {

KeySpool::KeySpool() : file_(std::tmpfile()), good_(file_ != nullptr) {}

// Encoded, a key has no line end.
void KeySpool::add(std::string_view key) {
  const std::string line = encode_key(key) + '\n';
  const std::lock_guard lock(mutex_);
  if (!good_) return;
  if (reading_) std::fseek(file_.get(), 0, SEEK_END);
  reading_ = false;
  good_ = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  ++size_;
}

std::optional<std::string> KeySpool::next() {
  const std::lock_guard lock(mutex_);
  if (!good_ || !reading_) return std::nullopt;
  std::string line;
  for (int c = 0; (c = std::getc(file_.get())) != '\n';) {
    if (c == EOF) return std::nullopt;
    line.push_back(static_cast<char>(c));
  }
  return decode_key(line);
}

void KeySpool::rewind() {
  const std::lock_guard lock(mutex_);
  if (!good_) return;
  good_ = std::fflush(file_.get()) == 0;
  std::rewind(file_.get());
  reading_ = true;
}

void KeySpool::clear() {
  const std::lock_guard lock(mutex_);
  file_.reset(std::tmpfile());
  good_ = file_ != nullptr;
  size_ = 0;
  reading_ = false;
}

std::uint64_t KeySpool::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

bool KeySpool::good() const {
  const std::lock_guard lock(mutex_);
  return good_;
}

}  // namespace sheaf::cli
