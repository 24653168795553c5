#include <sheaf/stats.h>

namespace sheaf {
inline namespace v0 {

std::string_view to_string(NodeHealth health) noexcept {
  switch (health) {
    case NodeHealth::connecting:
      return "connecting";
    case NodeHealth::up:
      return "up";
    case NodeHealth::down:
      return "down";
    case NodeHealth::recovering:
      return "recovering";
  }
  return "down";
}

}  // namespace v0
}  // namespace sheaf
