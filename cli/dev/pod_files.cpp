#include "cli/dev/pod_files.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cli/dev/dev_token.h"

namespace sheaf::cli {

namespace {

constexpr const char* certificate_name = "tls.crt";
constexpr const char* key_name = "tls.key";
constexpr const char* tokens_name = "tokens";
constexpr const char* bundle_name = "ca.crt";
constexpr const char* token_name = "broker-sat";

constexpr std::chrono::hours long_time{24 * 365};
// A client that is late to find the next token must not stop because of the end in this one: the
// broker decides which tokens count.
constexpr std::chrono::seconds leeway{10};

std::string random_bytes() {
  std::array<std::byte, 32> bytes;
  Random(entropy()).fill(bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

PodFiles::PodFiles(const Wishes& wishes, const std::filesystem::path& folder)
    : wishes_(wishes),
      broker_(folder / "broker"),
      trust_(folder / "trust"),
      token_(folder / "token") {}

std::expected<void, std::string> PodFiles::make_authorities(const RotationStep& step,
                                                            std::chrono::seconds now) {
  authorities_.erase(authorities_.begin(), authorities_.lower_bound(step.oldest_authority));
  for (std::uint64_t n = step.oldest_authority; n <= step.newest_authority; ++n) {
    if (authorities_.contains(n)) continue;
    auto made = make_authority(n, now);
    if (!made) return std::unexpected(std::move(made.error()));
    authorities_.emplace(n, *std::move(made));
  }
  return {};
}

void PodFiles::make_tokens(const RotationStep& step, std::chrono::seconds now) {
  tokens_.erase(tokens_.begin(), tokens_.lower_bound(step.oldest_token));
  const std::chrono::seconds time =
      wishes_.period.count() == 0 ? long_time : 2 * wishes_.period + leeway;
  tokens_.try_emplace(step.token, dev_token(random_bytes(), now, now + time));
}

std::expected<void, std::string> PodFiles::write(const RotationStep& step,
                                                 std::chrono::seconds now) {
  std::vector<MountedFile> files;
  std::string bundle;
  std::string tokens;
  if (wishes_.tls) {
    if (auto done = make_authorities(step, now); !done) return done;
    const auto server = make_server_certificate(authorities_.at(step.signer), now);
    if (!server) return std::unexpected(server.error());
    files = {{certificate_name, server->certificate}, {key_name, server->key}};
    for (const auto& [number, authority] : authorities_) bundle += authority.certificate;
  }
  if (wishes_.token) {
    make_tokens(step, now);
    for (const auto& [number, token] : tokens_) tokens += token + "\n";
    files.push_back({tokens_name, tokens});
  }
  auto done = broker_.replace(files);
  if (done && wishes_.tls) done = trust_.replace({{bundle_name, bundle}});
  if (done && wishes_.token) done = token_.replace({{token_name, tokens_.at(step.token)}});
  return done;
}

BrokerLogin PodFiles::broker() const {
  BrokerLogin login;
  if (wishes_.tls) {
    login.certificate = broker_.file(certificate_name);
    login.key = broker_.file(key_name);
  }
  if (wishes_.token) login.tokens = broker_.file(tokens_name);
  return login;
}

PodSettings PodFiles::settings() const {
  return {.authorities = wishes_.tls ? trust_.file(bundle_name).string() : "",
          .token = wishes_.token ? token_.file(token_name).string() : ""};
}

}  // namespace sheaf::cli
