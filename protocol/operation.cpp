// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/operation.h"

namespace sheaf::protocol {

std::string_view to_string(Verb verb) noexcept {
  switch (verb) {
    case Verb::get:
      return "get";
    case Verb::get_many:
      return "get many";
    case Verb::set:
      return "set";
    case Verb::remove:
      return "remove";
    case Verb::probe:
      return "probe";
    case Verb::clock:
      return "clock";
    case Verb::watch:
      return "watch";
    case Verb::unwatch:
      return "unwatch";
    case Verb::append:
      return "append";
    case Verb::prepend:
      return "prepend";
    case Verb::increment:
      return "increment";
    case Verb::decrement:
      return "decrement";
    case Verb::touch:
      return "touch";
    case Verb::get_and_touch:
      return "get and touch";
    case Verb::get_and_set:
      return "get and set";
    case Verb::lease:
      return "lease";
    case Verb::server_version:
      return "version";
    case Verb::stats:
      return "stats";
    case Verb::command:
      return "command";
  }
  return "probe";
}

}  // namespace sheaf::protocol
