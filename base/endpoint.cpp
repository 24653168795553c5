#include <sheaf/cluster_config.h>

#include "base/text.h"

namespace sheaf {
inline namespace v0 {

std::string NodeConfig::identity() const {
  return is_path(host) ? host : join_host_port(host, port);
}

}  // namespace v0
}  // namespace sheaf
