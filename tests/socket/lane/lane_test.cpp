#include "socket/lane/lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/random.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::socket {
namespace {

using namespace std::chrono_literals;

// A substitute for the client: answers each job after a delay, with timers of the lane's loop.
class Service {
 public:
  explicit Service(UvLoop& loop, Lane& lane) : loop_(loop), lane_(lane) {}

  struct Job final : Lane::Task, TimerSink {
    Service* service = nullptr;
    std::chrono::microseconds delay{0};
    std::function<void()> done;
    std::unique_ptr<Timer> timer;
    void run(Now now) override {
      service->started_ += 1;  // unsynchronised on purpose: the baton guards it
      if (delay.count() == 0) return done();
      timer = service->loop_.timer(*this);
      timer->set(now.mono + delay);
    }
    void on_timer(Now) override {
      timer.reset();
      done();
    }
  };

  void ask(std::chrono::microseconds delay) {
    Job job;
    Lane::Waiter waiter;
    job.service = this;
    job.delay = delay;
    job.done = [&] { lane_.finish(waiter); };
    lane_.call(job, waiter);
  }
  // Waits without driving: the keeper does the work.
  void await(std::chrono::microseconds delay) {
    Job job;
    std::binary_semaphore done(0);
    job.service = this;
    job.delay = delay;
    job.done = [&] { done.release(); };
    lane_.post(job);
    done.acquire();
  }
  UvLoop& loop_;
  Lane& lane_;
  unsigned started_ = 0;
};

class LaneTest : public testing::Test {
 protected:
  void SetUp() override { lane->start(); }
  void TearDown() override {
    lane->stop();
    lane.reset();
  }
  std::unique_ptr<UvLoop> loop = *UvLoop::create({});
  std::unique_ptr<Lane> lane = std::make_unique<Lane>(*loop);
  std::unique_ptr<Service> service = std::make_unique<Service>(*loop, *lane);
};

TEST_F(LaneTest, ALoneCallerDrivesAndIsAnswered) {
  for (int i = 0; i < 100; ++i) service->ask(0us);
  service->ask(3ms);
  EXPECT_EQ(service->started_, 101u);
}

TEST_F(LaneTest, ACallTakesTheBatonFromTheIdleKeeper) {
  for (int i = 0; i < 20; ++i) {
    service->await(100us);  // the keeper drives, and keeps driving
    service->ask(0us);
  }
  EXPECT_EQ(service->started_, 40u);
}

TEST_F(LaneTest, ManyCallersAreAllAnswered) {
  constexpr int threads = 16;
  constexpr int calls = 300;
  std::vector<std::thread> crowd;
  for (int t = 0; t < threads; ++t) {
    crowd.emplace_back([&, t] {
      Random random(static_cast<std::uint64_t>(t));
      for (int i = 0; i < calls; ++i) {
        service->ask(std::chrono::microseconds(random.below(3) * 100));
      }
    });
  }
  for (auto& thread : crowd) thread.join();
  EXPECT_EQ(service->started_, static_cast<unsigned>(threads * calls));
}

TEST_F(LaneTest, CallersComeAndGoWhileTheirNumberChanges) {
  constexpr unsigned threads = 6;
  constexpr unsigned calls = 150;
  std::vector<std::thread> crowd;
  for (unsigned t = 0; t < threads; ++t) {
    crowd.emplace_back([&, t] {
      Random random(100 + t);
      for (unsigned i = 0; i < calls; ++i) {
        if (random.below(10) == 0) {
          service->await(std::chrono::microseconds(random.below(9'000)));
        } else {
          service->ask(std::chrono::microseconds(random.below(200)));
        }
      }
    });
  }
  for (auto& thread : crowd) thread.join();
  EXPECT_EQ(service->started_, threads * calls);
}

TEST_F(LaneTest, PostedWorkRunsThoughNobodyCalls) {
  constexpr unsigned jobs_wanted = 1000;
  std::atomic<unsigned> done = 0;
  std::deque<Service::Job> jobs(jobs_wanted);
  std::atomic<unsigned> next = 0;
  std::vector<std::thread> posters;
  for (int t = 0; t < 4; ++t) {
    posters.emplace_back([&] {
      for (unsigned i = next++; i < jobs_wanted; i = next++) {
        jobs[i].service = service.get();
        jobs[i].delay = std::chrono::microseconds(i % 5 * 50);
        jobs[i].done = [&] { ++done; };
        lane->post(jobs[i]);
      }
    });
  }
  for (auto& thread : posters) thread.join();
  while (done < jobs_wanted) service->ask(200us);
  EXPECT_EQ(done, jobs_wanted);
}

// Other, just posted work answers the call, before the driver sleeps again.
TEST_F(LaneTest, APostedTaskThatIsTakenBackIsNotRunAndTheOthersAre) {
  struct Noted final : Lane::Task {
    std::atomic<unsigned> runs = 0;
    void run(Now) override { ++runs; }
  };
  Noted taken_back;
  Noted kept;
  struct Poster final : Lane::Task {
    std::function<void()> work;
    void run(Now) override { work(); }
  } poster;
  Lane::Waiter waiter;
  poster.work = [&] {
    lane->cancel(taken_back);  // never posted
    lane->post(taken_back);
    lane->post(kept);
    lane->cancel(taken_back);
    lane->finish(waiter);
  };
  lane->call(poster, waiter);
  service->ask(0us);
  EXPECT_EQ(taken_back.runs, 0u);
  EXPECT_EQ(kept.runs, 1u);
}

TEST_F(LaneTest, ACallerIsWokenThoughTheDriverSleepsOn) {
  std::binary_semaphore started(0);
  Lane::Waiter waiters[2];
  std::future<void> callers[2];
  for (unsigned i = 0; i < 2; ++i) {
    callers[i] = std::async(std::launch::async, [&, i] {
      Service::Job job;
      job.service = service.get();
      job.done = [&] { started.release(); };
      lane->call(job, waiters[i]);
    });
    started.acquire();  // the first one drives, the second one sleeps
  }
  for (const unsigned i : {1u, 0u}) {
    Service::Job job;
    job.service = service.get();
    job.done = [&] { lane->finish(waiters[i]); };
    lane->post(job);
    EXPECT_EQ(callers[i].wait_for(10s), std::future_status::ready) << i;
  }
}

TEST_F(LaneTest, WhoWaitsForAnswersIsKnownAndPostedWorkIsNobody) {
  EXPECT_EQ(lane->callers(), 0u);
  service->await(100us);
  EXPECT_EQ(lane->callers(), 0u) << "the keeper drives";
  std::binary_semaphore started(0);
  Lane::Waiter waiter;
  std::future<void> caller = std::async(std::launch::async, [&] {
    Service::Job job;
    job.service = service.get();
    job.done = [&] { started.release(); };
    lane->call(job, waiter);
  });
  started.acquire();
  EXPECT_EQ(lane->callers(), 1u);
  Service::Job job;
  job.service = service.get();
  job.done = [&] { lane->finish(waiter); };
  lane->post(job);
  caller.get();
  EXPECT_EQ(lane->callers(), 0u);
  service->ask(0us);
  EXPECT_EQ(lane->callers(), 0u);
}

TEST_F(LaneTest, ADriverKnowsThatItDrives) {
  EXPECT_FALSE(Lane::drives_here());
  bool seen = false;
  Service::Job job;
  Lane::Waiter waiter;
  job.service = service.get();
  job.done = [&] {
    seen = Lane::drives_here();
    lane->finish(waiter);
  };
  lane->call(job, waiter);
  EXPECT_TRUE(seen);
  EXPECT_FALSE(Lane::drives_here());
}

// The keeper takes the baton at the very moment of the stop, before it reports that it waits.
TEST(LaneStop, EndsAKeeperThatIsJustTakingTheBaton) {
  const std::unique_ptr<UvLoop> loop = *UvLoop::create({});
  for (int i = 0; i < 3000; ++i) {
    Lane lane(*loop);
    lane.start();
    for (int pause = 0; pause < i % 300; ++pause) std::this_thread::yield();
    lane.stop();
  }
}

}  // namespace
}  // namespace sheaf::socket
