#pragma once

// MapFetcher: maintains the topology of a cluster whose servers say who owns which slot. It asks
// one of them for the map whenever it is wanted (map_calm.h), and applies what is new.
//
// | phase    | input                             | then                             | next     |
// |----------|-----------------------------------|----------------------------------|----------|
// | idle     | fetch_map()                       | asks the member `first`, then    | asking   |
// |          |                                   | others in random order           |          |
// | asking   | an answer that the map can use    |                                  | answered |
// | asking   | an answer that is half of the map |                                  | again    |
// |          | or makes it ask another question  |                                  |          |
// | asking   | while no map is known, no answer  | this member gets a second turn,  | next     |
// |          | for 300 ms, and others are left   | with patience, after all others  |          |
// | asking   | any other end                     |                                  | next     |
// | asking   | the client shuts down             |                                  | idle     |
// | answered | the completion is over            | applies the topology, reports    | idle     |
// |          |                                   | success                          |          |
// | answered | the same, but a request waits for | applies the topology, asks the   | asking   |
// |          | a slot without an owner, and at   | next member                      |          |
// |          | most two answers were like that   |                                  |          |
// | again    | the same                          | asks the same member that; if it | asking   |
// |          |                                   | has left, the next one           |          |
// | next     | the same                          | asks the next member             | asking   |
// | next     | the same, and no member is left   | more servers become members; if  | asking,  |
// |          |                                   | there are none, reports failure  | or idle  |
//
// A map has several questions where servers may refuse one. Each member is asked each question
// once, and again in its second turn.
//
// Once all members have been asked in vain, more servers become members, without slots, until there
// is a map: those of the configuration, and those that the last answers named in addition to the
// owners. So a client finds a cluster again even if every server it knew is gone, and even if the
// only server that answers is out of date.
//
// If every server of a round permanently refused the login or the question, or was reached but
// speaks another protocol or no TLS, requests that wait for the map fail at once. Rounds continue.
//
// Replicas are members if reads may go to them; otherwise only after a failed round.
//
// At first the members are the servers of the configuration, and no slot has an owner.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/client_cluster.h"
#include "cluster/moving/redirects.h"
#include "protocol/server_map.h"

namespace sheaf::cluster {

class MapListener {
 public:
  // There may be another topology, or other known servers (null: no server is a stranger). Under
  // the baton.
  virtual void on_map(std::shared_ptr<const Topology> topology,
                      std::shared_ptr<const protocol::KnownServers> known) = 0;

 protected:
  ~MapListener() = default;
};

struct MapTerms {
  std::vector<NodeConfig> seeds;      // the servers of the configuration
  std::vector<NodeConfig> allowed{};  // redirects may lead to their hosts
  // A password must not leave this machine unencrypted: remote servers own nothing.
  bool loopback_only = false;
  std::chrono::milliseconds patience{1'000};  // for one answer
  bool replicas = false;                      // replicas are members, too
  MapListener* listener = nullptr;            // outlives the fetcher; null: none
};

class MapFetcher final : public MapSource, private socket::RequestSink, private socket::Deferred {
 public:
  // The parts of `cluster`, which must outlive the fetcher and start with first_topology().
  struct Parts {
    ClientCluster& cluster;
    socket::Loop& loop;
    node::EventLog& events;
    NodeEntries& table;
  };

  MapFetcher(const Parts& parts, std::unique_ptr<protocol::ServerMap> map, MapTerms terms,
             const Seed& seed);
  ~MapFetcher();
  MapFetcher(const MapFetcher&) = delete;
  MapFetcher& operator=(const MapFetcher&) = delete;

  static std::shared_ptr<const Topology> first_topology(std::span<const NodeConfig> seeds,
                                                        const protocol::ServerMap& map,
                                                        NodeEntries& table);

  void fetch_map(std::string_view first, Now now) override;
  Problem problem() const noexcept override { return {problem_, reason_, lasting_}; }
  bool names(std::string_view host) const override;
  std::string_view ban(std::string_view host) const override;
  std::optional<NodeConfig> server_called(std::string_view name,
                                          std::uint16_t port) const override {
    return map_->server_called(name, port);
  }
  std::optional<NodeConfig> importer(std::uint16_t slot) const override {
    return map_->importer(slot);
  }
  void on_mended(Now) override { tell_listener(); }
  // True if there ever was a map.
  bool known() const noexcept { return map_->known(); }
  const protocol::ServerMap& map() const noexcept { return *map_; }

 private:
  enum class Phase : std::uint8_t { idle, asking, answered, again, next };
  // From the members asked in this round: `refusals` if all of them refused permanently.
  enum class Heard : std::uint8_t { nothing, refusals, others };

  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void run_deferred(Now now) override;
  void ask_next(Now now);
  void ask(const Member& member, Now now);
  bool hurries() const;
  Phase read(const socket::Completion& completion);
  std::string question() const;
  void end_round(bool good, Now now);
  void apply_map(Now now);
  void widen(Now now);
  void tell_listener();
  bool finds_more(Now now);
  bool lacks_owner() const;
  std::vector<NodeConfig> trusted(std::vector<NodeConfig> servers,
                                  std::vector<std::uint16_t>& owners);
  std::vector<std::uint32_t> add_replicas(std::vector<NodeConfig>& servers) const;
  bool is_new(std::span<const NodeConfig> servers, std::span<const std::uint16_t> owners,
              std::span<const std::uint32_t> primaries) const;
  bool trusts(std::string_view host) const noexcept;
  void report(std::string_view node, const std::string& text);
  void fail(const socket::Completion& completion, Reason reason, const std::string& text,
            bool lasting = false);

  const Parts parts_;
  const std::unique_ptr<protocol::ServerMap> map_;
  const MapTerms terms_;
  Random random_;
  Request request_;
  Phase phase_ = Phase::idle;
  std::uint64_t asked_ = 0;
  std::vector<std::string> to_ask_;       // identities
  std::vector<std::string> passed_over_;  // identities that get a second turn
  std::vector<std::string> had_turn_;     // identities asked in this round
  bool second_turn_ = false;
  unsigned incomplete_ = 0;     // answers of this round without an owner of a slot that is wanted
  std::string member_;          // the identity of the member that was asked last
  std::string first_question_;  // the first one put to that member
  Heard heard_ = Heard::nothing;
  std::string problem_;
  Reason reason_ = Reason::timed_out;  // the reason of problem_
  bool lasting_ = false;               // all servers of the latest round refused permanently
};

}  // namespace sheaf::cluster
