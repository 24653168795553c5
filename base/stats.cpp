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

std::string_view to_string(ServerRole role) noexcept {
  switch (role) {
    case ServerRole::unknown:
      break;
    case ServerRole::primary:
      return "primary";
    case ServerRole::replica:
      return "replica";
  }
  return "unknown";
}

}  // namespace v0
}  // namespace sheaf
