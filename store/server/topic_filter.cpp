// Pure: no socket, clock, entropy, thread or callback.

#include "store/server/topic_filter.h"

#include <optional>

namespace sheaf::store::server {
namespace {

// The levels of a topic, one by one. "" has one empty level; "a/" has "a" and "".
class Levels {
 public:
  explicit Levels(std::string_view text) noexcept : rest_(text) {}

  std::optional<std::string_view> next() noexcept {
    if (done_) return std::nullopt;
    const std::size_t slash = rest_.find('/');
    const std::string_view level = rest_.substr(0, slash);
    done_ = slash == std::string_view::npos;
    rest_.remove_prefix(done_ ? rest_.size() : slash + 1);
    return level;
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

}  // namespace

bool valid_filter(std::string_view filter) noexcept {
  if (filter.empty() || filter.contains('\0')) return false;
  Levels levels(filter);
  bool ended = false;
  while (const auto level = levels.next()) {
    if (ended) return false;
    ended = *level == "#";
    if (level->size() > 1 && level->find_first_of("+#") != std::string_view::npos) return false;
  }
  return true;
}

bool matches(std::string_view filter, std::string_view topic) noexcept {
  if (topic.starts_with('$') && (filter.starts_with('+') || filter.starts_with('#'))) return false;
  Levels want(filter);
  Levels have(topic);
  while (const auto level = want.next()) {
    if (*level == "#") return true;  // also for the parent level: "a/#" matches "a"
    const auto actual = have.next();
    if (!actual || (*level != "+" && *level != *actual)) {
      return false;
    }
  }
  return !have.next();
}

}  // namespace sheaf::store::server
