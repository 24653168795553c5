#pragma once

// Clients that write and read one list over the simulated network, and what must hold for the list.
// A writer waits for the requests of a step before it begins the next, and those of one step have
// different keys, so the order of requests on a key is not in question. The order of a writer's
// items is: ListRun checks it.
//
// Thread rule: one thread.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/list/cas_register.h"
#include "client/list/reader.h"
#include "client/list/store_register.h"
#include "client/list/writer.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {

struct ListRules {
  client::list::Ids ids = client::list::Ids::counted;  // drawn on memcached
  client::list::StoreRegisterOptions store;
  client::list::CasRegisterOptions cas;
  client::list::WriterOptions writer;
  std::string name = "jobs";
};

// The kind of endpoint on which a list uses ids of this kind.
inline EndpointKind kind_of(client::list::Ids ids) {
  return ids == client::list::Ids::drawn ? EndpointKind::memcached : EndpointKind::state_store;
}
// For suites that run on both kinds, with their names.
inline const auto both_kinds =
    testing::Values(client::list::Ids::counted, client::list::Ids::drawn);
inline std::string name_of(const testing::TestParamInfo<client::list::Ids>& test) {
  return test.param == client::list::Ids::drawn ? "Memcached" : "StateStore";
}

// An edit in progress, and how it ended.
using SimEdit = client::list::EditRequest;

// A writer of the list on one client, which is destroyed first.
class SimWriter final : private client::calls::ProcedureOwner {
 public:
  using Wrap = std::function<std::unique_ptr<client::calls::Procedure>(
      std::unique_ptr<client::list::Writer>)>;

  // `wrap` may put a wrapper around the procedure.
  SimWriter(StackClient& client, const ListRules& rules, std::uint64_t seed, const Wrap& wrap = {});
  SimWriter(const SimWriter&) = delete;
  SimWriter& operator=(const SimWriter&) = delete;

  // Both start in the client's next turn.
  SimEdit& edit(client::list::Edit edit, std::chrono::nanoseconds timeout);
  SimEdit& push(const std::string& value, std::chrono::nanoseconds timeout);

  StackClient& client() { return client_; }
  const std::deque<SimEdit>& edits() const { return edits_; }
  // Called when an edit has ended.
  std::function<void(SimEdit&, Now)> on_ended;

 private:
  void on_progress(client::calls::ProcedureRun& run, Now now) override;

  StackClient& client_;
  client::list::Writer* writer_ = nullptr;
  client::calls::ProcedureRun* run_ = nullptr;
  std::deque<SimEdit> edits_;
};

// One read of the whole list on a client, which is destroyed first.
class SimRead final : private client::calls::ProcedureOwner {
 public:
  SimRead(StackClient& client, const ListRules& rules, std::chrono::nanoseconds timeout);
  SimRead(const SimRead&) = delete;
  SimRead& operator=(const SimRead&) = delete;

  Deadline started{0};
  std::optional<client::list::Reader::Out> out;

 private:
  void on_progress(client::calls::ProcedureRun& run, Now now) override;
};

}  // namespace sheaf::sim
