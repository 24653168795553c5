#include "cluster/moving/key_order.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/hash.h"

namespace sheaf::cluster {
namespace {

using Stage = Request::Stage;

// Two keys with the same hash only wait for each other.
template <class Action>
void for_each_line(const Request& request, const Action& action) {
  if (request.operation.keys.empty()) return action(hash64(request.operation.key));
  for (const std::string_view key : request.operation.keys) action(hash64(key));
}

}  // namespace

void KeyOrder::begin(Request& request) {
  ++last_;
  request.order_ = request.continues != 0 ? std::exchange(request.continues, 0) : last_;
  request.overtaken_ = false;
  request.patience_.over = false;
  request.stage_ = Stage::none;
  if (request.on_node_ || request.replica_) return;
  if (request.operation.key.empty() && request.operation.keys.empty()) return;
  request.stage_ = Stage::sent;
  if (active_) enter(request);
}

void KeyOrder::enter(Request& request) {
  if (request.stage_ == Stage::none) return;
  ++entered_;
  if (request.order_ <= newest_kept_) ++kept_;
  for_each_line(request, [&](std::uint64_t hash) {
    Line& line = lines_[hash];
    const auto at = std::ranges::upper_bound(line, request.order_, {}, &Request::order_);
    if (at == line.begin() || *std::prev(at) != &request) line.insert(at, &request);
  });
}

bool KeyOrder::is_free(const Request& request, std::uint32_t node) const {
  const auto blocks = [&](const Request* other) {
    if (other == &request) return false;
    const bool sent = other->stage_ == Stage::sent;
    if (other->order_ > request.order_) return sent;
    return !sent || (other->node_ != node && !request.patience_.over);
  };
  bool free = true;
  for_each_line(request, [&](std::uint64_t hash) {
    const auto line = lines_.find(hash);
    if (free && line != lines_.end()) free = std::ranges::none_of(line->second, blocks);
  });
  return free;
}

void KeyOrder::set_stage(Request& request, Stage stage) {
  if (request.stage_ == Stage::none) return;
  if (request.stage_ != Stage::sent) --waiting_;
  if (stage != Stage::parked) patient_.remove(request.patience_);
  request.stage_ = stage;
  if (stage != Stage::sent) ++waiting_;
}

void KeyOrder::send(Request& request) {
  if (!active_) return;  // nothing waits, so it counts as sent since it began
  const bool waited = request.stage_ != Stage::sent;
  set_stage(request, Stage::sent);
  request.patience_.over = false;
  if (waited) wake(request);
}

void KeyOrder::hold(Request& request) {
  set_stage(request, Stage::held);
  wake(request);
}

void KeyOrder::park(Request& request, Now now) {
  const bool left_node = request.stage_ == Stage::sent;
  set_stage(request, Stage::parked);
  const bool waits = request.patience_.over || patient_.contains(request.patience_);
  if (!waits) patient_.push(request.patience_, now.mono + patience);
  if (left_node && follows_parked(request)) return wake(request);
  // It was tried in vain, and those after it wait for it; but not those before it, on other keys.
  for_each_line(request, [&](std::uint64_t hash) {
    const auto line = lines_.find(hash);
    if (line == lines_.end() || first_parked(line->second) == &request) std::erase(woken_, hash);
  });
}

Request* KeyOrder::first_parked(const Line& line) {
  const auto found = std::ranges::find(line, Stage::parked, &Request::stage_);
  return found != line.end() ? *found : nullptr;
}

// True if an earlier request on its key is parked, perhaps because this one was on a node.
bool KeyOrder::follows_parked(const Request& request) const {
  bool follows = false;
  for_each_line(request, [&](std::uint64_t hash) {
    const auto line = lines_.find(hash);
    if (line == lines_.end()) return;
    follows |= std::ranges::any_of(line->second, [&](const Request* other) {
      return other->stage_ == Stage::parked && other->order_ < request.order_;
    });
  });
  return follows;
}

void KeyOrder::wake(const Request& request) {
  if (waiting_ == 0 || request.stage_ == Stage::none) return;
  for_each_line(request, [this](std::uint64_t hash) {
    if (std::ranges::find(woken_, hash) == woken_.end()) woken_.push_back(hash);
  });
}

void KeyOrder::leave(Request& request, bool carried_out) {
  if (!active_ || request.stage_ == Stage::none) return;
  const bool overtakes = carried_out && request.stage_ == Stage::sent;
  bool entered = false;
  for_each_line(request, [&](std::uint64_t hash) {
    const auto found = lines_.find(hash);
    if (found == lines_.end()) return;
    Line& line = found->second;
    if (std::erase(line, &request) == 0) return;
    entered = true;
    for (Request* const other : line) {
      if (overtakes && other->order_ < request.order_) other->overtaken_ = true;
    }
    if (line.empty()) lines_.erase(found);
  });
  if (request.stage_ != Stage::sent) --waiting_;
  patient_.remove(request.patience_);
  if (entered) --entered_;
  if (entered && request.order_ <= newest_kept_) --kept_;
  wake(request);
  request.stage_ = Stage::none;
  if (waiting_ == 0 && kept_ == 0) rest();
}

void KeyOrder::rest() noexcept {
  lines_.clear();
  woken_.clear();
  entered_ = 0;
  active_ = false;
}

void KeyOrder::advance(Now now) {
  while (Request::Patience* const due = patient_.pop_due(now.mono)) {
    due->over = true;
    wake(due->request);
  }
}

Request* KeyOrder::next_to_try() {
  while (!woken_.empty()) {
    const auto line = lines_.find(woken_.back());
    if (line != lines_.end()) {
      if (Request* const parked = first_parked(line->second)) return parked;
    }
    woken_.pop_back();
  }
  return nullptr;
}

Request* KeyOrder::any_parked() const {
  for (const auto& [hash, line] : lines_) {
    if (Request* const parked = first_parked(line)) return parked;
  }
  return nullptr;
}

}  // namespace sheaf::cluster
