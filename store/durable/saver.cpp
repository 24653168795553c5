#include "store/durable/saver.h"

#include <utility>

#include "base/read_clocks.h"

namespace sheaf::store {

std::expected<std::unique_ptr<Saver>, std::string> Saver::start(std::unique_ptr<StoreFile> file,
                                                                Engine& engine,
                                                                std::chrono::milliseconds interval,
                                                                Now now, std::string_view boot) {
  const auto header = file->read_header();
  if (!header) return std::unexpected(header.error());
  FileTime time(header->mark, now, boot);
  Journal& journal = engine.journal();
  for (;;) {
    Change row;
    const auto more = file->read(row);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    row.until = time.from_file(row.until);
    journal.restore(row);
  }
  journal.resume({header->wall, header->counter, {}});
  journal.promised(journal.clock());
  journal.begin();
  return std::unique_ptr<Saver>(new Saver(std::move(file), engine, interval, std::move(time)));
}

Saver::Saver(std::unique_ptr<StoreFile> file, Engine& engine, std::chrono::milliseconds interval,
             FileTime time)
    : file_(std::move(file)),
      journal_(engine.journal()),
      time_(std::move(time)),
      plan_(interval, engine.options().persist == Persist::all, journal_.clock()),
      bytes_(file_->bytes()) {}

Saver::~Saver() {
  if (!journal_.empty()) commit(last_);
}

FileNumbers Saver::numbers() const {
  const LatencyHistogram times = commit_times_.snapshot();
  const auto microseconds = [](std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::microseconds>(time).count());
  };
  return {.bytes = bytes_,
          .commits = commit_times_.count(),
          .failed_commits = failed_,
          .total_us = microseconds(times.sum),
          .median_us = microseconds(times.quantile(0.5)),
          .p99_us = microseconds(times.quantile(0.99)),
          .longest_us = microseconds(times.quantile(1))};
}

void Saver::note(Now now) {
  last_ = now;
  plan_.note(!journal_.empty(), now.mono);
}

bool Saver::settle(Now now, bool more) {
  note(now);
  const bool was_frozen = journal_.frozen();
  if (plan_.due(journal_.clock(), now.mono, more) && !commit(now)) return was_frozen;
  return may_tell();
}

bool Saver::due(Now now) const {
  return !commit_.begun && plan_.due(journal_.clock(), now.mono, false);
}

bool Saver::commit(Now now) {
  begin(now);
  write();
  return finish(now);
}

void Saver::begin(Now now) {
  commit_.begun = true;
  commit_.at = now.mono;
  commit_.promised = plan_.promise(journal_.clock(), now.wall);
  commit_.header = {commit_.promised.wall, commit_.promised.counter, time_.mark(now)};
  Change change;
  while (journal_.poll(change)) {
    change.until = time_.to_file(change.until);
    commit_.changes.add(change);
  }
}

void Saver::write() {
  const Deadline began = read_monotonic();
  commit_.done = commit_.changes.write_to(*file_);
  if (commit_.done) commit_.done = file_->commit(commit_.header);
  if (!commit_.done) file_->discard();
  commit_.took = read_monotonic() - began;
  commit_.bytes = file_->bytes();
}

bool Saver::finish(Now now) {
  commit_.begun = false;
  commit_.changes.clear();
  const Done done = std::exchange(commit_.done, {});
  bytes_ = commit_.bytes;
  if (done) {
    commit_times_.record(commit_.took);
    journal_.saved();
    journal_.promised(commit_.promised);
    plan_.committed(commit_.promised, commit_.took);
    plan_.note(!journal_.empty(), commit_.at);  // what has changed meanwhile
    trouble_.clear();
  } else {
    journal_.lost();
    ++failed_;
    plan_.failed(now.mono);
    trouble_ = done.error();
  }
  journal_.freeze(!done);
  return done.has_value();
}

}  // namespace sheaf::store
