// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/shared_ring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "base/md5.h"
#include "base/sha1.h"
#include "cluster/placement/key_hashes.h"

namespace sheaf::cluster {
namespace {

constexpr std::uint16_t default_port = 11'211;

std::uint32_t md5_hash(std::string_view text) noexcept { return md5_first_word(text); }
std::uint32_t crc32_hash(std::string_view text) noexcept { return crc32(text); }

// What all labels of a server begin with; the number of the label follows. "host-", or "host:port-"
// if the port is not memcached's default.
std::string libmemcached_name(const NodeConfig& node) {
  std::string name = node.host;
  if (node.port != default_port) name += ":" + std::to_string(node.port);
  return name + "-";
}

std::string spymemcached_name(const NodeConfig& node) {
  return node.host + ":" + std::to_string(node.port) + "-";
}

std::string dalli_name(const NodeConfig& node) {
  return node.host + ":" + std::to_string(node.port) + ":";
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

// The labels of one server after the other.
class Labels {
 public:
  void begin(std::string name, std::uint32_t count) {
    name_ = std::move(name);
    count_ = count;
  }
  const std::string& name() const noexcept { return name_; }
  std::uint32_t count() const noexcept { return count_; }
  // Written into the memory of those before.
  std::span<const std::string_view> texts() {
    if (texts_.size() < count_) texts_.resize(count_);
    views_.clear();
    for (std::uint32_t k = 0; k < count_; ++k) {
      texts_[k].assign(name_).append(std::to_string(k));
      views_.push_back(texts_[k]);
    }
    return views_;
  }

 private:
  std::string name_;
  std::uint32_t count_ = 0;
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

using Hashes = std::vector<std::uint32_t>;

// One point of each label, by its hash. What all labels begin with is hashed once.
void plain_points(Labels& labels, Hashes& points) {
  OneAtATime named;
  named.add(labels.name());
  points.clear();
  for (std::uint32_t k = 0; k < labels.count(); ++k) {
    OneAtATime hash = named;
    hash.add(std::to_string(k));
    points.push_back(hash.hash());
  }
}

void sha1_points(Labels& labels, Hashes& points) {
  points.resize(labels.count());
  sha1_first_words(labels.texts(), points);
}

// Four points of each label.
void md5_points(Labels& labels, Hashes& points) {
  std::vector<std::array<std::uint32_t, 4>> digests(labels.count());
  md5_words(labels.texts(), digests);
  points.clear();
  for (const auto& digest : digests) points.insert(points.end(), digest.begin(), digest.end());
}

struct Profile {
  std::string (*name)(const NodeConfig&);
  std::uint32_t (*labels)(std::uint32_t weight, const Fleet&);
  void (*points)(Labels&, Hashes&);
  std::uint32_t (*key_hash)(std::string_view) noexcept;
  bool last_wins;     // if two servers have one point
  bool from_before;   // a key belongs to the point before its hash, not to the one after it
  bool hashes_again;  // for a server that takes another's place
};

constexpr Profile libmemcached_plain{
    libmemcached_name, plain_labels, plain_points, one_at_a_time, false, false, false};
// The library switches to weighted points automatically, and keeps its hash for keys.
constexpr Profile libmemcached_switched{
    libmemcached_name, md5_labels, md5_points, one_at_a_time, false, false, false};
constexpr Profile libmemcached_weighted{
    libmemcached_name, md5_labels, md5_points, md5_hash, false, false, false};
constexpr Profile spymemcached{
    spymemcached_name, md5_labels, md5_points, md5_hash, true, false, false};
constexpr Profile dalli{dalli_name, dalli_labels, sha1_points, crc32_hash, true, true, true};

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

// The server that wins a point that two have comes first.
SharedRing::SharedRing(RingProfile profile, std::span<const NodeConfig> nodes) {
  SHEAF_CHECK(!nodes.empty());
  const Profile& rules = profile_of(profile, nodes);
  key_hash_ = rules.key_hash;
  flip_ = rules.from_before ? ~std::uint32_t{0} : 0;
  hashes_again_ = rules.hashes_again;
  Fleet fleet{nodes.size(), 0};
  for (const NodeConfig& node : nodes) fleet.weight += node.weight;
  std::vector<RingPoint> drawn;
  drawn.reserve(160 * nodes.size());
  Labels labels;
  Hashes points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const auto node = rules.last_wins ? static_cast<std::uint32_t>(nodes.size()) - 1 - i : i;
    labels.begin(rules.name(nodes[node]), rules.labels(nodes[node].weight, fleet));
    rules.points(labels, points);
    for (const std::uint32_t position : points) drawn.push_back({position ^ flip_, node});
  }
  ring_ = PointRing(drawn, PointRing::Same::stay);
}

Location SharedRing::locate(std::string_view key) const noexcept {
  const RingPoint& point = points()[point_of(key)];
  return {point.node, point.position ^ flip_};
}

void SharedRing::owners(std::span<const std::string_view> keys,
                        std::span<std::uint32_t> nodes) const noexcept {
  if (key_hash_ == md5_hash) {
    md5_first_words(keys, nodes);  // hashes, which are replaced by nodes below
  } else {
    std::ranges::transform(keys, nodes.begin(), key_hash_);
  }
  for (std::uint32_t& node : nodes) node = points()[ring_.first_from(node ^ flip_)].node;
}

// dalli hashes the number of the attempt and the key, up to 19 times.
std::uint32_t SharedRing::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  const std::size_t owner = point_of(key);
  if (hashes_again_ && !filter.takes(points()[owner].node)) {
    for (unsigned attempt = 0; attempt < 19; ++attempt) {
      const char digits[] = {'1', static_cast<char>('0' + attempt % 10)};
      const std::string_view number(digits, 2);
      const std::uint32_t start = crc32(attempt < 10 ? number.substr(1) : number);
      const std::uint32_t node = points()[ring_.first_from(crc32(key, start) ^ flip_)].node;
      if (filter.takes(node)) return node;
    }
  }
  return stand_in_from(points(), owner, filter);
}

double SharedRing::share(std::uint32_t node) const noexcept { return share_of(points(), node); }

}  // namespace sheaf::cluster
