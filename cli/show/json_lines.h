#pragma once

// Output and input for machines: one JSON object per line. json_lines.cpp is the only file of the
// program that uses nlohmann/json. Bytes that are not UTF-8 are base64 in a field NAME_base64.
//
// Thread rule: pure functions.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/options.h>
#include <sheaf/stats.h>

#include "cli/show/bench_report.h"
#include "cli/show/diagnosis.h"
#include "cli/show/key_lines.h"
#include "cli/show/migration_counts.h"
#include "cli/show/ring_diff.h"
#include "cli/show/ring_picture.h"
#include "cli/show/top_rows.h"

namespace sheaf::cli {

// Every line ends without '\n'.

// {"key":K,"value":V}, {"key":K,"value":null}
std::string json_value(std::string_view key, const GetResult& value);
// The same, with "version" if there is one: the output of `get`.
std::string json_value_and_version(std::string_view key, const GetResult& value);
// {"key":K,"error":E}; E is {"outcome":"not sent","reason":"timed out","node":N,"text":SENTENCE},
// with "node" only if one was involved.
std::string json_error(std::string_view key, const Error& error);
// {"key":K,"stored":true,"version":V}
std::string json_stored(std::string_view key, const SetResult& result);
// {"key":K,"removed":true,"version":V}; not removed: with "reason":"absent" or "value differs".
std::string json_removed(std::string_view key, const RemoveResult& result);
// {"key":K,"number":N}; absent: null
std::string json_number(std::string_view key, const CountResult& number);
// {"key":K,"touched":true}; also "appended", "prepended", "exists", "locked"
std::string json_done(std::string_view key, const char* what, bool done);
// {"key":K,"ttl":N,"size":N}, with what was asked; null: it never expires, the size is not known
std::string json_listed(const ListedKey& key, const KeyColumns& columns);
// {"key":K,"exists":true,"ttl":N}; an absent key has no "ttl".
std::string json_ttl(std::string_view key, const std::optional<TimeToLive>& ttl);
// {"list":L,"length":N}
std::string json_length(std::string_view list, std::uint64_t length);
// {"list":L,"updated":true}
std::string json_list_done(std::string_view list, const char* what, bool done);
std::string json_holes_dropped(std::string_view list, std::uint64_t count);
// {"list":L,"removed":true,"value":V}; no such index: "removed":false alone.
std::string json_item_removed(std::string_view list, const std::optional<std::string>& item);
// {"value":V}
std::string json_item(std::string_view item);
// {"key":K,"node":N,"slot":S,"routing_key":R,"reason":T}
std::string json_location(std::string_view key, const Location& location);
// {"node":N,"weight":W,"share":0.25,"keys":12}
std::string json_share(const NodeShare& share);
// {"time":T,"node":N,"health":H,"ping_ms":0.12,"ops":1.5,...}; unknown figures are left out.
std::string json_top(const TopRow& row, std::chrono::system_clock::time_point time);
// {"operation":"get","count":N,"keys":N,"hits":N,"failures":{"unknown":1},"rate":1.5,
// "latency_us":{"p50":1.5,...,"ranges":[[LOWER,UPPER,COUNT],...]}}
std::string json_bench(const BenchOperation& operation, std::chrono::nanoseconds elapsed);
// {"seconds":1.5,"keys":N,"processor_us":1.5,"late":N}
std::string json_bench_total(const BenchResult& result);
// {"stage":"mirror","event":"begun"}; "resumed" if an earlier run had begun it.
std::string json_migration_stage(std::string_view stage, bool resumed);
// {"stage":"mirror","pass":"copy","keys":N,"seconds":1.5,"copied":N,...,"failed":N}
std::string json_migration_pass(std::string_view stage, std::string_view pass,
                                const PassCounts& counts);
// {"stage":"mirror","gets":N,"hits":N}; null where the servers did not report it.
std::string json_migration_reads(std::string_view stage, const std::optional<StageReads>& reads);
// {"stale":K}
std::string json_migration_stale(std::string_view key);
// {"from":N,"to":N,"share":0.25}; {"moved":0.25}, and "keys" if they were simulated.
std::string json_flow(const KeyFlow& flow);
std::string json_moved(const RingDiff& diff);
// {"node":N,"slots":[[FIRST,LAST],...],"share":0.25,"keys":12}
std::string json_slots(const ClusterServer& server, const NodeShare& share);
// {"node":N,"health":H,...}; times in milliseconds, null if the node did not answer. `place`: what
// named the servers, if not the command line.
std::string json_report(const NodeReport& report, std::string_view place = {});
// The same with "role":"primary","epoch":E,"slots":[[FIRST,LAST],...],"replicas":[N,...]
std::string json_primary(const NodeReport& report, const ClusterServer& server,
                         const std::vector<ClusterServer>& all, std::string_view place = {});
// A server that was not asked: {"node":N,"role":R,"primary":P,"epoch":E}
std::string json_server(const ClusterServer& server);
// {"reply":V}: null, a number, true or false, a text, an array; a map is an object if its keys are
// distinct texts, else an array of pairs. Inside, a text that is not UTF-8 is {"base64":T} and an
// error is {"error":T}. Numbers that JSON cannot express are texts.
std::string json_reply(const CommandReply& reply);
// The same of one node: {"node":N,"reply":V}
std::string json_node_reply(std::string_view node, const CommandReply& reply);
// {"error":E}; `sentence` is its text if that is not sentence_of(error).
std::string json_failure(const Error& error, std::string_view sentence = {});

// {"node":N,"stats":{NAME:VALUE,...}}, from lines "NAME VALUE\n".
std::string json_stats(std::string_view node, std::string_view lines);
// {"node":N,"step":S,"ok":B,"text":T}; "ok" is null if the step does not apply.
std::string json_finding(std::string_view node, const Finding& finding);
// {"node":N,"error":E}
std::string json_node_error(std::string_view node, const Error& error);

// {"event":"set","key":K,"value":V,"version":V}; {"event":"gap","key":K,"from":T,"until":T}, with
// times as in RFC 3339, UTC. Not for `failed`.
std::string json_event(const WatchEvent& event);

// A server of `dev`.
struct BrokerAddress {
  std::string node;
  int pid = 0;
};
// {"uri":U,"brokers":[{"node":N,"pid":P}]}; `what` is "brokers" or "servers". With an environment,
// of which each is "NAME=VALUE" or a NAME that is not set: also "environment":{NAME:VALUE,...}.
std::string json_brokers(std::string_view uri, const char* what,
                         const std::vector<BrokerAddress>& brokers,
                         const std::vector<std::string>& environment = {});

// A key and the value to write.
struct KeyValue {
  std::string key;
  std::string value;
};
// One line of `mset`: "key" or "key_base64", "value" or "value_base64", and a "version", which is
// ignored. Anything else is refused; an error is a phrase without the line's number.
std::expected<KeyValue, std::string> parse_json_line(std::string_view line);

}  // namespace sheaf::cli
