// A configuration endpoint's report about its fleet.

#include "extras/discovery/fleet_inquiry.h"
#include "extras/discovery/found_servers.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using discovery::Fleet;
using discovery::FleetInquiry;

// Asks at most twice, as a connection does. `piece` bytes arrive at once.
std::string end_of(std::string_view bytes, std::size_t piece) {
  FleetInquiry inquiry;
  expect(!inquiry.take_output().empty(), "it begins with a question");
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    inquiry.on_input(bytes.substr(0, piece));
  }
  std::string text(inquiry.take_output());
  if (!inquiry.over()) return text;
  expect(text.empty(), "nothing is asked after the end");
  const auto& fleet = inquiry.result();
  if (!fleet) return fleet.error().text;
  expect(!fleet->servers.empty() && fleet->servers.size() <= FleetInquiry::max_servers, "servers");
  std::string value = std::to_string(fleet->version) + '\n';
  for (const auto& [host, port] : fleet->servers) {
    expect(!host.empty() && port != 0, "a server has host and port");
    value += host + "||" + std::to_string(port) + ' ';
  }
  const auto again = Fleet::parse(value);
  expect(again && *again == *fleet, "what was read is written and read again");
  const auto servers = discovery::servers_of_fleet(*fleet);
  expect(servers || !servers.error().empty(), "servers or a sentence");
  return value;
}

}  // namespace

void run(std::string_view bytes) {
  const std::string text(bytes);
  const std::string whole = end_of(text, text.size() + 1);
  expect(end_of(text, 1) == whole, "single bytes are read as all at once");
  expect(end_of(text, 7) == whole, "and so are pieces");
  const auto fleet = Fleet::parse(text);
  expect(fleet || !fleet.error().empty(), "a list or a sentence");
}

std::vector<std::string> seeds() {
  const std::string list = "12\nc1.example|10.0.0.1|11211 c2.example||11212\n";
  const std::string rest = " 0 " + std::to_string(list.size()) + "\r\n" + list + "\r\nEND\r\n";
  return {"CONFIG cluster" + rest,
          "VALUE AmazonElastiCache:cluster" + rest,
          "ERROR\r\n",
          "END\r\n",
          "CONFIG cluster 0 65536\r\n1\n",
          "SERVER_ERROR x\r\nEND\r\n",
          list};
}

}  // namespace sheaf::fuzz
