#pragma once

// The calls of a list as Works: one edit, many pushes, and the removal of holes. Reads are
// procedures (client/list/reader.h).
//
// Thread rule: as for every Work.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/list.h>

#include "client/calls/procedure_call.h"
#include "client/calls/work.h"
#include "client/list/list_service.h"
#include "client/list/reader.h"

namespace sheaf::client::list {

// The time that each step of a call may take.
std::chrono::nanoseconds step_time(const ClusterConfig& config, const Timeout& of_list,
                                   const Timeout& of_call);

// The terms of a read that begins at `started`.
ReadTerms read_terms(const ClusterConfig& config, Deadline started, std::chrono::nanoseconds time);

class RunEdit final : private EditCall {
 public:
  using Out = Result<EditOutcome>;

  RunEdit(calls::WorkEnd& end, ListService& service, std::string_view list_name, Edit the_edit,
          Deadline began, std::chrono::nanoseconds time)
      : end_(end), service_(service), name_(list_name) {
    edit = std::move(the_edit);
    started = began;
    deadline = began + time;
  }

  void start(Now now) { service_.registry.submit(name_, *this, now); }
  void cancel(Now now) { service_.registry.cancel(name_, *this, now); }
  Out take() { return std::move(*outcome); }

 private:
  void on_ended() override { end_.ended(); }

  calls::WorkEnd& end_;
  ListService& service_;
  std::string name_;
};

// Pushes in parts, one after the other; each part gets the whole time.
class PushMany final : private EditCall, private socket::Lane::Task {
 public:
  using Out = PushManyResult;
  static constexpr std::size_t part_items = 2'000;
  static constexpr std::size_t part_bytes = 4u << 20;

  PushMany(calls::WorkEnd& end, ListService& service, std::string_view name,
           std::span<const std::string_view> values, std::chrono::nanoseconds time,
           bool persist = false)
      : end_(end),
        service_(service),
        name_(name),
        values_(values),
        time_(time),
        persist_(persist) {}

  void start(Now now);
  void cancel(Now now);
  Out take() { return std::move(result_); }

 private:
  void run(Now now) override { start(now); }
  void on_ended() override;

  calls::WorkEnd& end_;
  ListService& service_;
  std::string name_;
  std::span<const std::string_view> values_;
  const std::chrono::nanoseconds time_;
  const bool persist_;
  Out result_;
};

// Reads a part of the list and removes the holes in it, until the whole list has been read. Each
// step gets the whole time.
class DropHoles final : private EditCall, private calls::WorkEnd, private socket::Lane::Task {
 public:
  using Out = Result<std::uint64_t>;

  DropHoles(calls::WorkEnd& end, ListService& service, std::string_view name,
            std::chrono::nanoseconds time)
      : end_(end), service_(service), name_(name), time_(time) {}

  void start(Now now);
  void cancel(Now now);
  Out take() { return std::move(out_); }

 private:
  void run(Now now) override { start(now); }
  void ended() override;     // a read
  void on_ended() override;  // an edit
  void go_on();
  void finish(Out out);

  calls::WorkEnd& end_;
  ListService& service_;
  std::string name_;
  const std::chrono::nanoseconds time_;
  std::int64_t first_ = 0;                           // index at which the next read begins
  std::optional<calls::RunProcedure<Reader>> read_;  // while it reads
  std::vector<Edit> edits_;                          // still to do, in reverse order
  std::uint64_t dropped_ = 0;
  Out out_;
};

}  // namespace sheaf::client::list
