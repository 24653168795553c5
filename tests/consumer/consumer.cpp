// A user's program for an installed sheaf: it includes, links, stores and reads.

#include <cstdio>

#include <sheaf/client.h>
#include <sheaf/json.h>
#include <sheaf/version.h>

int main() {
  auto client = sheaf::Client::open("embedded://2");
  if (!client) return std::puts(client.error().message().c_str()), 1;
  const auto stored = client->set("greeting", "hello");
  const auto found = client->get("greeting");
  if (!stored || !found || !*found || (*found)->data != "hello") return 1;
  std::puts("sheaf " SHEAF_VERSION ": hello");
  return 0;
}
