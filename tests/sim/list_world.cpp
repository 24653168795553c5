#include "tests/sim/list_world.h"

#include <cstdlib>

namespace sheaf::sim {

using client::list::CasRegister;
using client::list::Edit;
using client::list::Keys;
using client::list::Reader;
using client::list::StoreRegister;
using client::list::Writer;

SimWriter::SimWriter(StackClient& client, const ListRules& rules, std::uint64_t seed,
                     const Wrap& wrap)
    : client_(client) {
  Random random(seed);
  Keys keys(rules.name, rules.ids);
  std::unique_ptr<client::list::Register> list_register;
  if (rules.ids == client::list::Ids::drawn) {
    list_register = std::make_unique<CasRegister>(keys, rules.cas, random.fork());
  } else {
    list_register = std::make_unique<StoreRegister>(keys, rules.store, random.fork());
  }
  auto writer =
      std::make_unique<Writer>(keys, std::move(list_register), rules.writer, random.fork());
  writer_ = writer.get();
  std::unique_ptr<client::calls::Procedure> procedure = std::move(writer);
  if (wrap) {
    procedure.release();
    procedure = wrap(std::unique_ptr<Writer>(writer_));
  }
  client_.run(std::move(procedure), *this);
}

SimEdit& SimWriter::edit(Edit edit, std::chrono::nanoseconds timeout) {
  SimEdit& added = edits_.emplace_back();
  added.edit = std::move(edit);
  added.started = client_.loop().world().now().mono;
  added.deadline = added.started + timeout;
  client_.later([this, &added](Now now) {
    writer_->add(added, now);
    run_->resume(now);
  });
  return added;
}

SimEdit& SimWriter::push(const std::string& value, std::chrono::nanoseconds timeout) {
  return edit(Edit{Edit::Kind::push, 0, {value}}, timeout);
}

void SimWriter::on_progress(client::calls::ProcedureRun& run, Now now) {
  run_ = &run;
  while (client::list::EditRequest* ended = writer_->poll_ended()) {
    if (on_ended) on_ended(*ended, now);
  }
}

SimRead::SimRead(StackClient& client, const ListRules& rules, std::chrono::nanoseconds timeout)
    : started(client.loop().world().now().mono) {
  client::list::ReadTerms terms;
  terms.started = started;
  terms.deadline = started + timeout;
  terms.step_timeout = timeout;
  client.run(Reader::range(Keys(rules.name, rules.ids), 0, -1, terms), *this);
}

void SimRead::on_progress(client::calls::ProcedureRun& run, Now) {
  if (out || !run.procedure().done()) return;
  out.emplace(static_cast<Reader&>(run.procedure()).take_out());
  run.release();
}

}  // namespace sheaf::sim
