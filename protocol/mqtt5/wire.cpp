#include "protocol/mqtt5/wire.h"

#include "base/text.h"

namespace sheaf::protocol::mqtt5 {

bool is_mqtt_string(std::string_view text) noexcept {
  // Nearly every string on the wire is ASCII: one pass without branches settles those.
  bool nul = false;
  bool high = false;
  for (const char c : text) {
    nul |= c == '\0';
    high |= (static_cast<unsigned char>(c) & 0x80) != 0;
  }
  return !nul && (!high || is_utf8(text));
}

}  // namespace sheaf::protocol::mqtt5
