#pragma once

// The errors of the state store: exact texts for the server, reasons for the client.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf::protocol::statestore {

enum class StoreError : std::uint8_t {
  timestamp_skew,    // __ts is over a minute ahead of the store
  fencing_required,  // the key is protected and the request has no __ft
  fencing_skew,      // __ft is over a minute ahead of the store
  fencing_stale,     // __ft is older than the fence of the key
  quota,
  syntax,
  not_authorized,
  unknown_command,
  wrong_arguments,
  timestamp_missing,    // SET without __ts
  timestamp_malformed,  // __ts or __ft is no timestamp
  key_empty,
  read_only  // an extension: the store cannot write its file
};

// The text after `-ERR `, as the store sends it.
std::string_view text_of(StoreError error) noexcept;
Reason reason_of(StoreError error) noexcept;

// The reason for an error text of a server. Texts are recognised by their stems, in any case,
// because the wording has changed over the years ("the requested timestamp", "a lower version
// that"). Reason::other if none matches.
Reason reason_of(std::string_view text) noexcept;

}  // namespace sheaf::protocol::statestore
