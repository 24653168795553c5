#pragma once

// ListRegistry: the writers of a client, one for each list that it has changed lately. All List
// objects of the client share them.
//
// Thread rule: under the baton.

#include <map>
#include <memory>
#include <string>

#include <sheaf/cluster_config.h>
#include <sheaf/metrics.h>

#include "base/random.h"
#include "client/calls/procedure_host.h"
#include "client/calls/work.h"
#include "client/list/writer.h"

namespace sheaf::client::list {

// An edit and its caller.
class EditCall : public EditRequest {
 public:
  // `outcome` is there. The call is the caller's again.
  virtual void on_ended() = 0;

 protected:
  ~EditCall() = default;
};

// The keys of a list at this kind of endpoint.
Keys keys_of(std::string_view name, EndpointKind kind);
// What is wrong with a list's name there.
std::optional<Error> check_name(std::string_view name, const ClusterConfig& config);

class ListRegistry {
 public:
  ListRegistry(calls::ProcedureHost& host, const ClusterConfig& config, Seed seed);
  ~ListRegistry();
  ListRegistry(const ListRegistry&) = delete;
  ListRegistry& operator=(const ListRegistry&) = delete;

  // The call ends by on_ended, at the latest at its deadline, perhaps before this returns.
  void submit(const std::string& name, EditCall& call, Now now);

  // The caller of an edit that was submitted and has not ended does not want it any more.
  void cancel(const std::string& name, EditCall& call, Now now);

  const ListMetrics& counts() const noexcept { return counts_; }

  // Ends every edit but those of a commit that was sent, and releases the lists. `end` hears when
  // that is done: a tenth of a second after the deadlines of these edits at the latest. The last
  // call.
  void close(calls::WorkEnd& end, Now now);

 private:
  class Entry;
  static constexpr std::size_t most_entries = 256;  // but for those in use

  Entry* find_or_make(const std::string& name, Now now);
  std::unique_ptr<Register> make_register(const Keys& keys);
  void make_room(Now now);
  void finish_closing();

  calls::ProcedureHost& host_;
  const ClusterConfig& config_;
  Random random_;
  ListMetrics counts_;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  std::uint64_t uses_ = 0;
  calls::WorkEnd* closing_ = nullptr;
};

}  // namespace sheaf::client::list
