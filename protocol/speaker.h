#pragma once

// What a server is, judged by the first bytes that it sent: for the sentence to someone whose URI
// leads a client of one protocol to a server of another. Servers answer what they cannot read by an
// error of their own protocol, and some speak first.
//
// Thread rule: pure functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <string_view>

namespace sheaf::protocol {

// "an HTTP server"; empty if the bytes do not show it.
std::string_view speaker_of(std::string_view bytes) noexcept;

}  // namespace sheaf::protocol
