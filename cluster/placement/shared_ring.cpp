// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/shared_ring.h"

#include <algorithm>
#include <cmath>

#include "base/checks.h"
#include "base/md5.h"
#include "base/sha1.h"
#include "cluster/placement/key_hashes.h"

namespace sheaf::cluster {
namespace {

constexpr std::uint16_t default_port = 11'211;

std::uint32_t md5_hash(std::string_view text) noexcept { return md5_word(md5(text), 0); }
std::uint32_t sha1_hash(std::string_view text) noexcept { return sha1(text)[0]; }
std::uint32_t crc32_hash(std::string_view text) noexcept { return crc32(text); }

// "host-k", or "host:port-k" if the port is not memcached's default.
std::string libmemcached_label(const NodeConfig& node, std::uint32_t k) {
  std::string label = node.host;
  if (node.port != default_port) label += ":" + std::to_string(node.port);
  return label + "-" + std::to_string(k);
}

std::string spymemcached_label(const NodeConfig& node, std::uint32_t k) {
  return node.host + ":" + std::to_string(node.port) + "-" + std::to_string(k);
}

std::string dalli_label(const NodeConfig& node, std::uint32_t k) {
  return node.host + ":" + std::to_string(node.port) + ":" + std::to_string(k);
}

// What all servers have together, for the number of labels of one.
struct Fleet {
  std::size_t servers;
  std::uint64_t weight;
};

std::uint32_t plain_labels(std::uint32_t /*weight*/, const Fleet& /*fleet*/) { return 100; }

// With four points each. It is computed in single precision, as the other clients do: at some
// numbers of servers this costs even equal weights a label.
std::uint32_t md5_labels(std::uint32_t weight, const Fleet& fleet) {
  const float part = static_cast<float>(weight) / static_cast<float>(fleet.weight);
  const volatile float scaled =
      part * 160.0f / 4.0f * static_cast<float>(fleet.servers);  // not fused
  return static_cast<std::uint32_t>(std::floor(scaled + 1e-10f));
}

// dalli divides in double precision, which is exact enough for numbers of this size.
std::uint32_t dalli_labels(std::uint32_t weight, const Fleet& fleet) {
  return static_cast<std::uint32_t>(160 * std::uint64_t{weight} * fleet.servers / fleet.weight);
}

// One point of each label, by its hash; without a hash the four words of its MD5.
using PointHash = std::uint32_t (*)(std::string_view) noexcept;

struct Profile {
  std::string (*label)(const NodeConfig&, std::uint32_t k);
  std::uint32_t (*labels)(std::uint32_t weight, const Fleet&);
  PointHash point_hash;
  std::uint32_t (*key_hash)(std::string_view) noexcept;
  bool last_wins;     // if two servers have one point
  bool from_before;   // a key belongs to the point before its hash, not to the one after it
  bool hashes_again;  // for a server that takes another's place
};

constexpr Profile libmemcached_plain{
    libmemcached_label, plain_labels, one_at_a_time, one_at_a_time, false, false, false};
// The library switches to weighted points automatically, and keeps its hash for keys.
constexpr Profile libmemcached_switched{
    libmemcached_label, md5_labels, nullptr, one_at_a_time, false, false, false};
constexpr Profile libmemcached_weighted{
    libmemcached_label, md5_labels, nullptr, md5_hash, false, false, false};
constexpr Profile spymemcached{
    spymemcached_label, md5_labels, nullptr, md5_hash, true, false, false};
constexpr Profile dalli{dalli_label, dalli_labels, sha1_hash, crc32_hash, true, true, true};

const Profile& profile_of(RingProfile profile, std::span<const NodeConfig> nodes) {
  const bool weights = std::ranges::any_of(nodes, [](const auto& node) { return node.weight > 1; });
  switch (profile) {
    case RingProfile::libmemcached:
      return weights ? libmemcached_switched : libmemcached_plain;
    case RingProfile::libmemcached_weighted:
      return libmemcached_weighted;
    case RingProfile::spymemcached:
      return spymemcached;
    case RingProfile::dalli:
      return dalli;
    case RingProfile::none:
    case RingProfile::modula:
    case RingProfile::pymemcache:
      break;
  }
  SHEAF_CHECK(false && "a shared ring");
  return libmemcached_plain;
}

}  // namespace

SharedRing::SharedRing(RingProfile profile, std::span<const NodeConfig> nodes) {
  SHEAF_CHECK(!nodes.empty());
  const Profile& rules = profile_of(profile, nodes);
  key_hash_ = rules.key_hash;
  flip_ = rules.from_before ? ~std::uint32_t{0} : 0;
  hashes_again_ = rules.hashes_again;
  Fleet fleet{nodes.size(), 0};
  for (const NodeConfig& node : nodes) fleet.weight += node.weight;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const std::uint32_t labels = rules.labels(nodes[node].weight, fleet);
    for (std::uint32_t k = 0; k < labels; ++k) {
      const std::string label = rules.label(nodes[node], k);
      if (rules.point_hash != nullptr) {
        points_.push_back({rules.point_hash(label) ^ flip_, node});
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
  return {point.node, point.position ^ flip_};
}

void SharedRing::owners(std::span<const std::string_view> keys,
                        std::span<std::uint32_t> nodes) const noexcept {
  if (key_hash_ == md5_hash) {
    md5_first_words(keys, nodes);  // hashes, which are replaced by nodes below
  } else {
    std::ranges::transform(keys, nodes.begin(), key_hash_);
  }
  for (std::uint32_t& node : nodes) node = points_[point_at(node ^ flip_)].node;
}

// dalli hashes the number of the attempt and the key, up to 19 times.
std::uint32_t SharedRing::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  const std::size_t owner = point_of(key);
  if (hashes_again_ && !filter.takes(points_[owner].node)) {
    for (unsigned attempt = 0; attempt < 19; ++attempt) {
      const char digits[] = {'1', static_cast<char>('0' + attempt % 10)};
      const std::string_view number(digits, 2);
      const std::uint32_t start = crc32(attempt < 10 ? number.substr(1) : number);
      const std::uint32_t node = points_[point_at(crc32(key, start) ^ flip_)].node;
      if (filter.takes(node)) return node;
    }
  }
  return stand_in_from(points_, owner, filter);
}

double SharedRing::share(std::uint32_t node) const noexcept { return share_of(points_, node); }

}  // namespace sheaf::cluster
