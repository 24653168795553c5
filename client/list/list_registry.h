#pragma once

// ListRegistry: the writers of a client, one for each list that it has changed recently. All List
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
  // `outcome` is set. The caller owns the call again.
  virtual void on_ended() = 0;

 protected:
  ~EditCall() = default;
};

// The keys of a list at this kind of endpoint.
Keys keys_of(std::string_view name, EndpointKind kind);
// The error of a list's name that this cluster cannot take.
std::optional<Error> check_name(std::string_view name, const ClusterConfig& config);

class ListRegistry {
 public:
  ListRegistry(calls::ProcedureHost& host, const ClusterConfig& config, Seed seed);
  ~ListRegistry();
  ListRegistry(const ListRegistry&) = delete;
  ListRegistry& operator=(const ListRegistry&) = delete;

  // The call ends with on_ended, at its deadline at the latest, perhaps before this returns.
  void submit(const std::string& name, EditCall& call, Now now);

  // Ends an edit whose caller no longer wants it. It must have been submitted and not have ended.
  void cancel(const std::string& name, EditCall& call, Now now);

  const ListMetrics& counts() const noexcept { return counts_; }

  // Ends every edit except those of a commit that was sent, and releases the lists. Notifies `end`
  // when that is done: at the latest a tenth of a second after the deadlines of the remaining
  // edits. This must be the last call.
  void close(calls::WorkEnd& end, Now now);

 private:
  class Entry;
  static constexpr std::size_t most_entries = 256;  // entries in use may exceed it

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
