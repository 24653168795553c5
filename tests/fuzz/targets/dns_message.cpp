// A name server's answer to a question for SRV records, and the file that names the server.

#include "extras/discovery/dns/message.h"
#include "extras/discovery/dns/name_servers.h"
#include "extras/discovery/found_servers.h"
#include "tests/extras/discovery/dns/dns_bytes.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace discovery::dns;
using test::srv;

const SrvQuery& question() {
  static const SrvQuery query{.id = 0x1234, .name = "_m._tcp.cache.example"};
  return query;
}

void check_answer(const std::string& message) {
  const auto answer = SrvAnswer::parse(message, question());
  if (!answer) return;
  expect(!answer->truncated || answer->records.empty(), "of a part nothing is read");
  test::AnswerBytes again;
  std::vector<SrvRecord> plain;
  for (const SrvRecord& record : answer->records) {
    // The text of a 255-byte name is longer if each byte is written as \DDD.
    expect(record.target.size() <= 4 * max_name, "a name is bounded");
    if (record.target.find('\\') != std::string::npos) continue;
    expect(record.target.empty() || SrvQuery::of(record.target, 0), "a name may be asked for");
    again.add(srv(record.priority, record.weight, record.port, record.target));
    plain.push_back(record);
  }
  const auto back = SrvAnswer::parse(again.to(question()), question());
  expect(back && back->records == plain, "what was read is written and read again");
  const auto servers = discovery::servers_of_records(answer->records);
  expect(servers || !servers.error().empty(), "servers or a sentence");
  expect(!servers || !servers->empty(), "there is a server");
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::uint8_t kind = input.u8();
  const std::string text(input.rest());  // an exact copy: reading past it is detected
  if (kind == 0) {
    expect(!read_resolver_file(text).empty(), "somebody is asked");
    expect(read_resolver_file(text).size() <= max_name_servers, "but not too many");
    const auto server = read_name_server(text);
    return expect(!server || (!server->address.empty() && server->port != 0), "a name server");
  }
  if (kind == 1) {
    const auto query = SrvQuery::of(text, 1);
    if (query) expect(!SrvAnswer::parse(encoded(*query), *query), "a question is no answer");
    return;
  }
  check_answer(text);
}

std::vector<std::string> seeds() {
  using test::cname;
  using test::pointer_to;
  using test::record;
  using test::srv_data;
  using test::the_question;
  test::AnswerBytes two;
  two.add(srv(1, 2, 11'211, "c1.example")).add(srv(1, 0, 11'212, "c2.example"));
  test::AnswerBytes alias;
  alias.add(cname(the_question, "b.example"));
  alias.add(srv(0, 1, 1, "c1", test::wire_name("b.example")));
  test::AnswerBytes compressed;
  compressed.add(
      record(the_question, 33, srv_data(0, 1, 2, std::string("\x02") + "c1" + pointer_to(20))));
  std::vector<std::string> all{std::string("\0nameserver 10.0.0.2\nnameserver ::1\n", 36),
                               "\1_m._tcp.cache.example."};
  for (const auto& answer : {two, alias, compressed, test::AnswerBytes{.flags = 0x8183}}) {
    all.push_back('\2' + answer.to(question()));
  }
  return all;
}

}  // namespace sheaf::fuzz
