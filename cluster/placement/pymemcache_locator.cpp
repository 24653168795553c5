// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/pymemcache_locator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checks.h"
#include "base/text.h"

namespace sheaf::cluster {
namespace {

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

// Python hashes the characters of a text, each as its lowest 8 bits: the six of the last byte in
// UTF-8 and two of the byte before it.
void add_characters(Murmur3& hash, std::string_view utf8) noexcept {
  std::uint8_t before = 0;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(utf8[i]);
    const bool goes_on = i + 1 < utf8.size() && (utf8[i + 1] & 0xc0) == 0x80;
    if (byte < 0x80) {
      hash.add(byte);
    } else if (!goes_on) {
      hash.add(static_cast<std::uint8_t>((byte & 0x3f) | before << 6));
    }
    before = byte;
  }
}

}  // namespace

PymemcacheLocator::PymemcacheLocator(std::span<const NodeConfig> nodes) {
  SHEAF_CHECK(!nodes.empty());
  std::vector<std::pair<std::string, std::uint32_t>> names;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    names.emplace_back(nodes[node].host + ":" + std::to_string(nodes[node].port), node);
  }
  std::ranges::sort(names, std::ranges::greater());
  for (const auto& [name, node] : names) {
    Candidate& candidate = candidates_.emplace_back(Murmur3(), node);
    candidate.named.add(name);
    candidate.named.add("-");
  }
}

template <class Passes>
std::uint32_t PymemcacheLocator::winner(std::string_view key, const Passes& passes) const noexcept {
  const bool characters = !is_ascii(key) && is_utf8(key);
  std::uint32_t found = nobody;
  std::uint32_t best = 0;
  for (const Candidate& candidate : candidates_) {
    if (!passes(candidate.node)) continue;
    Murmur3 hash = candidate.named;
    if (characters) {
      add_characters(hash, key);
    } else {
      hash.add(key);
    }
    const std::uint32_t score = hash.hash();
    if (found != nobody && score <= best) continue;
    found = candidate.node;
    best = score;
  }
  return found;
}

Location PymemcacheLocator::locate(std::string_view key) const noexcept {
  return {winner(key, [](std::uint32_t /*node*/) { return true; }), 0};
}

std::uint32_t PymemcacheLocator::stand_in(std::string_view key,
                                          const NodeFilter& filter) const noexcept {
  const std::uint32_t found = winner(key, [&](std::uint32_t node) { return filter.takes(node); });
  return found != nobody ? found : locate(key).node;
}

double PymemcacheLocator::share(std::uint32_t /*node*/) const noexcept {
  return 1.0 / static_cast<double>(candidates_.size());
}

}  // namespace sheaf::cluster
