#include "protocol/operation.h"

namespace sheaf::protocol {

std::string_view to_string(Verb verb) noexcept {
  switch (verb) {
    case Verb::get:
      return "get";
    case Verb::set:
      return "set";
    case Verb::remove:
      return "remove";
    case Verb::probe:
      return "probe";
    case Verb::clock:
      return "clock";
  }
  return "probe";
}

}  // namespace sheaf::protocol
