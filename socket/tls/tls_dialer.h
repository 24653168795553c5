#pragma once

// TLS over the connections of any dialer. A stream is handed out only after the peer has proved its
// identity, within the dial's deadline. Until then its user has nothing to write to, so nothing can
// leave unencrypted.
//
// Thread rule: belongs to one lane.

#include <memory>

#include "socket/seam.h"
#include "socket/tls/tls_files.h"

namespace sheaf::socket::tls {

// `inner` and everything that it dials belong to `loop`.
std::unique_ptr<Dialer> make_tls_dialer(Loop& loop, std::unique_ptr<Dialer> inner,
                                        std::unique_ptr<TlsFiles> files);

}  // namespace sheaf::socket::tls
