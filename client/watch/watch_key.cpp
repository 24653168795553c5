// Pure: no socket, clock, entropy, thread or callback.

#include "client/watch/watch_key.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::client::watch {

using calls::WatchUpdate;
using protocol::Notification;
using protocol::VersionOrder;
using Kind = WatchEvent::Kind;

namespace {

WatchUpdate update_of(Kind kind, const std::optional<std::string_view>& value,
                      std::string_view version) {
  WatchUpdate update;
  update.kind = kind;
  update.value = value;
  update.version = version;
  return update;
}

WatchUpdate failure(const Error& error) {
  WatchUpdate update;
  update.kind = Kind::failed;
  update.error = &error;
  return update;
}

// Large values are audited less often, so that audits move few bytes.
std::int64_t audit_factor(std::size_t size) {
  constexpr std::size_t small = 64 * 1024;
  constexpr std::size_t most = 60;
  return static_cast<std::int64_t>(std::min(1 + size / small, most));
}

}  // namespace

// ---- watchers

std::uint64_t WatchKey::join(calls::WatchStart start) {
  wanted_ = true;
  if (registration_ == Registration::refused) retry_at_ = Deadline{0};
  if (start == calls::WatchStart::quiet) return 0;
  // A read in flight may return an older state, so the watcher needs the next one.
  needed_ = reads_ + 1;
  if (!read_is_open()) want_read();
  return needed_;
}

void WatchKey::leave() {
  wanted_ = false;
  held_ = Held::unknown;
  version_.clear();
  blind_since_.reset();
  basis_ = Basis::first;
  outage_reported_ = false;
  needed_ = 0;
  if (reading_ == Reading::wanted) reading_ = Reading::none;
  if (registration_ == Registration::refused) registration_ = Registration::idle;
}

bool WatchKey::idle() const noexcept {
  return !wanted_ && registration_ != Registration::registered && open_request() == Request::none;
}

// ---- what to send

WatchKey::Request WatchKey::open_request() const noexcept {
  switch (registration_) {
    case Registration::registering:
    case Registration::confirmed:
      return Request::watch;
    case Registration::stopping:
      return Request::unwatch;
    case Registration::registered:
      return read_is_open() ? Request::read : Request::none;
    case Registration::offline:
    case Registration::idle:
    case Registration::refused:
      break;
  }
  return Request::none;
}

WatchKey::Request WatchKey::next_request(Now now) const {
  switch (registration_) {
    case Registration::idle:
      return wanted_ ? Request::watch : Request::none;
    case Registration::refused:
      return wanted_ && now.mono >= retry_at_ ? Request::watch : Request::none;
    case Registration::registered:
      if (read_is_open()) return Request::none;
      if (!wanted_) return Request::unwatch;
      return now.mono >= read_due() ? Request::read : Request::none;
    case Registration::offline:
    case Registration::registering:
    case Registration::confirmed:
    case Registration::stopping:
      break;
  }
  return Request::none;
}

void WatchKey::sent(Now now) {
  switch (next_request(now)) {
    case Request::watch:
      registration_ = Registration::registering;
      break;
    case Request::unwatch:
      registration_ = Registration::stopping;
      break;
    case Request::read:
      reading_ = Reading::open;
      heard_ = Heard::nothing;
      read_sent_ = now;
      ++reads_;
      break;
    case Request::none:
      break;
  }
}

Deadline WatchKey::poll_deadline() const {
  if (!wanted_) return never;
  if (registration_ == Registration::refused) return retry_at_;
  const bool may_read = registration_ == Registration::registered && !read_is_open();
  return may_read ? read_due() : never;
}

void WatchKey::want_read() {
  reading_ = Reading::wanted;
  read_at_ = Deadline{0};
}

// A notification reported a change, but only a read can find the new state.
void WatchKey::expect_change() {
  want_read();
  if (basis_ != Basis::missed) basis_ = Basis::announced;
}

// ---- the line

void WatchKey::on_line_up() { registration_ = Registration::idle; }

void WatchKey::on_line_down(Now proof) {
  SHEAF_CHECK(open_request() == Request::none);
  const bool heard_until_now = registration_ == Registration::registered && wanted_;
  if (heard_until_now && !blind_since_) blind_since_ = proof;
  registration_ = Registration::offline;
}

WatchKey::Reports WatchKey::on_line_failed(const Error& error) {
  Reports reports;
  const bool is_new = wanted_ && !std::exchange(outage_reported_, true);
  if (is_new) reports.add(Audience::all, failure(error));
  return reports;
}

// ---- another node

// If the key is not registered yet, the gap is reported once it is. A read that is open here may
// have seen an older state than the known one.
WatchKey::Reports WatchKey::on_moved_here(const WatchKey& before, Now proof, Now now) {
  Reports reports;
  const bool listened = before.registration_ == Registration::confirmed ||
                        before.registration_ == Registration::registered;
  blind_since_ = before.blind_since_;
  if (listened && !blind_since_) blind_since_ = proof;
  held_ = before.held_;
  value_hash_ = before.value_hash_;
  version_.clear();
  if (read_is_open()) useless_ = reads_;
  if (registration_ != Registration::registered) return reports;
  report_gap(reports, now);
  if (!read_is_open()) want_read();
  return reports;
}

// ---- answers

WatchKey::Reports WatchKey::on_watching(Now now, bool polls) {
  SHEAF_CHECK(open_request() == Request::watch);
  registration_ = Registration::registered;
  outage_reported_ = false;
  redirected_since_.reset();
  polls_ = polls;
  sure_at_ = now;
  audit_at_ = now.mono + audit_interval();
  if (basis_ == Basis::settled) basis_ = Basis::first;
  Reports reports;
  if (!wanted_) return reports;
  report_gap(reports, now);
  // A polled key is compared with its first read.
  if (basis_ == Basis::missed || polls_) want_read();
  return reports;
}

void WatchKey::on_unwatched() {
  SHEAF_CHECK(open_request() == Request::unwatch);
  registration_ = Registration::idle;
}

WatchKey::Reports WatchKey::on_refused(const Error& error, bool permanent, Now now) {
  const Request refused = open_request();
  put_off(refused == Request::watch && permanent ? never : now.mono + options_.retry);
  Reports reports;
  if (!wanted_) return reports;
  if (refused == Request::watch) reports.add(Audience::all, failure(error));
  if (refused != Request::read) return reports;
  // The key is watched, but its value cannot be reported.
  reports.add(Audience::waiting, failure(error));
  if (basis_ == Basis::announced || basis_ == Basis::missed) {
    basis_ = Basis::first;
    reports.add(Audience::live, update_of(Kind::changed, std::nullopt, {}));
  }
  return reports;
}

WatchKey::Reports WatchKey::on_redirected(const Error& error, Now now) {
  if (!redirected_since_) redirected_since_ = now.mono;
  if (now.mono - *redirected_since_ >= options_.patience) {
    redirected_since_.reset();
    return on_refused(error, false, now);
  }
  put_off(now.mono + options_.retry_elsewhere);
  return {};
}

// The open request had no useful answer and is repeated. An unwatch need not be repeated:
// notifications that still come are dropped.
void WatchKey::put_off(Deadline again) {
  switch (open_request()) {
    case Request::watch:
      registration_ = wanted_ ? Registration::refused : Registration::idle;
      retry_at_ = again;
      break;
    case Request::read:
      reading_ = wanted_ ? Reading::wanted : Reading::none;
      read_at_ = again;
      break;
    case Request::unwatch:
      registration_ = Registration::idle;
      break;
    case Request::none:
      break;
  }
}

void WatchKey::on_lost() {
  switch (open_request()) {
    case Request::read:
      reading_ = wanted_ ? Reading::wanted : Reading::none;
      break;
    case Request::watch:
      registration_ =
          registration_ == Registration::confirmed ? Registration::registered : Registration::idle;
      break;
    case Request::unwatch:
      registration_ = Registration::idle;
      break;
    case Request::none:
      break;
  }
}

// True if this is another state than the known one.
bool WatchKey::differs(const std::optional<std::string_view>& value,
                       std::string_view version) const {
  if (held_ == Held::unknown || value.has_value() != (held_ == Held::present)) return true;
  if (!value) return false;
  const VersionOrder order = options_.compare(version, version_);
  if (order != VersionOrder::unknown) return order != VersionOrder::same;
  return hash64(*value, options_.hash_seed) != value_hash_;
}

// Decides what a read proves. The versions matter only if a notification counted meanwhile.
WatchKey::Verdict WatchKey::judge(const std::optional<std::string_view>& value,
                                  std::string_view version) const {
  if (heard_ == Heard::nothing) return differs(value, version) ? Verdict::changed : Verdict::same;
  if (!value) {
    if (held_ == Held::absent) return Verdict::same;
    return heard_ == Heard::set ? Verdict::undecided : Verdict::changed;
  }
  switch (options_.compare(version, version_)) {
    case VersionOrder::older:
      return Verdict::stale;
    case VersionOrder::same:
      return held_ == Held::present ? Verdict::same : Verdict::stale;
    case VersionOrder::newer:
      return Verdict::changed;
    case VersionOrder::unknown:
      break;
  }
  return Verdict::undecided;
}

WatchKey::Reports WatchKey::on_read(const std::optional<std::string_view>& value,
                                    std::string_view version, Now now) {
  SHEAF_CHECK(open_request() == Request::read);
  const bool repeat = std::exchange(reading_, Reading::none) == Reading::repeat;
  Reports reports;
  if (!wanted_) return reports;
  if (useless_ == reads_) {
    want_read();
    return reports;
  }
  redirected_since_.reset();
  audit_at_ = now.mono + audit_interval() * audit_factor(value ? value->size() : 0);

  const Verdict verdict = judge(value, version);
  if (verdict == Verdict::undecided) {
    repeat ? expect_change() : want_read();
    return reports;
  }
  if (verdict == Verdict::changed) report_change(reports, value, version, now);
  if (needed_ > 0 && needed_ <= reads_) report_current(reports, verdict, value, version);
  basis_ = Basis::settled;
  sure_at_ = read_sent_;

  // Another read may be needed: for a notification that this one may have missed, or for later
  // watchers.
  if (repeat) expect_change();
  if (needed_ > reads_) want_read();
  return reports;
}

void WatchKey::report_gap(Reports& reports, Now until) {
  if (!blind_since_) return;
  WatchUpdate gap;
  gap.kind = Kind::gap;
  gap.from = *blind_since_;
  gap.until = until;
  reports.add(Audience::live, gap);
  blind_since_.reset();
  basis_ = Basis::missed;
}

// The first known state of a key is not a change, unless a change was announced or missed.
void WatchKey::report_change(Reports& reports, const std::optional<std::string_view>& value,
                             std::string_view version, Now now) {
  const bool known = held_ != Held::unknown;
  if (known && basis_ == Basis::settled && !polls_) {
    blind_since_ = sure_at_;
    report_gap(reports, now);
  }
  if (known || basis_ == Basis::announced || basis_ == Basis::missed) {
    reports.add(Audience::live, update_of(value ? Kind::set : Kind::deleted, value, version));
  }
  accept(value ? Held::present : Held::absent, version, value);
}

// A notification may have overtaken the read, and its value is not kept: unless it was a removal,
// the waiting watchers need another read.
void WatchKey::report_current(Reports& reports, Verdict verdict,
                              const std::optional<std::string_view>& value,
                              std::string_view version) {
  const bool overtaken = verdict == Verdict::stale;
  if (overtaken && held_ == Held::present) return want_read();
  needed_ = 0;
  reports.add(Audience::waiting, overtaken ? update_of(Kind::current, std::nullopt, {})
                                           : update_of(Kind::current, value, version));
}

// ---- notifications

// Removing a key that is already absent changes nothing, but the version counts: later
// notifications are compared with it.
void WatchKey::accept(Held held, std::string_view version,
                      const std::optional<std::string_view>& value) {
  held_ = held;
  if (held == Held::present || !version.empty()) version_ = version;
  if (value) value_hash_ = hash64(*value, options_.hash_seed);
}

bool WatchKey::counts(const Notification& notification) const {
  if (version_.empty() || !options_.controls.drop_stale) return true;
  const bool deletion = notification.kind == Notification::Kind::deleted;
  const VersionOrder order = options_.compare(notification.version, version_);
  return order == VersionOrder::newer ||
         (deletion && order == VersionOrder::same && held_ != Held::absent);
}

WatchKey::Reports WatchKey::on_notification(const Notification& notification, Now now) {
  Reports reports;
  if (!wanted_) return reports;
  // A notification that overtakes the answer to the registration proves it: the gap ends here.
  if (registration_ == Registration::registering) registration_ = Registration::confirmed;
  const bool listens =
      registration_ == Registration::confirmed || registration_ == Registration::registered;
  if (!listens) return reports;
  report_gap(reports, now);

  // If a notification has no place in the order, or no value, only a read can find the new state. A
  // read that is open may have begun too early.
  const bool deletion = notification.kind == Notification::Kind::deleted;
  const bool complete =
      deletion || (notification.kind == Notification::Kind::set && notification.value);
  const bool placed =
      options_.compare(notification.version, notification.version) == VersionOrder::same &&
      !(version_.empty() && held_ == Held::present);
  if (notification.kind == Notification::Kind::changed) {
    reports.add(Audience::live, update_of(Kind::changed, std::nullopt, notification.version));
  }
  if (!placed || !complete) {
    if (read_is_open()) {
      reading_ = Reading::repeat;
    } else {
      expect_change();
    }
    return reports;
  }

  // A notification with an old version is dropped. But between a gap and the first read after it,
  // the store may have restarted its versions.
  if (!counts(notification)) {
    if (basis_ == Basis::missed && read_is_open()) reading_ = Reading::repeat;
    return reports;
  }

  const bool is_change = !deletion || held_ != Held::absent;
  accept(deletion ? Held::absent : Held::present, notification.version, notification.value);
  heard_ = std::max(heard_, deletion ? Heard::deletion : Heard::set);
  if (!is_change) return reports;
  reports.add(Audience::live, deletion
                                  ? update_of(Kind::deleted, std::nullopt, notification.version)
                                  : update_of(Kind::set, notification.value, notification.version));
  return reports;
}

}  // namespace sheaf::client::watch
