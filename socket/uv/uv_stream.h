#pragma once

// A connected socket as a Stream: sends, receives, and owns the descriptor.
//
// Thread rule: belongs to one loop.

#include <memory>

#include "socket/uv/uv_loop.h"

namespace sheaf::socket {

std::unique_ptr<Stream> make_uv_stream(UvLoop& loop, int fd, StreamSink& sink);

}  // namespace sheaf::socket
