#include "tests/sim/kit/write_order.h"

#include <algorithm>

#include "tests/sim/kit/stack.h"

namespace sheaf::sim {

WriteOrder::Line& WriteOrder::line_of(unsigned client, std::string_view key) {
  return lines_[{client, std::string(key)}];
}

WriteOrder::Line& WriteOrder::begin(unsigned client, std::string_view key) {
  Line& line = line_of(client, key);
  if (line.open++ > 0) ++overlaps_;
  return line;
}

void WriteOrder::add_write(Line& line, std::string_view value, Deadline at) {
  places_[std::string(value)] = {&line, line.writes.size()};
  line.writes.push_back({std::string(value), at});
}

void WriteOrder::begin_write(unsigned client, std::string_view key, std::string_view value,
                             Deadline at) {
  add_write(begin(client, key), value, at);
}

WriteOrder::Read WriteOrder::begin_read(unsigned client, std::string_view key) {
  Line& line = begin(client, key);
  reads_.push_back({&line, line.writes.size(), false, {}});
  return reads_.size() - 1;
}

const WriteOrder::Place* WriteOrder::find(std::string_view value) const {
  const auto found = places_.find(std::string(value));
  return found == places_.end() ? nullptr : &found->second;
}

void WriteOrder::end_write(std::string_view value, State state, Deadline at) {
  const Place* const place = find(value);
  if (place == nullptr) return;
  Write& write = place->line->writes[place->number];
  if (write.state != State::open) return;
  write.state = state;
  write.ended_at = at;
  if (place->line->open > 0) --place->line->open;
}

void WriteOrder::acknowledge(std::string_view value) {
  end_write(value, State::acknowledged, never);
}

void WriteOrder::fail(std::string_view value, Outcome outcome, Deadline at) {
  end_write(value, outcome == Outcome::unknown ? State::unknown : State::not_done, at);
}

void WriteOrder::end_read(Read read, std::optional<std::string_view> value) {
  Seen& seen = reads_[read];
  seen.returned = value.has_value();
  seen.value = value.value_or("");
  if (seen.line->open > 0) --seen.line->open;
}

void WriteOrder::add(unsigned client, const std::deque<Op>& operations) {
  for (const Op& op : operations) {
    Line& line = line_of(client, op.key);
    if (op.started < line.busy_until) ++overlaps_;
    line.busy_until = std::max(line.busy_until, op.ended > 0 ? op.ended_at : never);
    if (op.verb == protocol::Verb::set) {
      add_write(line, op.value, op.started);
      if (op.ended == 0) continue;
      op.answered ? acknowledge(op.value) : fail(op.value, op.outcome, op.ended_at);
    } else if (op.verb == protocol::Verb::get && op.answered && !op.got.empty()) {
      reads_.push_back({&line, line.writes.size(), true, op.got});
    }
  }
}

// Returns what is wrong with a read that returned the write with this number, or nothing.
std::string WriteOrder::check(const Seen& read, std::size_t number) {
  const std::vector<Write>& writes = read.line->writes;
  if (number >= read.after) {
    return read.value + " was read by a read that was submitted before it";
  }
  if (writes[number].state == State::unknown) return {};  // it may have been late
  for (std::size_t later = read.after; later-- > number + 1;) {
    if (writes[later].state != State::acknowledged) continue;
    return read.value + " was read by a read that was submitted after " + writes[later].value;
  }
  return {};
}

// True if a write that ended then must not have been carried out after `later`.
bool WriteOrder::overtakes(const Line& line, const Done& later, Deadline ended_at) const {
  if (later.at >= ended_at) return false;
  const Deadline submitted_at = line.writes[later.number].submitted_at;
  return !patience_ || later.at < submitted_at + *patience_;
}

std::vector<std::string> WriteOrder::judge(const ServerLog& log) const {
  std::vector<std::string> findings;
  std::map<std::pair<const void*, const Line*>, std::vector<Done>> all_done;
  for (const Stored& stored : log) {
    const Place* const place = find(stored.value);
    if (place == nullptr) continue;  // of an earlier judgement
    const Write& write = place->line->writes[place->number];
    // Ascending by number, and so by time. Those that were themselves overtaken are left out.
    auto& done = all_done[{stored.store, place->line}];
    auto later = std::ranges::upper_bound(done, place->number, {}, &Done::number);
    if (later == done.end()) {
      if (done.empty() || done.back().number < place->number) {
        done.push_back({place->number, stored.at});
      }
      continue;
    }
    later = std::find_if(later, done.end(), [&](const Done& one) {
      return overtakes(*place->line, one, write.ended_at);
    });
    if (later == done.end()) continue;
    findings.push_back(stored.value + " was carried out after " +
                       place->line->writes[later->number].value);
  }
  for (const Seen& read : reads_) {
    const Place* const place = read.returned ? find(read.value) : nullptr;
    if (place == nullptr || place->line != read.line) continue;
    if (std::string text = check(read, place->number); !text.empty()) findings.push_back(text);
  }
  return findings;
}

void WriteOrder::forget() {
  lines_.clear();
  places_.clear();
  reads_.clear();
}

}  // namespace sheaf::sim
