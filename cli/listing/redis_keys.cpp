#include "cli/listing/redis_keys.h"

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/listing/scan_plan.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::cli {
namespace {

using protocol::resp::hash_slot;

constexpr const char* page_size = "1000";  // buckets of the server's table; COUNT
constexpr int most_rounds = 100;

class RedisKeys {
 public:
  RedisKeys(Client& client, const KeyQuery& query, KeyListener& listener)
      : client_(client), query_(query), listener_(listener) {}

  // The configured servers, each by itself.
  void list_ring() {
    Slots all;
    all.set();
    for (const NodeConfig& node : client_.config().nodes) scan({node.identity(), all});
  }

  void list_cluster() {
    ScanPlan plan;
    for (int round = 0; round < most_rounds; ++round) {
      auto holders = ask_holders();
      // The client learns who owns a slot by asking for one of its keys.
      for (int tries = 0; tries < 3 && plan.orphan(holders) >= 0; ++tries) {
        if (!ask_for_slot(plan.orphan(holders))) return;
        holders = ask_holders();
      }
      const auto scans = plan.next(holders);
      if (scans.empty()) return;
      for (const ScanPlan::Scan& each : scans) scan(each);
      if (listener_.enough() || !cluster_) return;
    }
    listener_.fail({}, local_error(Outcome::refused, Reason::other,
                                   "slots have moved again and again, so keys may be missing"));
  }

 private:
  CommandOptions options() const { return {.timeout = query_.timeout}; }

  std::vector<SlotHolder> ask_holders() {
    std::vector<SlotHolder> holders;
    const auto replies = client_.execute_on_all(Command{"CLUSTER", "NODES"}, options());
    if (!replies) {
      listener_.fail({}, replies.error());
      return holders;
    }
    for (const NodeReply& node : *replies) {
      SlotHolder holder{node.node, {}, {}, {}};
      if (const auto error = read_holder(node, holder)) {
        fail(node.node, *error);
      } else {
        holders.push_back(std::move(holder));
      }
    }
    return holders;
  }
  // A server outside a cluster has all keys, and no slots.
  std::optional<Error> read_holder(const NodeReply& node, SlotHolder& holder) {
    if (!node.reply) {
      if (!node.reply.error().text.contains("cluster support disabled")) return node.reply.error();
      cluster_ = false;
      return std::nullopt;
    }
    const std::string text(node.reply->text().value_or(""));
    protocol::resp::Element element{.type = protocol::resp::Type::text,
                                    .size = static_cast<std::uint32_t>(text.size())};
    const auto view =
        protocol::resp::parse_cluster_nodes({&element, text.data()}, {.host = node.node});
    if (view && cli::read_holder(*view, holder)) return std::nullopt;
    const std::string why = view ? "it does not say which server it is" : view.error();
    return local_error(Outcome::refused, Reason::protocol_error, why);
  }

  bool ask_for_slot(int slot) {
    std::string key;
    for (int n = 0; hash_slot(key) != slot; ++n) key = "sheaf-" + std::to_string(n);
    const auto asked = client_.execute(Command{"EXISTS", key}.keys({key}), options());
    if (!asked) fail(asked.error().node, asked.error());
    return asked.has_value();
  }

  void scan(const ScanPlan::Scan& what) {
    std::string cursor = "0";
    if (std::ranges::find(failed_, what.node) != failed_.end()) return;
    do {
      const auto reply = client_.execute(
          Command{"SCAN", cursor, "MATCH", query_.pattern, "COUNT", page_size}.at_node(what.node),
          options());
      if (!reply) return fail(what.node, reply.error());
      cursor = (*reply)[0].text().value_or("0");
      std::vector<std::string> keys;
      for (const CommandReply key : (*reply)[1]) {
        const std::string_view text = key.text().value_or("");
        if (what.slots.all() || what.slots.test(hash_slot(text))) keys.emplace_back(text);
      }
      give(keys);
      listener_.page();
    } while (cursor != "0" && !listener_.enough());
  }

  using Answer = std::future<Result<CommandReply>>;

  std::vector<Answer> ask_all(const std::vector<std::string>& keys, const char* question) {
    std::vector<Answer> answers;
    for (const std::string& key : keys) {
      answers.push_back(
          client_.async().execute(Command{question, key}.keys({key}), options()).future());
    }
    return answers;
  }

  void give(const std::vector<std::string>& keys) {
    auto ttls = ask_all(query_.columns.ttl ? keys : std::vector<std::string>(), "PTTL");
    auto sizes = ask_all(query_.columns.size ? keys : std::vector<std::string>(), "STRLEN");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ListedKey key{keys[i], {}, {}};
      bool here = true;
      if (query_.columns.ttl) here = read_ttl(ttls[i].get(), key);
      if (query_.columns.size) read_size(sizes[i].get(), key);
      if (here && !listener_.enough()) listener_.take(key);
    }
  }
  // False: the key is absent by now.
  bool read_ttl(const Result<CommandReply>& reply, ListedKey& key) {
    if (!reply) {
      fail(reply.error().node, reply.error());
      return false;
    }
    const std::optional<TimeToLive> left = time_left(*reply);
    if (left) key.ttl = *left;
    return left.has_value();
  }
  // Only strings have a length.
  void read_size(const Result<CommandReply>& reply, ListedKey& key) {
    if (reply) {
      if (const auto size = reply->number()) key.size = static_cast<std::uint64_t>(*size);
    } else if (reply.error().reason != Reason::wrong_type) {
      fail(reply.error().node, reply.error());
    }
  }

  // Each node once.
  void fail(const std::string& node, const Error& error) {
    if (std::ranges::find(failed_, node) != failed_.end()) return;
    failed_.push_back(node);
    listener_.fail(node, error);
  }

  Client& client_;
  const KeyQuery& query_;
  KeyListener& listener_;
  bool cluster_ = true;
  std::vector<std::string> failed_;
};

}  // namespace

std::optional<TimeToLive> time_left(const CommandReply& pttl) {
  const std::int64_t left = pttl.number().value_or(-2);
  if (left < -1) return std::nullopt;
  if (left == -1) return TimeToLive();
  return TimeToLive(std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(left)));
}

void list_redis_keys(Client& client, const KeyQuery& query, KeyListener& listener) {
  RedisKeys keys(client, query, listener);
  const protocol::EndpointTraits& traits = protocol::traits_of(client.config().kind);
  if (traits.make_map(client.config()) != nullptr) {
    keys.list_cluster();
  } else {
    keys.list_ring();
  }
}

}  // namespace sheaf::cli
