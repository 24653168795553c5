#pragma once

// TLS over the connections of any dialer. A stream is handed out when the peer has proved who it
// is, within the dial's deadline; until then its user has nothing to write to, so nothing can leave
// unencrypted.
//
// Thread rule: belongs to one lane.

#include <memory>

#include "socket/seam.h"
#include "socket/tls/tls_files.h"

namespace sheaf::socket::tls {

// `inner` and everything that is dialed belong to `loop`.
std::unique_ptr<Dialer> make_tls_dialer(Loop& loop, std::unique_ptr<Dialer> inner,
                                        std::unique_ptr<TlsFiles> files);

}  // namespace sheaf::socket::tls
