#pragma once

// The text of a token that `sheaf dev` makes: it looks like the token of a Kubernetes service
// account, so that programs which read its end find one. Its signature is random.
//
// Thread rule: free function.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Times since 1970. `secret` is what makes the token hard to guess.
std::string dev_token(std::string_view secret, std::chrono::seconds begins,
                      std::chrono::seconds ends);

}  // namespace sheaf::cli
