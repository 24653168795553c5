#include "cli/show/diagnosis.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/wrapped_text.h"
#include "cli/show/nodes_table.h"

namespace sheaf::cli {

namespace {

using Verdict = Finding::Verdict;

constexpr std::size_t step_column = 2;
constexpr std::size_t verdict_column = 13;
constexpr std::size_t text_column = 18;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all.append(all.empty() ? "" : ", ").append(part);
  return all;
}

// The words of the server, or of this side, without the outcome around them.
std::string words_of(const Error& error) {
  return printable(error.text.empty() ? error.message() : error.text, 300);
}

// The step that an error of the first question belongs to, and what to do about it.
struct Cause {
  std::string_view step;
  std::string_view remedy;
};
Cause cause_of(const Error& error) {
  const std::string& text = error.text;
  if (has(text, "TLS:") || has(text, "certificate")) {
    return {"TLS", "Check that the port is the one for TLS, and tls_ca, tls_name and tls_cert."};
  }
  if (has(text, " the client ID ")) {
    return {"login", "End the other process, or give each one an ID of its own."};
  }
  if (error.reason == Reason::authentication) {
    return {"login",
            "Check user, password or token; --password-file keeps it off the command line."};
  }
  if (has(text, "no state store")) {
    return {"store",
            "Load the plugin for this listener (`plugin libsheaf_statestore.so` in "
            "mosquitto.conf), or name the broker of the store."};
  }
  if (error.reason == Reason::foreign_server || has(text, "CLUSTER") || has(text, "cluster")) {
    return {"role",
            "Check the addresses of the URI, and routing=ring for servers outside a cluster."};
  }
  if (error.reason == Reason::not_authorized) {
    return {"rights", "Give this user the right to subscribe and to publish."};
  }
  return {"protocol",
          "Check that the scheme of the URI fits the server, and that the port is its."};
}

class Diagnosis {
 public:
  explicit Diagnosis(const Examined& server) : server_(server) {}

  std::vector<Finding> make() {
    if (name() && addresses() && port() && first_question()) {
      clock();
      if (rights()) latency();
    }
    return std::move(findings_);
  }

 private:
  void good(std::string_view step, std::string text) {
    findings_.push_back({step, Verdict::good, std::move(text)});
  }
  void none(std::string_view step, std::string text) {
    findings_.push_back({step, Verdict::none, std::move(text)});
  }
  bool bad(std::string_view step, std::string text, std::string_view remedy) {
    if (!text.ends_with('.')) text += '.';
    findings_.push_back({step, Verdict::bad, text.append(" ").append(remedy)});
    return false;
  }

  bool is_path() const { return server_.host.starts_with('/'); }

  bool name() {
    if (server_.engine) {
      good("name", "an engine in this process, without an address");
      return true;
    }
    if (!server_.name_fault.empty()) {
      return bad("name", server_.host + " cannot be resolved: " + server_.name_fault,
                 "Check the spelling, and the name servers of this machine.");
    }
    const bool is_address = server_.addresses.size() == 1 && server_.addresses[0] == server_.host;
    good("name", server_.host + (is_path() ? " is a path" : is_address ? " is an address" : ""));
    return true;
  }
  bool addresses() {
    if (is_path() || server_.engine) return true;
    if (server_.refused.empty() || server_.refused.size() < server_.addresses.size()) {
      good("addresses", joined(server_.addresses));
      return true;
    }
    none("addresses", joined(server_.addresses));
    return true;
  }
  bool port() {
    if (server_.engine) return true;
    const std::string port = is_path() ? "the socket" : "port " + std::to_string(server_.port);
    if (!server_.refused.empty() && server_.refused.size() >= server_.addresses.size()) {
      return bad("port", port + " does not accept connections: " + joined(server_.refused),
                 "Check that the server runs, listens there and is not behind a firewall.");
    }
    std::string text = port + " accepts connections";
    if (!server_.refused.empty()) text.append(", but not at ").append(joined(server_.refused));
    good("port", std::move(text));
    return true;
  }

  // Everything up to the first answer shows in its error.
  bool first_question() {
    const NodeStats& stats = server_.report.stats;
    std::string_view failed;
    Cause cause;
    if (server_.report.error) {
      cause = cause_of(*server_.report.error);
      failed = cause.step;
    }
    const auto reached = [&](std::string_view step, const std::string& text, bool exists = true) {
      if (failed == step) return bad(step, words_of(*server_.report.error), cause.remedy);
      if (exists) {
        good(step, text);
      } else {
        none(step, text);
      }
      return true;
    };
    const bool replica = stats.role == ServerRole::replica;
    const bool has_role = stats.role != ServerRole::unknown;
    const std::string role(has_role ? to_string(stats.role) : "servers of this kind have none");
    return reached("TLS", server_.tls ? stats.tls : "not used", server_.tls) &&
           reached("login",
                   stats.user.empty() ? "without a user name" : "as " + printable(stats.user)) &&
           reached("protocol", stats.server.empty() ? "answers" : printable(stats.server)) &&
           (server_.clock ? reached("store", "a state store answers")
                          : reached("role", replica ? "replica: writes go to another server" : role,
                                    has_role)) &&
           (failed != "rights" || reached("rights", ""));
  }
  void clock() {
    if (!server_.report.clock_difference) {
      return none("clock", "servers of this kind do not say their time");
    }
    if (const auto warning = clock_warning(server_.report)) {
      bad("clock", *warning, "Run NTP on both machines.");
      return;
    }
    good("clock", std::to_string(server_.report.clock_difference->count()) + " ms from ours");
  }
  bool rights() {
    if (server_.key.empty()) {
      none("rights", "no key that this server owns was tried");
      return true;
    }
    if (!server_.rights) {
      good("rights", "wrote, read and removed the key " + printable(server_.key));
      return true;
    }
    return bad("rights", "the key " + printable(server_.key) + ": " + words_of(*server_.rights),
               server_.rights->reason == Reason::not_authorized
                   ? "Give this user the right to its keys, or try others with --key PREFIX."
                   : "Check the server's log.");
  }
  void latency() {
    if (server_.trips.empty()) return none("latency", "not measured");
    std::vector<std::chrono::nanoseconds> trips = server_.trips;
    std::ranges::sort(trips);
    good("latency", "median " + format_elapsed(trips[trips.size() / 2]) + ", longest " +
                        format_elapsed(trips.back()) + " of " + std::to_string(trips.size()));
  }

  const Examined& server_;
  std::vector<Finding> findings_;
};

std::string_view sign_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::good:
      return "ok";
    case Verdict::bad:
      return "NO";
    case Verdict::none:
      break;
  }
  return "-";
}

}  // namespace

std::vector<Finding> diagnose(const Examined& server) { return Diagnosis(server).make(); }

std::string diagnosis_text(std::string_view node, const std::vector<Finding>& findings,
                           std::size_t width, bool colours) {
  std::string text(node);
  text += '\n';
  for (const Finding& finding : findings) {
    std::string line(step_column, ' ');
    line.append(finding.step);
    line.resize(std::max(line.size() + 1, verdict_column), ' ');
    const bool red = colours && finding.verdict == Verdict::bad;
    line.append(sign_of(finding.verdict));
    line.resize(std::max(line.size() + 1, text_column), ' ');
    const std::size_t begun = line.size();
    line.append(wrapped(finding.text, width, text_column, begun));
    text.append(red ? "\033[31m" : "").append(line, 0, line.size() - 1);
    text.append(red ? "\033[0m\n" : "\n");
  }
  return text;
}

}  // namespace sheaf::cli
