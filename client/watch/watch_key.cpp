#include "client/watch/watch_key.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::client::watch {

using protocol::Notification;
using protocol::VersionOrder;
using Kind = calls::WatchNews::Kind;
using To = WatchKey::Tell::To;

namespace {

calls::WatchNews news_of(Kind kind, const std::optional<std::string_view>& value,
                         std::string_view version) {
  calls::WatchNews news;
  news.kind = kind;
  news.value = value;
  news.version = version;
  return news;
}

// Large values are audited more seldom, so that audits move little.
std::int64_t audit_factor(std::size_t size) {
  constexpr std::size_t small = 64 * 1024;
  constexpr std::size_t most = 60;
  return static_cast<std::int64_t>(std::min(1 + size / small, most));
}

calls::WatchNews failure(const Error& error, bool permanent) {
  calls::WatchNews news;
  news.kind = Kind::failed;
  news.error = &error;
  news.permanent = permanent;
  return news;
}

}  // namespace

// ---- who watches

std::uint64_t WatchKey::join(calls::WatchStart start) {
  wanted_ = true;
  if (state_ == State::refused) retry_at_ = Deadline{0};
  if (start == calls::WatchStart::quiet) return 0;
  needed_ = reads_ + 1;
  read_wanted_ = true;
  read_at_ = Deadline{0};
  return needed_;
}

void WatchKey::leave() {
  wanted_ = false;
  held_ = Held::unknown;
  version_.clear();
  blind_since_.reset();
  after_gap_ = settled_ = expects_change_ = read_wanted_ = failed_told_ = false;
  needed_ = 0;
  if (state_ == State::refused) state_ = State::idle;
}

// ---- what to ask

WatchKey::Ask WatchKey::next_ask(Now now) const {
  if (open_ != Ask::nothing || !line_up_) return Ask::nothing;
  switch (state_) {
    case State::idle:
      return wanted_ ? Ask::watch : Ask::nothing;
    case State::refused:
      return wanted_ && now.mono >= retry_at_ ? Ask::watch : Ask::nothing;
    case State::registered:
      if (!wanted_) return Ask::unwatch;
      if (read_wanted_ ? now.mono >= read_at_ : now.mono >= audit_at_) return Ask::read;
      return Ask::nothing;
    case State::registering:
    case State::stopping:
      return Ask::nothing;
  }
  return Ask::nothing;
}

void WatchKey::asked(Now now) {
  open_ = next_ask(now);
  switch (open_) {
    case Ask::watch:
      state_ = State::registering;
      break;
    case Ask::unwatch:
      state_ = State::stopping;
      break;
    case Ask::read:
      ++reads_;
      read_wanted_ = heard_ = heard_set_ = again_ = false;
      read_sent_ = now;
      break;
    case Ask::nothing:
      break;
  }
}

Deadline WatchKey::poll_deadline() const {
  if (!wanted_ || !line_up_ || open_ != Ask::nothing) return never;
  if (state_ == State::refused) return retry_at_;
  if (state_ != State::registered) return never;
  return read_wanted_ ? read_at_ : audit_at_;
}

void WatchKey::want_read(bool change_expected) {
  read_wanted_ = true;
  read_at_ = Deadline{0};
  expects_change_ = expects_change_ || change_expected;
}

// ---- the line

void WatchKey::on_line_up() {
  line_up_ = true;
  state_ = State::idle;
}

void WatchKey::on_line_down(Now proof) {
  SHEAF_CHECK(open_ == Ask::nothing);
  line_up_ = false;
  if (state_ == State::registered && wanted_ && !blind_since_) blind_since_ = proof;
  state_ = State::idle;
}

WatchKey::Tells WatchKey::on_line_failed(const Error& error) {
  Tells tells;
  if (wanted_ && !std::exchange(failed_told_, true)) tells.add(To::all, failure(error, false));
  return tells;
}

// ---- answers

void WatchKey::tell_gap(Tells& tells, Now until) {
  if (!blind_since_) return;
  calls::WatchNews gap;
  gap.kind = Kind::gap;
  gap.from = *blind_since_;
  gap.until = until;
  tells.add(To::live, gap);
  blind_since_.reset();
  after_gap_ = true;
  settled_ = false;
}

WatchKey::Tells WatchKey::on_watching(Now now) {
  SHEAF_CHECK(open_ == Ask::watch);
  open_ = Ask::nothing;
  state_ = State::registered;
  settled_ = false;
  failed_told_ = false;
  sure_at_ = now;
  audit_at_ = now.mono + options_.audit;
  Tells tells;
  if (!wanted_) return tells;
  tell_gap(tells, now);
  if (after_gap_) want_read(false);
  return tells;
}

void WatchKey::on_unwatched() {
  SHEAF_CHECK(open_ == Ask::unwatch);
  open_ = Ask::nothing;
  state_ = State::idle;
}

WatchKey::Tells WatchKey::on_refused(const Error& error, bool permanent, Now now) {
  Tells tells;
  const Deadline later = permanent ? never : now.mono + options_.retry;
  switch (std::exchange(open_, Ask::nothing)) {
    case Ask::watch:
      state_ = wanted_ ? State::refused : State::idle;
      retry_at_ = later;
      if (wanted_) tells.add(To::all, failure(error, permanent));
      break;
    case Ask::read:
      // It is watched all the same; only what it holds cannot be told.
      if (!wanted_) break;
      read_wanted_ = true;
      read_at_ = now.mono + options_.retry;
      tells.add(To::waiting, failure(error, false));
      if (std::exchange(expects_change_, false) || std::exchange(after_gap_, false)) {
        tells.add(To::live, news_of(Kind::changed, std::nullopt, {}));
      }
      break;
    case Ask::unwatch:
      state_ = State::idle;  // whatever the store still sends is dropped
      break;
    case Ask::nothing:
      break;
  }
  return tells;
}

void WatchKey::on_lost() {
  switch (std::exchange(open_, Ask::nothing)) {
    case Ask::read:
      read_wanted_ = wanted_;
      break;
    case Ask::watch:
    case Ask::unwatch:
      state_ = State::idle;
      break;
    case Ask::nothing:
      break;
  }
}

// Whether this is another state than the known one.
bool WatchKey::differs(const std::optional<std::string_view>& value,
                       std::string_view version) const {
  if (held_ == Held::unknown || value.has_value() != (held_ == Held::present)) return true;
  if (!value) return false;
  const VersionOrder order = options_.compare(version, version_);
  if (order != VersionOrder::unknown) return order != VersionOrder::same;
  return hash64(*value, options_.hash_seed) != value_hash_;
}

// What a read during which a notification counted is worth.
WatchKey::Verdict WatchKey::judge(const std::optional<std::string_view>& value,
                                  std::string_view version) const {
  if (!value) {
    if (held_ == Held::absent) return Verdict::agrees;
    return heard_set_ ? Verdict::again : Verdict::news;
  }
  switch (options_.compare(version, version_)) {
    case VersionOrder::older:
      return Verdict::stale;
    case VersionOrder::same:
      return held_ == Held::present ? Verdict::agrees : Verdict::stale;
    case VersionOrder::newer:
      return Verdict::news;
    case VersionOrder::unknown:
      return Verdict::again;
  }
  return Verdict::again;
}

WatchKey::Tells WatchKey::on_read(const std::optional<std::string_view>& value,
                                  std::string_view version, Now now) {
  SHEAF_CHECK(open_ == Ask::read);
  open_ = Ask::nothing;
  Tells tells;
  if (!wanted_) return tells;
  audit_at_ = now.mono + options_.audit * audit_factor(value ? value->size() : 0);
  const Verdict verdict = heard_                    ? judge(value, version)
                          : differs(value, version) ? Verdict::news
                                                    : Verdict::agrees;
  if (verdict == Verdict::again) {
    want_read(false);
    return tells;
  }
  if (verdict == Verdict::news) tell_change(tells, value, version, now);
  if (needed_ > 0 && needed_ <= reads_) tell_current(tells, verdict, value, version);
  settled_ = true;
  after_gap_ = expects_change_ = false;
  sure_at_ = read_sent_;
  if (std::exchange(again_, false)) want_read(true);
  return tells;
}

// The first that is known of a key is no change, unless it may have changed while we were blind. A
// change that nobody announced was missed.
void WatchKey::tell_change(Tells& tells, const std::optional<std::string_view>& value,
                           std::string_view version, Now now) {
  const bool announced = after_gap_ || expects_change_;
  if (held_ != Held::unknown && settled_ && !announced) {
    blind_since_ = sure_at_;
    tell_gap(tells, now);
  }
  if (held_ != Held::unknown || announced) {
    tells.add(To::live, news_of(value ? Kind::set : Kind::deleted, value, version));
  }
  accept(value ? Held::present : Held::absent, version, value);
}

// What is newer than the read was told by a notification; its value is not kept.
void WatchKey::tell_current(Tells& tells, Verdict verdict,
                            const std::optional<std::string_view>& value,
                            std::string_view version) {
  const bool overtaken = verdict == Verdict::stale;
  if (overtaken && held_ == Held::present) return want_read(false);
  needed_ = 0;
  tells.add(To::waiting, overtaken ? news_of(Kind::current, std::nullopt, {})
                                   : news_of(Kind::current, value, version));
}

// ---- notifications

// The first deletion of a key that is absent already changes nothing, but later ones are compared
// with it.
void WatchKey::accept(Held held, std::string_view version,
                      const std::optional<std::string_view>& value) {
  held_ = held;
  if (held == Held::present || !version.empty()) version_ = version;
  if (value) value_hash_ = hash64(*value, options_.hash_seed);
}

bool WatchKey::counts(const Notification& notification) const {
  const bool deletion = notification.kind == Notification::Kind::deleted;
  if (version_.empty() || !options_.drop_stale) return true;
  const VersionOrder order = options_.compare(notification.version, version_);
  return order == VersionOrder::newer ||
         (deletion && order == VersionOrder::same && held_ != Held::absent);
}

WatchKey::Tells WatchKey::on_notification(const Notification& notification, Now now) {
  Tells tells;
  if (!wanted_ || (state_ != State::registering && state_ != State::registered)) return tells;
  // It overtook the answer to our request: heard again from here on.
  tell_gap(tells, now);
  const bool deletion = notification.kind == Notification::Kind::deleted;
  const bool placed =
      options_.compare(notification.version, notification.version) == VersionOrder::same &&
      !(version_.empty() && held_ == Held::present);
  const bool told =
      deletion || (notification.kind == Notification::Kind::set && notification.value);
  if (notification.kind == Notification::Kind::changed) {
    tells.add(To::live, news_of(Kind::changed, std::nullopt, notification.version));
  }
  if (!placed || !told) {
    // Only a read can say what it means. One that is open may have come too early.
    again_ = open_ == Ask::read;
    if (!again_) want_read(true);
    return tells;
  }
  if (!counts(notification)) {
    // Before the first read after a gap, versions may have started anew.
    const bool doubtful = !settled_ && after_gap_;
    again_ = again_ || (doubtful && open_ == Ask::read);
    return tells;
  }
  const bool news = !deletion || held_ != Held::absent;
  accept(deletion ? Held::absent : Held::present, notification.version, notification.value);
  heard_ = true;
  heard_set_ = heard_set_ || !deletion;
  if (!news) return tells;
  tells.add(To::live, deletion ? news_of(Kind::deleted, std::nullopt, notification.version)
                               : news_of(Kind::set, notification.value, notification.version));
  return tells;
}

}  // namespace sheaf::client::watch
