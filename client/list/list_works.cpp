#include "client/list/list_works.h"

#include <algorithm>
#include <utility>

#include "client/calls/admit.h"

namespace sheaf::client::list {
namespace {

constexpr std::int64_t scanned_items = 2'000;  // by one read of DropHoles
constexpr int timeouts = 5;                    // one step may take this many cluster timeouts

// One edit for each segment that has holes.
std::vector<Edit> drops(const std::vector<Hole>& holes) {
  std::vector<Edit> edits;
  for (const Hole& hole : holes) {
    if (edits.empty() || edits.back().segment != hole.segment) {
      edits.emplace_back().kind = Edit::Kind::drop;
      edits.back().segment = hole.segment;
    }
    if (hole.item != 0) edits.back().items.push_back(hole.item);
  }
  return edits;
}

}  // namespace

std::chrono::nanoseconds step_time(const ClusterConfig& config, const Timeout& of_list,
                                   const Timeout& of_call) {
  if (of_call) return *of_call;
  if (of_list) return *of_list;
  return std::min<std::chrono::nanoseconds>(timeouts * config.timeout, std::chrono::hours(24));
}

ReadTerms read_terms(const ClusterConfig& config, Deadline started, std::chrono::nanoseconds time) {
  return {started, started + time, config.timeout};
}

void PushMany::start(Now now) {
  if (values_.empty()) return end_.ended();
  edit = Edit();
  edit.persist = persist_;
  std::size_t bytes = 0;
  for (const std::string_view value : values_) {
    bytes += value.size();
    const bool fits = edit.values.size() < part_items && bytes <= part_bytes;
    if (!edit.values.empty() && !fits) break;
    edit.values.emplace_back(value);
  }
  values_ = values_.subspan(edit.values.size());
  started = now.mono;
  deadline = started + time_;
  outcome.reset();
  service_.registry.submit(name_, *this, now);
}

// Between two parts the task for the next one is posted, and no edit is submitted.
void PushMany::cancel(Now now) {
  if (!linked()) return service_.registry.cancel(name_, *this, now);
  service_.context.lane().cancel(*this);
  result_.error = calls::cancelled_error();
  end_.ended();
}

void PushMany::on_ended() {
  if (!*outcome) {
    result_.error = std::move(outcome->error());
    return end_.ended();
  }
  result_.pushed += edit.values.size();
  result_.length = (*outcome)->length;
  if (values_.empty()) return end_.ended();
  service_.context.lane().post(*this);
}

void DropHoles::start(Now now) {
  if (edits_.empty()) {
    const ClusterConfig& config = service_.context.config();
    read_.emplace(
        static_cast<WorkEnd&>(*this), service_.procedures,
        Reader::with_holes(keys_of(name_, config.kind), first_, first_ + scanned_items - 1,
                           read_terms(config, now.mono, time_)));
    return read_->start(now);
  }
  edit = std::move(edits_.back());
  edits_.pop_back();
  started = now.mono;
  deadline = started + time_;
  outcome.reset();
  service_.registry.submit(name_, *this, now);
}

// Between two steps the task for the next one is posted, and neither a read nor an edit runs.
void DropHoles::cancel(Now now) {
  if (read_) return read_->cancel(now);
  if (!linked()) return service_.registry.cancel(name_, *this, now);
  service_.context.lane().cancel(*this);
  finish(Failure(calls::cancelled_error()));
}

// Removing holes moves the items after them forward, so then the same range is read again.
void DropHoles::ended() {
  auto read = read_->take();
  read_.reset();
  if (!read) return finish(Failure(std::move(read.error())));
  if (read->items.empty()) return finish(dropped_);
  edits_ = drops(read->holes);
  std::ranges::reverse(edits_);
  if (edits_.empty()) first_ += static_cast<std::int64_t>(read->items.size());
  go_on();
}

void DropHoles::on_ended() {
  if (!*outcome) return finish(Failure(std::move(outcome->error())));
  dropped_ += (*outcome)->dropped;
  go_on();
}

void DropHoles::go_on() { service_.context.lane().post(*this); }

void DropHoles::finish(Out out) {
  out_ = std::move(out);
  end_.ended();
}

}  // namespace sheaf::client::list
