// The file of rights. An accepted document decides as it says; a refusal is one sentence.

#include <algorithm>

#include "base/strict_json.h"
#include "store/rights/rights.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using store::rights::Grant;
using store::rights::Right;
using store::rights::RightSet;

constexpr std::pair<std::string_view, Right> words[] = {
    {"read", Right::read}, {"write", Right::write}, {"watch", Right::watch}, {"lock", Right::lock}};

bool fits(std::string_view pattern, std::string_view text) {
  if (!pattern.ends_with('*')) return pattern == text;
  return text.starts_with(pattern.substr(0, pattern.size() - 1));
}

// True if the entry has a pattern that matches the key and gives the right.
bool gives(const JsonValue* entry, std::string_view right, std::string_view key) {
  const JsonValue* const keys = entry == nullptr ? nullptr : entry->find("keys");
  if (keys == nullptr) return false;
  for (const auto& [pattern, rights] : keys->members) {
    if (!fits(pattern, key)) continue;
    for (const JsonValue& word : rights.elements) {
      if (word.text == right) return true;
    }
  }
  return false;
}

bool wanted(const JsonValue& document, const store::rights::Subject& subject,
            std::string_view right, std::string_view key) {
  bool any = gives(document.find("everybody"), right, key);
  if (const JsonValue* const users = document.find("users"); users != nullptr && subject.user) {
    any = any || gives(users->find(*subject.user), right, key);
  }
  if (const JsonValue* const clients = document.find("clients")) {
    for (const auto& [pattern, entry] : clients->members) {
      any = any || (fits(pattern, subject.client_id) && gives(&entry, right, key));
    }
  }
  return any;
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  store::rights::Subject subject;
  if (input.flag()) subject.user = std::string(input.short_text());
  subject.client_id = input.short_text();
  const std::string key(input.short_text());
  const std::string_view text = input.rest();
  const auto rights = store::rights::parse_rights(text);
  if (!rights) {
    const std::string& why = rights.error();
    const bool one_line = std::ranges::all_of(why, [](char c) { return c >= ' ' && c < 0x7F; });
    return expect(!why.empty() && why.size() < 4'000 && one_line,
                  "a refusal says why, in one sentence that a log can have");
  }
  const auto document = parse_strict_json(text);
  expect(document && document->is_object(), "what is accepted is a JSON object");
  const Grant grant = rights->grant(subject);
  for (const auto& [word, right] : words) {
    expect(grant.allows(right, key) == wanted(*document, subject, word, key),
           "what is allowed is what a pattern says");
  }
  expect(grant.allows(RightSet(), key), "what needs no right is allowed");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* text :
       {R"({"users":{"ann":{"keys":{"line4/*":["read","write"],"key":["lock"]},)"
        R"("limits":{"keys":1,"bytes":"1MiB","watches":0,"requests_per_second":9}}}})",
        R"({"clients":{"press-*":{"keys":{"*":["watch"]}},"press-1":{"limits":{"bytes":7}}}})",
        R"({"everybody":{"keys":{"public/*":["read"]}},"users":{},"clients":{}})",
        R"({"users":{"ann":{},"ann":{}}})", R"({"users":{"ann":{"keys":{"a*b":["reed"]}}}})"}) {
    all.push_back("\1" + short_text("ann") + short_text("press-1") + short_text("line4/x") + text);
    all.push_back(std::string("\0", 1) + short_text("press-1") + short_text("key") + text);
  }
  return all;
}

}  // namespace sheaf::fuzz
