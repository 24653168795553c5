// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <sheaf/metrics.h>

namespace sheaf {

namespace {

using Labels = PrometheusLabels;

// Seconds: 1, 2, 5 times a power of ten.
constexpr double bounds[] = {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2,
                             5e-2, 0.1,  0.2,  0.5,  1,    2,    5,    10,   20,   50};

constexpr std::string_view own_labels[] = {"node", "operation", "outcome", "health", "le"};

std::string number(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// True if a user's label may have this name: no sample has two labels of one name.
bool is_free_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, fits) &&
         !name.starts_with("__") && std::ranges::find(own_labels, name) == std::end(own_labels);
}

void add_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

class Page {
 public:
  explicit Page(const Labels& common) {
    for (const auto& label : common) {
      const auto same = [&](const auto& other) { return other.first == label.first; };
      if (is_free_name(label.first) && std::ranges::none_of(common_, same)) {
        common_.push_back(label);
      }
    }
  }

  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    out_.append("# HELP ").append(name).append(" ").append(help);
    out_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
  }
  void sample(const Labels& labels, const std::string& value, std::string_view suffix = {}) {
    out_.append(name_).append(suffix);
    char separator = '{';
    const auto add = [&](const Labels& some) {
      for (const auto& [name, text] : some) {
        out_.append(1, separator).append(name).append("=\"");
        add_escaped(out_, text);
        out_ += '"';
        separator = ',';
      }
    };
    add(labels);
    add(common_);
    if (separator == ',') out_ += '}';
    out_.append(" ").append(value).append("\n");
  }
  void sample(const Labels& labels, std::uint64_t value) { sample(labels, std::to_string(value)); }
  void histogram(Labels labels, const LatencyHistogram& values);
  std::string take() { return std::move(out_); }

 private:
  Labels common_;
  std::string name_;
  std::string out_;
};

void Page::histogram(Labels labels, const LatencyHistogram& values) {
  labels.emplace_back("le", "");
  std::uint64_t below = 0;
  auto range = values.ranges.begin();
  for (const double bound : bounds) {
    // A range that the bound cuts counts as below the bound if its middle is.
    while (range != values.ranges.end() && seconds((range->lower + range->upper) / 2) <= bound)
      below += range++->count;
    labels.back().second = number(bound);
    sample(labels, std::to_string(below), "_bucket");
  }
  labels.back().second = "+Inf";
  sample(labels, std::to_string(values.count), "_bucket");
  labels.pop_back();
  sample(labels, number(seconds(values.sum)), "_sum");
  sample(labels, std::to_string(values.count), "_count");
}

Labels of(const NodeMetrics& node) { return {{"node", node.stats.node}}; }

void add_states(Page& page, const Metrics& metrics) {
  page.family("sheaf_node_up", "gauge", "1 if the node takes requests, 0 if it is down.");
  for (const NodeMetrics& node : metrics.nodes)
    page.sample(of(node), node.stats.health == NodeHealth::down ? 0 : 1);
  page.family("sheaf_node_health", "gauge", "1 for the node's current health, 0 for the others.");
  for (const NodeMetrics& node : metrics.nodes) {
    for (const NodeHealth health :
         {NodeHealth::connecting, NodeHealth::up, NodeHealth::down, NodeHealth::recovering}) {
      Labels labels = of(node);
      labels.emplace_back("health", to_string(health));
      page.sample(labels, node.stats.health == health ? 1 : 0);
    }
  }
  page.family("sheaf_certificate_end_seconds", "gauge",
              "Expiry of the node's certificate, in seconds since 1970.");
  for (const NodeMetrics& node : metrics.nodes) {
    if (!node.stats.certificate_end) continue;
    const auto end = node.stats.certificate_end->time_since_epoch();
    page.sample(of(node), std::to_string(std::chrono::floor<std::chrono::seconds>(end).count()));
  }
}

// A family with one number for each node or feature.
template <class Of>
struct Series {
  const char* name;
  const char* type;
  const char* help;
  std::uint64_t (*value)(const Of&);
};

constexpr Series<NodeStats> counters[] = {
    {"sheaf_connections", "gauge", "Connections that are ready.",
     [](const NodeStats& s) { return std::uint64_t{s.connections}; }},
    {"sheaf_requests_in_flight", "gauge", "Requests sent or being sent.",
     [](const NodeStats& s) { return std::uint64_t{s.in_flight}; }},
    {"sheaf_requests_waiting", "gauge", "Requests that wait for room.",
     [](const NodeStats& s) { return std::uint64_t{s.waiting}; }},
    {"sheaf_timeouts_total", "counter", "Operations ended by their deadline.",
     [](const NodeStats& s) { return s.timed_out; }},
    {"sheaf_late_replies_total", "counter", "Replies that no caller waited for any more.",
     [](const NodeStats& s) { return s.late_replies; }},
    {"sheaf_hedges_total", "counter", "Second attempts of hedged reads.",
     [](const NodeStats& s) { return s.hedges; }},
    {"sheaf_hedges_won_total", "counter", "Hedged reads whose second attempt answered.",
     [](const NodeStats& s) { return s.hedges_won; }},
    {"sheaf_connects_total", "counter", "Connections made.",
     [](const NodeStats& s) { return s.connects; }},
    {"sheaf_connect_failures_total", "counter", "Connection attempts that failed.",
     [](const NodeStats& s) { return s.connect_failures; }},
    {"sheaf_connections_lost_total", "counter", "Connections that the client did not end itself.",
     [](const NodeStats& s) { return s.connections_lost; }},
    {"sheaf_node_downs_total", "counter", "Times the node was marked as down.",
     [](const NodeStats& s) { return s.downs; }},
    {"sheaf_probes_total", "counter", "Probes of a node that is down.",
     [](const NodeStats& s) { return s.probes; }},
    {"sheaf_sent_bytes_total", "counter", "Bytes handed to the kernel.",
     [](const NodeStats& s) { return s.bytes_sent; }},
    {"sheaf_received_bytes_total", "counter", "Bytes read.",
     [](const NodeStats& s) { return s.bytes_received; }},
};

void add_operations(Page& page, const Metrics& metrics) {
  page.family("sheaf_operations_total", "counter",
              "Operations by outcome; done and absent of get are hits and misses.");
  for (const NodeMetrics& node : metrics.nodes) {
    for (const OperationMetrics& one : node.operations) {
      const std::pair<const char*, std::uint64_t> ends[] = {{"done", one.done},
                                                            {"absent", one.absent},
                                                            {"not_stored", one.not_stored},
                                                            {"refused", one.refused},
                                                            {"not_sent", one.not_sent},
                                                            {"unknown", one.unknown},
                                                            {"overloaded", one.overloaded}};
      for (const auto& [end, count] : ends) {
        Labels labels = of(node);
        labels.emplace_back("operation", one.operation);
        labels.emplace_back("outcome", end);
        page.sample(labels, count);
      }
    }
  }
  page.family("sheaf_round_trip_seconds", "histogram",
              "Time from handing a request to a connection until its answer.");
  for (const NodeMetrics& node : metrics.nodes) {
    for (const OperationMetrics& one : node.operations) {
      if (one.round_trip.count == 0) continue;
      Labels labels = of(node);
      labels.emplace_back("operation", one.operation);
      page.histogram(std::move(labels), one.round_trip);
    }
  }
}

constexpr Series<Metrics> features[] = {
    {"sheaf_list_commits_total", "counter", "Changes of a list's head.",
     [](const Metrics& m) { return m.lists.commits; }},
    {"sheaf_list_edits_total", "counter", "Pushes and other edits in commits.",
     [](const Metrics& m) { return m.lists.edits; }},
    {"sheaf_list_conflicts_total", "counter", "Attempts to change a list that were repeated.",
     [](const Metrics& m) { return m.lists.conflicts; }},
    {"sheaf_watched_keys", "gauge", "Keys that are watched.",
     [](const Metrics& m) { return m.watches.keys; }},
    {"sheaf_watch_changes_total", "counter", "Changes of watched keys.",
     [](const Metrics& m) { return m.watches.changes; }},
    {"sheaf_watch_gaps_total", "counter", "Times changes of a watched key may have been missed.",
     [](const Metrics& m) { return m.watches.gaps; }},
};

}  // namespace

inline namespace v0 {

std::string prometheus_text(const Metrics& metrics, const PrometheusLabels& labels) {
  Page page(labels);
  add_states(page, metrics);
  for (const auto& counter : counters) {
    page.family(counter.name, counter.type, counter.help);
    for (const NodeMetrics& node : metrics.nodes) page.sample(of(node), counter.value(node.stats));
  }
  add_operations(page, metrics);
  for (const auto& feature : features) {
    page.family(feature.name, feature.type, feature.help);
    page.sample({}, feature.value(metrics));
  }
  return page.take();
}

}  // namespace v0
}  // namespace sheaf
