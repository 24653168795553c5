// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/moving/map_calm.h"

#include <algorithm>
#include <utility>

namespace sheaf::cluster {
namespace {

// The longest wait before a map is asked for.
std::chrono::nanoseconds spread(std::size_t servers) {
  using std::chrono::milliseconds;
  const auto small = static_cast<std::int64_t>(std::min<std::size_t>(servers, 100));
  const auto large = static_cast<std::int64_t>(std::clamp<std::size_t>(servers, 100, 1'000)) - 100;
  return milliseconds(10 * small + 29'000 * large / 900);
}

}  // namespace

MapCalm::MapCalm(const Seed& seed, Now now, const MapCalmOptions& options)
    : options_(options),
      random_(seed),
      credit_(options.most_credit),
      earned_at_(now.mono),
      asked_at_(now.mono),
      known_(options.known) {
  ask_at_ = now.mono;
  if (known_) on_answer(true, now);
}

void MapCalm::earn(Now now) {
  while (earned_at_ + options_.idle <= now.mono && credit_ < options_.most_credit) {
    earned_at_ += options_.idle;
    ++credit_;
  }
  if (credit_ == options_.most_credit) earned_at_ = now.mono;
}

void MapCalm::note(Occasion occasion, std::size_t servers, Now now) {
  if (!known_) return;
  if (asking_) {
    meanwhile_ = std::max(meanwhile_, occasion);
    servers_meanwhile_ = std::max(servers_meanwhile_, servers);
    return;
  }
  if (occasion <= occasion_) return;
  earn(now);
  occasion_ = occasion;
  const auto part = std::chrono::nanoseconds(static_cast<std::int64_t>(
      random_.between(0.0, 1.0) * static_cast<double>(spread(servers).count())));
  Deadline at = std::max(now.mono + part, asked_at_ + options_.least);
  if (credit_ <= reserve()) {
    Deadline earned = earned_at_ + options_.idle * static_cast<int>(reserve() + 1 - credit_);
    if (occasion == Occasion::needed) earned = std::min(earned, asked_at_ + options_.needed);
    at = std::max(at, earned);
  }
  ask_at_ = std::min(ask_at_, at);
}

void MapCalm::on_asked(Now now) {
  earn(now);
  if (occasion_ != Occasion::none && credit_ > reserve()) --credit_;
  occasion_ = Occasion::none;
  asking_ = true;
  asked_at_ = now.mono;
}

void MapCalm::on_answer(bool good, Now now) {
  asking_ = false;
  if (!good) {
    ask_at_ = now.mono + options_.least;
    return;
  }
  known_ = true;
  ask_at_ =
      now.mono + std::chrono::nanoseconds(static_cast<std::int64_t>(
                     random_.between(0.67, 1.33) * static_cast<double>(options_.idle.count())));
  const Occasion occasion = std::exchange(meanwhile_, Occasion::none);
  if (occasion != Occasion::none) note(occasion, std::exchange(servers_meanwhile_, 0), now);
}

}  // namespace sheaf::cluster
