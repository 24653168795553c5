// A work list that several processes share (here: several clients). Planners push jobs, workers
// take them, and every job is done once, however slow a worker is.
//
// List::remove gives an item to exactly one caller, and jobs are taken in the order in which they
// were pushed.
//
// work_list [URI]   default embedded://3?name=work

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/list.h>

namespace {

constexpr int planner_count = 2;
constexpr int worker_count = 3;
constexpr int job_count = 20;  // for each planner

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "expectation failed: %s\n", what.c_str());
  std::exit(1);
}

sheaf::Client open(const std::string& uri) {
  auto client = sheaf::Client::open(uri);
  if (client) return std::move(*client);
  std::fprintf(stderr, "%s\n", client.error().message().c_str());
  std::exit(2);
}

void plan(const std::string& uri, int planner) {
  sheaf::Client client = open(uri);
  sheaf::List jobs(client, "jobs");
  for (int i = 0; i < job_count; ++i) {
    const auto length =
        jobs.push("planner " + std::to_string(planner) + ", job " + std::to_string(i));
    // Outcome::unknown would mean that the job may be in the list: pushing it again could double
    // it.
    require(length.has_value(), "a push: " + (length ? "" : length.error().message()));
  }
}

// Takes jobs until the planners are done and the list is empty; returns how many.
int work(const std::string& uri, const std::atomic<bool>& planned, std::mutex& mutex,
         std::map<std::string, int>& done) {
  sheaf::Client client = open(uri);
  sheaf::List jobs(client, "jobs");
  for (int count = 0;;) {
    const bool last_look = planned;
    const auto job = jobs.remove(0);
    require(job.has_value(), "a remove: " + (job ? "" : job.error().message()));
    if (*job) {
      const std::scoped_lock lock(mutex);
      ++done[**job];
      ++count;
    } else if (last_look) {
      return count;
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string uri = argc > 1 ? argv[1] : "embedded://3?name=work";
  sheaf::Client client = open(uri);
  sheaf::List jobs(client, "jobs");
  require(jobs.clear().has_value(), "the node answers");

  std::atomic<bool> planned = false;
  std::mutex mutex;
  std::map<std::string, int> done;
  std::vector<std::thread> planners;
  std::vector<std::thread> workers;
  for (int p = 0; p < planner_count; ++p) planners.emplace_back(plan, uri, p);
  for (int w = 0; w < worker_count; ++w) {
    workers.emplace_back([&, w] {
      const int count = work(uri, planned, mutex, done);
      std::printf("worker %d did %d jobs\n", w, count);
    });
  }
  for (std::thread& planner : planners) planner.join();
  planned = true;
  for (std::thread& worker : workers) worker.join();

  require(done.size() == planner_count * job_count, "every job was taken");
  for (const auto& [job, times] : done) require(times == 1, job + " was done once");
  require(jobs.length().value() == 0, "the list is empty");

  // Edits in the middle, and reads without taking.
  const std::string_view night[] = {"sweep", "oil", "lock up"};
  require(!jobs.push_many(night).error, "a push of many");
  require(jobs.insert(1, "count").value() == 4, "an insert");
  require(jobs.update(-1, "lock the doors").value(), "an update");
  std::printf("for the night:");
  const std::vector<std::string> night_jobs = jobs.range(0, -1).value();
  for (const std::string& job : night_jobs) std::printf(" %s;", job.c_str());
  std::printf("\nall %d jobs were done once\n", planner_count * job_count);
}
