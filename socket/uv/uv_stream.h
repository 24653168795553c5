#pragma once

// A connected socket as a Stream: sends, receives, and owns the descriptor.
//
// Thread rule: belongs to one loop.

#include <memory>
#include <string>

#include "socket/useless_addresses.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::socket {

// Where a stream notes that its address is useless.
struct AddressNote {
  std::shared_ptr<UselessAddresses> useless{};
  std::string address{};  // empty: it is not noted
};

std::unique_ptr<Stream> make_uv_stream(UvLoop& loop, int fd, StreamSink& sink,
                                       AddressNote note = {});

}  // namespace sheaf::socket
