#include "cli/dev/dev_token.h"

#include <algorithm>

#include "base/text.h"

namespace sheaf::cli {

namespace {

// RFC 7515: base64 with two other characters, and without padding.
std::string base64_url(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

}  // namespace

std::string dev_token(std::string_view secret, std::chrono::seconds begins,
                      std::chrono::seconds ends) {
  const std::string claims = R"({"aud":["aio-internal"],"exp":)" + std::to_string(ends.count()) +
                             R"(,"iat":)" + std::to_string(begins.count()) +
                             R"(,"iss":"sheaf dev",)"
                             R"("sub":"system:serviceaccount:default:sheaf-dev"})";
  return base64_url(R"({"alg":"RS256","typ":"JWT"})") + "." + base64_url(claims) + "." +
         base64_url(secret);
}

}  // namespace sheaf::cli
