// Fenced writes: a writer that was paused and still believes that it holds the lock cannot undo
// what its successor wrote, because the store compares fencing tokens.
//
// The token of a tenure is the version of the SET that took the lock. It counts only on the node
// that issued it, so the lock and the protected key share a {tag}, which alone decides their node.
//
// fenced_writes [URI]   default embedded://3; ends with 2 if servers compare no tokens (memcached)

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sheaf/client.h>

namespace {

constexpr const char* lock_name = "{press7}/lock";
constexpr const char* recipe_key = "{press7}/recipe";

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "expectation failed: %s\n", what.c_str());
  std::exit(1);
}

// Takes the lock if it is free; returns the token of the tenure.
sheaf::FencingToken take_lock(sheaf::Client& client, const std::string& holder) {
  sheaf::SetOptions options;
  options.condition = sheaf::SetCondition::if_absent;
  options.ttl = std::chrono::seconds(30);
  const auto taken = client.set(lock_name, holder, options);
  require(taken && taken->stored, holder + " takes the lock");
  std::printf("%s holds the lock, token %s\n", holder.c_str(), taken->version.text.c_str());
  return {taken->version.text};
}

sheaf::Result<sheaf::SetResult> write(sheaf::Client& client, const std::string& recipe,
                                      const sheaf::FencingToken& token) {
  sheaf::SetOptions options;
  options.fence = token;
  return client.set(recipe_key, recipe, options);
}

void expect_refused(const sheaf::Result<sheaf::SetResult>& result, sheaf::Reason reason,
                    const std::string& who) {
  require(!result && result.error().outcome == sheaf::Outcome::refused &&
              result.error().reason == reason,
          who + " is refused");
  std::printf("%s is refused: %s\n", who.c_str(), result.error().message().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3");
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 2;
  if (!client->supports(sheaf::Feature::fencing)) {
    std::fprintf(stderr,
                 "fenced_writes: these servers do not check fencing tokens, so no write is fenced; "
                 "a state store does (mqtt://, embedded://).\n");
    return 2;
  }
  require(client->locate(lock_name).value().node == client->locate(recipe_key).value().node,
          "keys with one tag live on one node");
  require(client->remove(lock_name).has_value(), "the node answers");

  const auto first = take_lock(*client, "writer 1");
  require(write(*client, "recipe of writer 1", first).has_value(), "a write under the lock");

  // Writer 1 is paused until its lock expires (here: is removed) and writer 2 takes it.
  sheaf::RemoveOptions if_mine;
  if_mine.if_value = "writer 1";
  const auto released = client->remove(lock_name, if_mine);
  require(released && *released == sheaf::RemoveResult::removed, "the lock is free again");
  const auto second = take_lock(*client, "writer 2");
  require(write(*client, "recipe of writer 2", second).has_value(), "a write under the lock");

  // Writer 1 wakes up and writes its value. Then another program writes without any token.
  expect_refused(write(*client, "stale recipe", first), sheaf::Reason::fencing_stale,
                 "writer 1's old token");
  expect_refused(client->set(recipe_key, "unprotected"), sheaf::Reason::fencing_required,
                 "a write without a token");

  const auto now = client->get(recipe_key);
  require(now && *now && (*now)->data == "recipe of writer 2", "the newer tenure's value stands");
  std::printf("the recipe is still that of writer 2\n");

  // Only the newest tenure can clean up.
  sheaf::RemoveOptions fenced;
  fenced.fence = second;
  require(client->remove(recipe_key, fenced).has_value(), "a fenced remove");
  require(client->remove(lock_name).has_value(), "a remove");
}
