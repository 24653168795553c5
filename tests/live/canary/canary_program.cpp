// A small program that logs in with a secret, makes calls, and then searches all of its memory that
// a core dump would contain for the secret.
//
//   secret_canary WAY SERVER CODE [plant]
//
// WAY: uri, callback or a file's path. SERVER: "redis://app@127.0.0.1:1234?routing=ring". CODE: the
// secret in the form of coded(), because arguments are memory, too. With `plant` the program keeps
// a copy, which the search must find.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "base/secret.h"
#include "tests/live/canary/coded.h"

namespace sheaf::test {
namespace {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string name;
};

// The readable mappings that a core dump contains, as /proc/self/smaps describes them.
std::vector<Range> dumpable() {
  std::vector<Range> found;
  std::ifstream maps("/proc/self/smaps");
  Range range;
  bool readable = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    char dash = 0;
    Range next;
    std::string rights, ignored;
    if (line.starts_with("VmFlags:")) {
      if (readable && !(line + " ").contains(" dd ")) found.push_back(range);
    } else if (words >> std::hex >> next.first >> dash >> next.last && dash == '-') {
      words >> rights >> ignored >> ignored >> ignored >> next.name;
      range = next;
      readable = rights.starts_with('r') && next.name != "[vvar]" && next.name != "[vsyscall]";
    }
  }
  return found;
}

// The places of the secret in the memory of this process.
std::vector<std::string> search(const std::string& code) {
  std::vector<std::string> places;
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  static std::array<char, 1u << 20> buffer;
  for (const Range& range : dumpable()) {
    for (std::uint64_t at = range.first; at < range.last;) {
      const std::size_t most = std::min<std::uint64_t>(buffer.size(), range.last - at);
      const auto got = ::pread(memory, buffer.data(), most, static_cast<off_t>(at));
      if (got <= 0) break;
      // Each comparison decodes one byte, because the decoded secret must not be in memory.
      const std::span read = std::span(buffer).first(static_cast<std::size_t>(got));
      const auto same = [](char of_memory, char of_code) { return of_memory == coded(of_code); };
      const auto hit = std::ranges::search(read, code, same);
      if (!hit.empty()) {
        std::ostringstream place;
        place << range.name << " at " << std::hex
              << at + static_cast<std::uint64_t>(hit.begin() - read.begin());
        places.push_back(place.str());
      }
      const auto step = static_cast<std::uint64_t>(got);
      at += step < most || at + step == range.last ? step : step - code.size();
    }
  }
  ::close(memory);
  return places;
}

// The URI "redis://app@..." with the password inserted.
Secret with_password(const std::string& server, const std::string& code) {
  const std::size_t at = server.find('@');
  Secret uri(server.size() + 1 + code.size());
  std::span<char> out = uri.writable();
  auto next = std::ranges::copy(server.substr(0, at), out.begin()).out;
  *next++ = ':';
  for (const char c : code) *next++ = coded(c);
  std::ranges::copy(server.substr(at), next);
  return uri;
}

Result<Client> open(const std::string& way, const std::string& server, const std::string& code,
                    ClientOptions options) {
  if (way == "uri") return Client::open(with_password(server, code).view(), std::move(options));
  if (way != "callback") {
    return Client::open(server + "&password_file=" + way, std::move(options));
  }
  const std::size_t scheme = server.find("://") + 3;
  const std::size_t at = server.find('@');
  const std::string user = server.substr(scheme, at - scheme);
  options.credentials = [user, code](const CredentialRequest&) -> Result<sheaf::Credentials> {
    Secret secret(code.size());
    std::ranges::transform(code, secret.writable().begin(), [](char c) { return coded(c); });
    return sheaf::Credentials{.user = user, .password = secret.view()};
  };
  return Client::open(server.substr(0, scheme) + server.substr(at + 1), std::move(options));
}

int run(const std::vector<std::string>& words) {
  std::string planted;
  if (words.size() > 3) {
    for (const char c : words[2]) planted.push_back(coded(c));
  }
  // All log records are kept, so they are searched as well.
  std::vector<LogRecord> records;
  std::vector<std::string> errors;
  ClientOptions options;
  options.log = [&](const LogRecord& record) { records.push_back(record); };
  auto client = open(words[0], words[1], words[2], std::move(options));
  if (!client) return std::puts(client.error().message().c_str()), 2;
  // A few short calls, which overwrite little.
  const auto set = client->set("k", "v");
  const auto got = client->get("k");
  if (!set) errors.push_back(set.error().message());
  const auto stats = client->stats();
  std::printf("%s\n", set && got ? "served" : errors.back().c_str());
  const auto places = search(words[2]);
  for (const std::string& place : places) std::printf("found in %s\n", place.c_str());
  return places.empty() ? 0 : 1;
}

}  // namespace
}  // namespace sheaf::test

int main(int argc, char** argv) {
  return sheaf::test::run(std::vector<std::string>(argv + 1, argv + argc));
}
