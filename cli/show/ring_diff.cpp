#include "cli/show/ring_diff.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "cli/show/text_table.h"
#include "cluster/placement/locator.h"

namespace sheaf::cli {

namespace {

using cluster::ClientNodeLocator;

// How many slots or keys go from one position to another.
using Counts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

Counts count_slots(std::span<const std::uint16_t> before, std::span<const std::uint16_t> after) {
  Counts counts;
  for (std::size_t slot = 0; slot < before.size(); ++slot)
    ++counts[{before[slot] - 1u, after[slot] - 1u}];
  return counts;
}

Counts count_keys(const ClientNodeLocator& before, const ClientNodeLocator& after,
                  std::uint64_t keys) {
  Counts counts;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string key = "key-" + std::to_string(i);
    ++counts[{before.locate(key).node, after.locate(key).node}];
  }
  return counts;
}

RingDiff::Node& node_of(RingDiff& diff, const std::string& identity) {
  const auto found = std::ranges::find(diff.nodes, identity, &RingDiff::Node::node);
  if (found != diff.nodes.end()) return *found;
  diff.nodes.push_back({identity});
  return diff.nodes.back();
}

}  // namespace

RingDiff diff_rings(const ClusterConfig& before, const ClusterConfig& after, std::uint64_t keys) {
  const auto old = cluster::make_locator(before);
  const auto wanted = cluster::make_locator(after);
  const bool exact = !old->slots().empty() && old->slots().size() == wanted->slots().size();
  const Counts counts =
      exact ? count_slots(old->slots(), wanted->slots()) : count_keys(*old, *wanted, keys);
  RingDiff diff;
  diff.keys = exact ? 0 : keys;
  const double all = static_cast<double>(exact ? old->slots().size() : keys);
  for (const NodeConfig& node : before.nodes) node_of(diff, node.identity());
  for (const NodeConfig& node : after.nodes) node_of(diff, node.identity());
  for (const auto& [positions, count] : counts) {
    const double share = static_cast<double>(count) / all;
    const std::string from = before.nodes[positions.first].identity();
    const std::string to = after.nodes[positions.second].identity();
    node_of(diff, from).before += share;
    node_of(diff, to).after += share;
    if (from == to) continue;
    diff.moved += share;
    diff.flows.push_back({from, to, share});
  }
  std::ranges::stable_sort(diff.flows, std::ranges::greater(), &KeyFlow::share);
  return diff;
}

std::string diff_picture(const RingDiff& diff) {
  std::vector<Row> nodes;
  for (const RingDiff::Node& node : diff.nodes) {
    const double change = node.after - node.before;
    nodes.push_back({{node.node, percent(node.before), percent(node.after),
                      (change > 0 ? "+" : "") + percent(change)}});
  }
  std::string out =
      text_table({{"NODE"}, {"BEFORE", true}, {"AFTER", true}, {"CHANGE", true}}, nodes);
  out += "\n" + percent(diff.moved) + " of the keys move";
  if (diff.keys > 0) out += " (of " + std::to_string(diff.keys) + " simulated ones)";
  if (diff.flows.empty()) return out + ".\n";
  out += ":\n\n";
  std::vector<Row> flows;
  std::vector<double> shares;
  for (const KeyFlow& flow : diff.flows) {
    flows.push_back({{flow.from, "->", flow.to, percent(flow.share)}});
    shares.push_back(flow.share);
  }
  return out + bar_table({{"FROM"}, {""}, {"TO"}, {"SHARE", true}}, std::move(flows), shares);
}

namespace {

constexpr const char* node_colours[] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
                                        "#edc948", "#b07aa1", "#9c755f", "#ff9da7", "#bab0ac"};
constexpr double height = 420;  // for all keys
constexpr double top = 70;
constexpr double gap = 6;  // between nodes
constexpr double left_x = 210;
constexpr double right_x = 590;
constexpr double thick = 18;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// A node's bar on one side: where it begins, and how much of it is covered by bands.
struct Bar {
  double y = 0;
  double taken = 0;
};

class Drawing {
 public:
  explicit Drawing(const RingDiff& diff) : diff_(diff) {
    double before = top;
    double after = top;
    for (std::size_t i = 0; i < diff.nodes.size(); ++i) {
      const RingDiff::Node& node = diff.nodes[i];
      before_[node.node].y = before;
      after_[node.node].y = after;
      colour_[node.node] = node_colours[i % std::size(node_colours)];
      if (node.before > 0) before += node.before * height + gap;
      if (node.after > 0) after += node.after * height + gap;
    }
    bottom_ = std::max(before, after);
  }

  std::string draw() {
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 " + number(bottom_ + 30) +
        "\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"400\" y=\"30\" "
        "text-anchor=\"middle\" font-size=\"17\">" +
        percent(diff_.moved) + " of the keys move</text>\n" + label(left_x, "before", "end", 55) +
        label(right_x, "after", "start", 55);
    // Bands that stay are drawn first, below those that move.
    for (const RingDiff::Node& node : diff_.nodes) {
      double stays = node.before;
      for (const KeyFlow& flow : diff_.flows) {
        if (flow.from == node.node) stays -= flow.share;
      }
      if (stays > 1e-9) out += band(node.node, node.node, stays, 0.18);
    }
    for (const KeyFlow& flow : diff_.flows) out += band(flow.from, flow.to, flow.share, 0.7);
    for (const RingDiff::Node& node : diff_.nodes) {
      out += bar(left_x - thick, before_[node.node].y, node, node.before);
      out += bar(right_x, after_[node.node].y, node, node.after);
      if (node.before > 0)
        out += label(left_x - thick - 8, node.node + "  " + percent(node.before), "end",
                     before_[node.node].y + node.before * height / 2 + 4);
      if (node.after > 0)
        out += label(right_x + thick + 8, node.node + "  " + percent(node.after), "start",
                     after_[node.node].y + node.after * height / 2 + 4);
    }
    return out + "</svg>\n";
  }

 private:
  static std::string label(double x, const std::string& text, const char* anchor, double y) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
           escaped(text) + "</text>\n";
  }
  std::string bar(double x, double y, const RingDiff::Node& node, double share) const {
    if (!(share > 0)) return "";
    return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(thick) +
           "\" height=\"" + number(share * height) + "\" fill=\"" + colour_.at(node.node) +
           "\"/>\n";
  }
  std::string band(const std::string& from, const std::string& to, double share, double opacity) {
    Bar& begin = before_[from];
    Bar& end = after_[to];
    const double size = share * height;
    const double y0 = begin.y + begin.taken;
    const double y1 = end.y + end.taken;
    begin.taken += size;
    end.taken += size;
    const double middle = (left_x + right_x) / 2;
    const auto curve = [&](double x, double y, double towards, double at) {
      return " C" + number(middle) + " " + number(y) + " " + number(middle) + " " + number(at) +
             " " + number(towards) + " " + number(at) + (x > towards ? " Z" : "");
    };
    return "<path d=\"M" + number(left_x) + " " + number(y0) + curve(left_x, y0, right_x, y1) +
           " L" + number(right_x) + " " + number(y1 + size) +
           curve(right_x, y1 + size, left_x, y0 + size) + "\" fill=\"" + colour_.at(from) +
           "\" fill-opacity=\"" + number(opacity) + "\"/>\n";
  }

  const RingDiff& diff_;
  std::map<std::string, Bar> before_;
  std::map<std::string, Bar> after_;
  std::map<std::string, const char*> colour_;
  double bottom_ = 0;
};

}  // namespace

std::string diff_svg(const RingDiff& diff) { return Drawing(diff).draw(); }

}  // namespace sheaf::cli
