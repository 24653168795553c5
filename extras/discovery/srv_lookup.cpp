// SRV records from the name servers of this machine, or from those that the program names.

#include "extras/discovery/dns/srv_lookup.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <expected>
#include <utility>

#include "base/byte_writer.h"
#include "base/descriptor.h"
#include "base/local_error.h"
#include "base/random.h"
#include "base/read_clocks.h"
#include "base/text.h"
#include "extras/discovery/dns/name_servers.h"
#include "extras/discovery/dns_socket.h"
#include "extras/discovery/found_servers.h"
#include "extras/discovery/lookup.h"

namespace sheaf::discovery {
namespace {

using dns::NameServer;
using dns::SrvAnswer;
using dns::SrvLookup;
using dns::SrvQuery;

constexpr const char* resolver_file = "/etc/resolv.conf";
// How much of the file is read at most; real files are smaller.
constexpr std::size_t max_resolver_file = 64u << 10;

// A missing file names no server.
std::string read_resolver_file() {
  const OwnedFile file(std::fopen(resolver_file, "rbe"));
  std::string text(file == nullptr ? 0 : max_resolver_file, '\0');
  if (file != nullptr) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

std::vector<NameServer> name_servers_of(const DiscoveryOptions& options) {
  if (options.name_servers.empty()) return dns::read_resolver_file(read_resolver_file());
  std::vector<NameServer> servers;
  for (const std::string& server : options.name_servers) {
    servers.push_back(*dns::read_name_server(server));
  }
  return servers;
}

// Asks one question after another, as the plan says.
class AskingNameServers {
 public:
  AskingNameServers(const SrvQuery& query, std::vector<NameServer> servers, Deadline deadline,
                    const std::stop_token* stop)
      : query_(query), servers_(std::move(servers)), stop_(stop), plan_(servers_.size(), deadline) {
    ByteWriter out(question_);
    query.encode(out);
  }

  Result<std::vector<dns::SrvRecord>> run() {
    while (!stop_.stopped()) {
      const auto attempt = plan_.next(read_monotonic());
      if (!attempt) return plan_.take();
      end(ask(*attempt));
    }
    return Failure(local_error(Outcome::unknown, Reason::cancelled, "the look-up was stopped"));
  }

 private:
  // The answer, or an errno value; 0: the answer cannot be parsed.
  std::expected<SrvAnswer, int> ask(const SrvLookup::Attempt& attempt) {
    const auto over = attempt.tcp ? DnsSocket::Over::tcp : DnsSocket::Over::udp;
    DnsSocket socket(stop_);
    int error = socket.open(servers_[attempt.server], over, attempt.until);
    if (error == 0) error = socket.send(question_, attempt.until);
    std::string message;
    while (error == 0) {
      error = socket.receive(message, attempt.until);
      if (error != 0) break;
      auto answer = SrvAnswer::parse(message, query_);
      if (answer) return std::move(*answer);
      if (answer.error() == SrvAnswer::Fault::malformed || attempt.tcp) return std::unexpected(0);
    }
    return std::unexpected(error);
  }

  void end(std::expected<SrvAnswer, int> answer) {
    if (answer) return plan_.on_answer(std::move(*answer));
    if (answer.error() == 0) return plan_.on_malformed();
    if (answer.error() == ETIMEDOUT) return plan_.on_silence();
    plan_.on_failure(std::strerror(answer.error()));
  }

  const SrvQuery& query_;
  std::vector<NameServer> servers_;
  StopEvent stop_;
  SrvLookup plan_;
  std::string question_;
};

}  // namespace

Result<Found> look_up_srv(const ServerSource& source, const DiscoveryOptions& options) {
  const auto id = static_cast<std::uint16_t>(Random(entropy()).u32());
  const auto query = SrvQuery::of(source.host, id);
  const auto about = [&](Error why) {
    why.text.insert(0, "SRV records of " + query->name + ": ");
    return Failure(std::move(why));
  };
  auto records = AskingNameServers(*query, name_servers_of(options),
                                   read_monotonic() + options.timeout, options.stop)
                     .run();
  if (!records) return about(std::move(records.error()));
  auto servers = servers_of_records(*records);
  if (servers) return Found{std::move(*servers), 0};
  return about(local_error(Outcome::refused, Reason::other, std::move(servers.error())));
}

}  // namespace sheaf::discovery
