// Batch reads: hundreds of keys, all nodes in parallel, one outcome for each distinct key. The same
// batch is read blocking, as a std::future, and with a callback.
//
// batch_read [URI]   default embedded://3

#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/client.h>

namespace {

using GetResults = std::vector<sheaf::KeyResult<sheaf::GetResult>>;

struct Count {
  int found = 0;
  int absent = 0;
  int failed = 0;
  bool operator==(const Count&) const = default;
};

// Each key has its own outcome. A node that does not answer fails only its own keys.
Count count(const GetResults& results) {
  Count counted;
  for (const auto& [key, got] : results) {
    if (!got) {
      if (counted.failed++ == 0) {
        std::printf("%s: %s\n", key.c_str(), got.error().message().c_str());
      }
    } else if (*got) {
      ++counted.found;
    } else {
      ++counted.absent;
    }
  }
  return counted;
}

void print(const char* form, const Count& counted) {
  std::printf("%-9s %d found, %d absent, %d failed\n", form, counted.found, counted.absent,
              counted.failed);
}

}  // namespace

int main(int argc, char** argv) {
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3");
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 2;

  // 400 keys, of which every fourth is absent.
  std::vector<std::string> names;
  for (int i = 0; i < 400; ++i) names.push_back("batch_read/" + std::to_string(i));
  std::vector<sheaf::SetItem> items;
  std::vector<std::string_view> missing;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i % 4 == 0) {
      missing.push_back(names[i]);
    } else {
      items.push_back({names[i], "value"});
    }
  }
  for (const auto& [key, removed] : client->remove_many(missing)) {
    if (!removed) return std::fprintf(stderr, "%s\n", removed.error().message().c_str()), 1;
  }
  for (const auto& [key, set] : client->set_many(items)) {
    if (!set) return std::fprintf(stderr, "%s\n", set.error().message().c_str()), 1;
  }

  // A key that occurs twice in the list has one entry in the answer.
  std::vector<std::string_view> keys(names.begin(), names.end());
  keys.push_back(names.front());

  const sheaf::BatchOptions options{.timeout = std::chrono::seconds(2)};  // for the whole batch
  GetResults results = client->get_many(keys, options);
  results = client->get_many(keys, options, std::move(results));  // reuses the first memory
  const Count blocking = count(results);
  print("blocking", blocking);

  auto future = client->async().get_many(keys, options).future();  // the caller is free until get()
  const Count later = count(future.get());
  print("future", later);

  std::promise<Count> promise;
  client->async().get_many(keys, options).then([&promise](const GetResults& got) {
    promise.set_value(count(got));  // on the client's dispatcher thread
  });
  const Count called = promise.get_future().get();
  print("callback", called);

  const Count expected{.found = 300, .absent = 100, .failed = 0};
  return blocking == expected && later == expected && called == expected ? 0 : 1;
}
