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
  journal.begin();
  return std::unique_ptr<Saver>(new Saver(std::move(file), engine, interval, std::move(time)));
}

Saver::Saver(std::unique_ptr<StoreFile> file, Engine& engine, std::chrono::milliseconds interval,
             FileTime time)
    : file_(std::move(file)),
      journal_(engine.journal()),
      time_(std::move(time)),
      plan_(interval, journal_.clock()) {}

Saver::~Saver() {
  if (!journal_.empty()) commit(last_);
}

bool Saver::settle(Now now, bool more) {
  last_ = now;
  plan_.note(!journal_.empty(), now.mono);
  const bool was_frozen = journal_.frozen();
  if (plan_.due(journal_.clock(), now.mono, more) && !commit(now)) return was_frozen;
  return plan_.may_tell(journal_.clock());
}

bool Saver::commit(Now now) {
  const Deadline began = read_monotonic();
  const auto promised = plan_.promise(journal_.clock(), now.wall);
  const Done done = write_all({promised.wall, promised.counter, time_.mark(now)});
  if (done) {
    ++commits_;
    journal_.saved();
    plan_.committed(promised, read_monotonic() - began);
    trouble_.clear();
  } else {
    file_->discard();
    journal_.lost();
    plan_.failed(now.mono);
    trouble_ = done.error();
  }
  journal_.freeze(!done);
  return done.has_value();
}

Saver::Done Saver::write_all(const FileHeader& header) {
  Change change;
  while (journal_.poll(change)) {
    change.until = time_.to_file(change.until);
    if (Done written = file_->write(change); !written) return written;
  }
  return file_->commit(header);
}

}  // namespace sheaf::store
