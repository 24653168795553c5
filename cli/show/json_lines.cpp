#include "cli/show/json_lines.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/show/reply_text.h"
#include "cli/show/stats_lines.h"
#include "cli/system/exit_code.h"

namespace sheaf::cli {

namespace {

using Json = nlohmann::ordered_json;

// One line. Server text that is not UTF-8 gets replacement characters.
std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void put_bytes(Json& object, const char* name, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object[name] = bytes;
  } else {
    object[std::string(name) + "_base64"] = base64_encode(bytes);
  }
}

Json with_key(std::string_view key) {
  Json object = Json::object();
  put_bytes(object, "key", key);
  return object;
}

Json with_list(std::string_view list) {
  Json object = Json::object();
  put_bytes(object, "list", list);
  return object;
}

Json with_value(std::string_view key, const GetResult& value) {
  Json object = with_key(key);
  if (value) {
    put_bytes(object, "value", value->data);
  } else {
    object["value"] = nullptr;
  }
  return object;
}

double as_milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// "2026-01-31T09:05:00.007Z"
std::string iso_time(std::chrono::system_clock::time_point time) {
  return format_utc(std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()));
}

Json json_of(const Error& error, std::string_view sentence = {}) {
  Json object = Json::object();
  object["outcome"] = to_string(error.outcome);
  object["reason"] = to_string(error.reason);
  if (!error.node.empty()) object["node"] = error.node;
  object["text"] = sentence.empty() ? sentence_of(error) : std::string(sentence);
  return object;
}

std::string_view reason_of(const RemoveResult& result) {
  return result == RemoveResult::value_differs ? "value differs" : "absent";
}

}  // namespace

std::string json_value(std::string_view key, const GetResult& value) {
  return line_of(with_value(key, value));
}

std::string json_value_and_version(std::string_view key, const GetResult& value) {
  Json object = with_value(key, value);
  if (value && !value->version.empty()) object["version"] = value->version.text;
  return line_of(object);
}

std::string json_error(std::string_view key, const Error& error) {
  Json object = with_key(key);
  object["error"] = json_of(error);
  return line_of(object);
}

std::string json_stored(std::string_view key, const SetResult& result) {
  Json object = with_key(key);
  object["stored"] = result.stored;
  if (!result.version.empty()) object["version"] = result.version.text;
  return line_of(object);
}

std::string json_removed(std::string_view key, const RemoveResult& result) {
  Json object = with_key(key);
  object["removed"] = result == RemoveResult::removed;
  if (result != RemoveResult::removed) object["reason"] = reason_of(result);
  if (!result.version.empty()) object["version"] = result.version.text;
  return line_of(object);
}

std::string json_number(std::string_view key, const CountResult& number) {
  Json object = with_key(key);
  object["number"] = nullptr;
  if (number) object["number"] = *number;
  return line_of(object);
}

std::string json_done(std::string_view key, const char* what, bool done) {
  Json object = with_key(key);
  object[what] = done;
  return line_of(object);
}

namespace {

void put_ttl(Json& object, const TimeToLive& ttl) {
  object["ttl"] = ttl ? Json(ttl->count()) : Json(nullptr);
}

}  // namespace

std::string json_listed(const ListedKey& key, const KeyColumns& columns) {
  Json object = with_key(key.key);
  if (columns.ttl) put_ttl(object, key.ttl);
  if (columns.size) object["size"] = key.size ? Json(*key.size) : Json(nullptr);
  return line_of(object);
}

std::string json_ttl(std::string_view key, const std::optional<TimeToLive>& ttl) {
  Json object = with_key(key);
  object["exists"] = ttl.has_value();
  if (ttl) put_ttl(object, *ttl);
  return line_of(object);
}

std::string json_length(std::string_view list, std::uint64_t length) {
  Json object = with_list(list);
  object["length"] = length;
  return line_of(object);
}

std::string json_list_done(std::string_view list, const char* what, bool done) {
  Json object = with_list(list);
  object[what] = done;
  return line_of(object);
}

std::string json_holes_dropped(std::string_view list, std::uint64_t count) {
  Json object = with_list(list);
  object["dropped"] = count;
  return line_of(object);
}

std::string json_item_removed(std::string_view list, const std::optional<std::string>& item) {
  Json object = with_list(list);
  object["removed"] = item.has_value();
  if (item) put_bytes(object, "value", *item);
  return line_of(object);
}

std::string json_item(std::string_view item) {
  Json object = Json::object();
  put_bytes(object, "value", item);
  return line_of(object);
}

std::string json_location(std::string_view key, const Location& location) {
  Json object = with_key(key);
  object["node"] = location.node;
  object["slot"] = location.slot;
  put_bytes(object, "routing_key", location.routing_key);
  object["reason"] = location.reason;
  return line_of(object);
}

std::string json_share(const NodeShare& share) {
  Json object = Json::object();
  object["node"] = share.node;
  object["weight"] = share.weight;
  object["share"] = share.share;
  if (share.keys) object["keys"] = *share.keys;
  return line_of(object);
}

namespace {

Json json_ranges(const std::vector<SlotRange>& ranges) {
  Json list = Json::array();
  for (const SlotRange& range : ranges) list.push_back({range.first, range.last});
  return list;
}

Json report_object(const NodeReport& report, std::string_view place) {
  Json object = Json::object();
  object["node"] = report.stats.node;
  object["weight"] = report.stats.weight;
  object["health"] = to_string(report.stats.health);
  object["round_trip_ms"] = nullptr;
  if (report.round_trip) object["round_trip_ms"] = as_milliseconds(*report.round_trip);
  object["connections"] = report.stats.connections;
  const NodeStats& stats = report.stats;
  if (!stats.server.empty()) object["server"] = stats.server;
  if (!stats.server_id.empty()) object["server_id"] = stats.server_id;
  if (stats.role != ServerRole::unknown) object["role"] = to_string(stats.role);
  if (!stats.tls.empty()) object["tls"] = stats.tls;
  if (stats.certificate_end) object["certificate_end"] = iso_time(*stats.certificate_end);
  if (stats.own_certificate_end) {
    object["own_certificate_end"] = iso_time(*stats.own_certificate_end);
  }
  if (!stats.user.empty()) object["user"] = stats.user;
  object["clock_difference_ms"] = nullptr;
  if (report.clock_difference) object["clock_difference_ms"] = report.clock_difference->count();
  if (report.error) object["error"] = json_of(*report.error);
  if (!place.empty()) object["settings"] = place;
  return object;
}

}  // namespace

std::string json_report(const NodeReport& report, std::string_view place) {
  return line_of(report_object(report, place));
}

std::string json_primary(const NodeReport& report, const ClusterServer& server,
                         const std::vector<ClusterServer>& all, std::string_view place) {
  Json object = report_object(report, place);
  object["role"] = "primary";
  object["epoch"] = server.epoch;
  object["slots"] = json_ranges(server.slots);
  object["replicas"] = Json::array();
  for (const ClusterServer& other : all) {
    if (other.replica && other.primary == server.node) object["replicas"].push_back(other.node);
  }
  return line_of(object);
}

std::string json_server(const ClusterServer& server) {
  Json object = Json::object();
  object["node"] = server.node;
  object["role"] = server.replica ? "replica" : "primary";
  object["primary"] = nullptr;
  if (!server.primary.empty()) object["primary"] = server.primary;
  object["epoch"] = server.epoch;
  return line_of(object);
}

std::string json_flow(const KeyFlow& flow) {
  Json object = Json::object();
  object["from"] = flow.from;
  object["to"] = flow.to;
  object["share"] = flow.share;
  return line_of(object);
}

std::string json_moved(const RingDiff& diff) {
  Json object = Json::object();
  object["moved"] = diff.moved;
  if (diff.keys > 0) object["keys"] = diff.keys;
  return line_of(object);
}

std::string json_slots(const ClusterServer& server, const NodeShare& share) {
  Json object = Json::object();
  object["node"] = server.node;
  object["slots"] = json_ranges(server.slots);
  object["share"] = share.share;
  if (share.keys) object["keys"] = *share.keys;
  return line_of(object);
}

namespace {

Json json_of(const CommandReply& reply);

// Nothing if the keys are not distinct texts.
std::optional<Json> json_object_of(const CommandReply& map) {
  Json object = Json::object();
  std::set<std::string, std::less<>> names;
  std::string name;
  bool is_name = true;
  for (const CommandReply value : map) {
    if (!is_name) object[name] = json_of(value);
    if (is_name) {
      const auto text = value.text();
      if (!text || !is_utf8(*text) || !names.emplace(*text).second) return std::nullopt;
      name = *text;
    }
    is_name = !is_name;
  }
  return std::make_optional<Json>(std::move(object));  // a Json converts to an optional as well
}

Json json_pairs_of(const CommandReply& map) {
  Json pairs = Json::array();
  for (const CommandReply value : map) {
    if (pairs.empty() || pairs.back().size() == 2) pairs.push_back(Json::array());
    pairs.back().push_back(json_of(value));
  }
  return pairs;
}

Json json_list_of(const CommandReply& list) {
  Json values = Json::array();
  for (const CommandReply value : list) values.push_back(json_of(value));
  return values;
}

// Recursive: replies are not deep.
Json json_of(const CommandReply& reply) {
  using Kind = CommandReply::Kind;
  switch (reply.kind()) {
    case Kind::null:
      return nullptr;
    case Kind::number:
      return *reply.number();
    case Kind::real:
      if (std::isfinite(*reply.real())) return *reply.real();
      return reply_text(reply);
    case Kind::boolean:
      return *reply.boolean();
    case Kind::error:
      return Json::object({{"error", *reply.error()}});
    case Kind::array:
    case Kind::set:
      return json_list_of(reply);
    case Kind::map:
      if (auto object = json_object_of(reply)) return std::move(*object);
      return json_pairs_of(reply);
    case Kind::big_number:
    case Kind::text:
    case Kind::verbatim:
    case Kind::status:
      break;
  }
  if (is_utf8(*reply.text())) return *reply.text();
  return Json::object({{"base64", base64_encode(*reply.text())}});
}

}  // namespace

std::string json_reply(const CommandReply& reply) {
  Json object = Json::object();
  object["reply"] = json_of(reply);
  return line_of(object);
}

std::string json_node_reply(std::string_view node, const CommandReply& reply) {
  Json object = Json::object();
  object["node"] = node;
  object["reply"] = json_of(reply);
  return line_of(object);
}

std::string json_failure(const Error& error, std::string_view sentence) {
  Json object = Json::object();
  object["error"] = json_of(error, sentence);
  return line_of(object);
}

std::string json_stats(std::string_view node, std::string_view lines) {
  Json object = Json::object();
  object["node"] = node;
  object["stats"] = Json::object();
  for_each_stat(lines, [&](std::string_view name, std::string_view value) {
    object["stats"][std::string(name)] = value;
  });
  return line_of(object);
}

std::string json_finding(std::string_view node, const Finding& finding) {
  Json object;
  object["node"] = node;
  object["step"] = finding.step;
  object["ok"] = nullptr;
  const bool applies = finding.verdict != Finding::Verdict::none;
  if (applies) object["ok"] = finding.verdict == Finding::Verdict::good;
  object["text"] = finding.text;
  return line_of(object);
}

std::string json_node_error(std::string_view node, const Error& error) {
  Json object = Json::object();
  object["node"] = node;
  object["error"] = json_of(error);
  return line_of(object);
}

std::string json_top(const TopRow& row, std::chrono::system_clock::time_point time) {
  Json object = Json::object();
  object["time"] = iso_time(time);
  object["node"] = row.now.node;
  object["health"] = to_string(row.now.health);
  if (row.restarted) object["restarted"] = true;
  for_each_figure(row, [&](const char* name, const auto& value, int /*digits*/) {
    if (value) object[name] = *value;
  });
  return line_of(object);
}

std::string json_bench(const BenchOperation& operation, std::chrono::nanoseconds elapsed) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  Json object = Json::object();
  object["operation"] = operation.name;
  object["count"] = operation.latency.count;
  object["keys"] = operation.keys;
  if (operation.name.starts_with("get")) object["hits"] = operation.hits;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  object["rate"] = static_cast<double>(operation.latency.count) / std::max(seconds, 1e-9);
  object["failures"] = Json::object();
  for (std::size_t i = 0; i < operation.failures.size(); ++i) {
    const std::string outcome(to_string(static_cast<Outcome>(i)));
    if (operation.failures[i] > 0) object["failures"][outcome] = operation.failures[i];
  }
  Json& latency = object["latency_us"] = Json::object();
  for (const auto& [name, q] :
       {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}}) {
    latency[name] = Microseconds(operation.latency.quantile(q)).count();
  }
  latency["ranges"] = Json::array();
  for (const auto& range : operation.latency.ranges) {
    latency["ranges"].push_back(
        {Microseconds(range.lower).count(), Microseconds(range.upper).count(), range.count});
  }
  return line_of(object);
}

std::string json_bench_total(const BenchResult& result) {
  Json object = Json::object();
  object["seconds"] = std::chrono::duration<double>(result.elapsed).count();
  object["keys"] = result.keys();
  object["processor_us"] = std::chrono::duration<double, std::micro>(result.processor).count();
  object["late"] = result.late;
  return line_of(object);
}

std::string json_migration_stage(std::string_view stage, bool resumed) {
  Json object = Json::object();
  object["stage"] = stage;
  object["event"] = resumed ? "resumed" : "begun";
  return line_of(object);
}

std::string json_migration_pass(std::string_view stage, std::string_view pass,
                                const PassCounts& counts) {
  static constexpr std::array<const char*, key_ends> names{
      "copied", "kept", "absent", "overtaken", "stale", "right", "too_large"};
  Json object = Json::object();
  object["stage"] = stage;
  object["pass"] = pass;
  object["keys"] = counts.keys();
  object["seconds"] = std::chrono::duration<double>(counts.elapsed).count();
  for (std::size_t i = 0; i < key_ends; ++i) object[names[i]] = counts.ends[i];
  object["refused"] = counts.refused;
  object["failed"] = counts.failed;
  object["elsewhere"] = counts.elsewhere;
  if (!counts.first_error.empty()) object["first_error"] = counts.first_error;
  return line_of(object);
}

std::string json_migration_reads(std::string_view stage, const std::optional<StageReads>& reads) {
  Json object = Json::object();
  object["stage"] = stage;
  object["gets"] = reads ? Json(reads->gets) : Json(nullptr);
  object["hits"] = reads ? Json(reads->hits) : Json(nullptr);
  return line_of(object);
}

std::string json_migration_stale(std::string_view key) {
  Json object = Json::object();
  put_bytes(object, "stale", key);
  return line_of(object);
}

std::string json_event(const WatchEvent& event) {
  Json object = Json::object();
  object["event"] = to_string(event.kind);
  put_bytes(object, "key", event.key);
  if (event.kind == WatchEvent::Kind::gap) {
    object["from"] = iso_time(event.from);
    object["until"] = iso_time(event.until);
    return line_of(object);
  }
  if (event.value) {
    put_bytes(object, "value", *event.value);
  } else {
    object["value"] = nullptr;
  }
  object["version"] = nullptr;
  if (!event.version.empty()) object["version"] = event.version.text;
  return line_of(object);
}

std::string json_brokers(std::string_view uri, const char* what,
                         const std::vector<BrokerAddress>& brokers,
                         const std::vector<std::string>& environment) {
  Json object = Json::object();
  object["uri"] = uri;
  object[what] = Json::array();
  for (const BrokerAddress& broker : brokers) {
    object[what].push_back({{"node", broker.node}, {"pid", broker.pid}});
  }
  for (const std::string_view variable : environment) {
    const std::size_t at = variable.find('=');
    if (at == variable.npos) continue;
    object["environment"][std::string(variable.substr(0, at))] = variable.substr(at + 1);
  }
  return line_of(object);
}

namespace {

// The object in `line`, or why it is not one. A name that appears twice is refused: it is not clear
// which of the two was meant.
std::expected<Json, std::string> parse_object(std::string_view line) {
  std::set<std::string, std::less<>> names;
  std::string twice;
  const Json::parser_callback_t look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == 1 && event == Json::parse_event_t::key) {
      if (!names.insert(parsed.get<std::string>()).second) twice = parsed.get<std::string>();
    }
    return true;
  };
  Json object = Json::parse(line, look, false);
  if (object.is_discarded()) return std::unexpected("is not JSON");
  if (!object.is_object()) return std::unexpected("is not a JSON object");
  if (!twice.empty()) return std::unexpected("has the field " + printable(twice) + " twice");
  return object;
}

// The bytes of field `name` or `name`_base64.
std::expected<std::string, std::string> take_bytes(const Json& object, const std::string& name) {
  const std::string base64_name = name + "_base64";
  const auto plain = object.find(name);
  const auto encoded = object.find(base64_name);
  if (plain != object.end() && encoded != object.end()) {
    return std::unexpected("has both " + name + " and " + base64_name);
  }
  if (plain != object.end()) {
    if (plain->is_null()) return std::unexpected("has a " + name + " that is null");
    if (!plain->is_string()) return std::unexpected("has a " + name + " that is not a string");
    return plain->get<std::string>();
  }
  if (encoded == object.end()) return std::unexpected("has no " + name + " and no " + base64_name);
  if (encoded->is_string()) {
    if (auto bytes = base64_decode(encoded->get_ref<const std::string&>()))
      return std::move(*bytes);
  }
  return std::unexpected("has a " + base64_name + " that is not base64");
}

}  // namespace

std::expected<KeyValue, std::string> parse_json_line(std::string_view line) {
  auto object = parse_object(line);
  if (!object) return std::unexpected(std::move(object.error()));
  if (object->contains("error")) return std::unexpected("has an error in place of a value");
  for (const auto& [name, field] : object->items()) {
    if (name != "key" && name != "key_base64" && name != "value" && name != "value_base64" &&
        name != "version") {
      return std::unexpected("has the unknown field " + printable(name));
    }
  }
  auto key = take_bytes(*object, "key");
  if (!key) return std::unexpected(std::move(key.error()));
  auto value = take_bytes(*object, "value");
  if (!value) return std::unexpected(std::move(value.error()));
  return KeyValue{std::move(*key), std::move(*value)};
}

}  // namespace sheaf::cli
