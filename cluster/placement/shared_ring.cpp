// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/shared_ring.h"

#include <algorithm>
#include <cmath>

#include "base/checks.h"
#include "base/md5.h"

namespace sheaf::cluster {
namespace {

constexpr std::uint16_t default_port = 11'211;

std::uint32_t md5_hash(std::string_view text) noexcept { return md5_word(md5(text), 0); }

// Bob Jenkins's one-at-a-time hash. It takes bytes as signed, as libmemcached does on the machines
// where its rings exist.
std::uint32_t one_at_a_time(std::string_view text) noexcept {
  std::uint32_t value = 0;
  for (const char c : text) {
    value += static_cast<std::uint32_t>(static_cast<signed char>(c));
    value += value << 10;
    value ^= value >> 6;
  }
  value += value << 3;
  value ^= value >> 11;
  return value + (value << 15);
}

// "host-k", or "host:port-k" if the port is not memcached's default.
std::string libmemcached_label(const NodeConfig& node, std::uint32_t k) {
  std::string label = node.host;
  if (node.port != default_port) label += ":" + std::to_string(node.port);
  return label + "-" + std::to_string(k);
}

std::string spymemcached_label(const NodeConfig& node, std::uint32_t k) {
  return node.host + ":" + std::to_string(node.port) + "-" + std::to_string(k);
}

struct Profile {
  std::string (*label)(const NodeConfig&, std::uint32_t k);
  std::uint32_t (*key_hash)(std::string_view) noexcept;
  bool
      md5_points;  // four points of each label's MD5, by weight; else 100, one of each label's hash
  bool last_wins;  // if two servers have one point
};

Profile profile_of(RingProfile profile, std::span<const NodeConfig> nodes) {
  const bool weights = std::ranges::any_of(nodes, [](const auto& node) { return node.weight > 1; });
  switch (profile) {
    case RingProfile::libmemcached:
      // The library switches to weighted points automatically, and keeps its hash for keys.
      return {libmemcached_label, one_at_a_time, weights, false};
    case RingProfile::libmemcached_weighted:
      return {libmemcached_label, md5_hash, true, false};
    case RingProfile::spymemcached:
      return {spymemcached_label, md5_hash, true, true};
    case RingProfile::none:
      break;
  }
  SHEAF_CHECK(false && "a shared profile");
  return {};
}

// The number of labels, with four points each, of a server. It is computed in single precision, as
// the other clients do: at some numbers of servers this costs even equal weights a label.
std::uint32_t weighted_labels(std::uint32_t weight, std::uint64_t total, std::size_t servers) {
  const float part = static_cast<float>(weight) / static_cast<float>(total);
  const volatile float scaled = part * 160.0f / 4.0f * static_cast<float>(servers);  // not fused
  return static_cast<std::uint32_t>(std::floor(scaled + 1e-10f));
}

constexpr std::uint32_t plain_labels = 100;

}  // namespace

SharedRing::SharedRing(RingProfile profile, std::span<const NodeConfig> nodes) {
  SHEAF_CHECK(!nodes.empty());
  const Profile rules = profile_of(profile, nodes);
  key_hash_ = rules.key_hash;
  std::uint64_t total = 0;
  for (const NodeConfig& node : nodes) total += node.weight;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const std::uint32_t labels =
        rules.md5_points ? weighted_labels(nodes[node].weight, total, nodes.size()) : plain_labels;
    for (std::uint32_t k = 0; k < labels; ++k) {
      const std::string label = rules.label(nodes[node], k);
      if (!rules.md5_points) {
        points_.push_back({rules.key_hash(label), node});
        continue;
      }
      const Md5 digest = md5(label);
      for (unsigned n = 0; n < 4; ++n) points_.push_back({md5_word(digest, n), node});
    }
  }
  std::ranges::sort(points_, [&](const RingPoint& a, const RingPoint& b) {
    if (a.position != b.position) return a.position < b.position;
    return rules.last_wins ? a.node > b.node : a.node < b.node;
  });
}

std::size_t SharedRing::point_at(std::uint32_t hash) const noexcept {
  const auto at = std::ranges::lower_bound(points_, hash, {}, &RingPoint::position);
  return at != points_.end() ? static_cast<std::size_t>(at - points_.begin()) : 0;
}

Location SharedRing::locate(std::string_view key) const noexcept {
  const RingPoint& point = points_[point_of(key)];
  return {point.node, point.position};
}

void SharedRing::owners(std::span<const std::string_view> keys,
                        std::span<std::uint32_t> nodes) const noexcept {
  if (key_hash_ == md5_hash) {
    md5_first_words(keys, nodes);  // hashes, which are replaced by nodes below
  } else {
    std::ranges::transform(keys, nodes.begin(), key_hash_);
  }
  for (std::uint32_t& node : nodes) node = points_[point_at(node)].node;
}

std::uint32_t SharedRing::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  return stand_in_from(points_, point_of(key), filter);
}

double SharedRing::share(std::uint32_t node) const noexcept { return share_of(points_, node); }

}  // namespace sheaf::cluster
