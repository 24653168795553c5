#include "protocol/ordered_requests.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/random.h"

namespace sheaf::protocol {
namespace {

using Queue = OrderedRequests<>;

OrderedRequest& add(Queue& queue, bool with_ticket = true) {
  queue.reserve(1);
  return queue.add(with_ticket);
}

TEST(OrderedRequests, TheOldestThatOwesAReplyIsDue) {
  Queue queue;
  EXPECT_EQ(queue.due(), nullptr);
  const Ticket first = add(queue).ticket;
  const Ticket second = add(queue).ticket;
  EXPECT_EQ(queue.due()->ticket, first);
  EXPECT_EQ(queue.after(*queue.due())->ticket, second);
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due()->ticket, second);
  EXPECT_EQ(queue.after(*queue.due()), nullptr);
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due(), nullptr);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(OrderedRequests, WhatIsForgottenKeepsItsPlaceButNotItsTicket) {
  Queue queue;
  const Ticket given_up = add(queue).ticket;
  const std::uint32_t place = queue.due()->sequence;
  queue.forget(*queue.due());
  EXPECT_EQ(queue.find(given_up), nullptr);
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(queue.size(), 1u);
  ASSERT_NE(queue.due(), nullptr);
  EXPECT_EQ(queue.due()->sequence, place);
  const Ticket next = add(queue).ticket;
  EXPECT_EQ(next.slot, given_up.slot);
  EXPECT_NE(next.generation, given_up.generation);
  EXPECT_EQ(queue.find(given_up), nullptr) << "a ticket names one request";
  EXPECT_EQ(queue.due()->sequence, place) << "its reply is still the next";
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due()->ticket, next);
}

TEST(OrderedRequests, OnlyOwnOnesAreLeftOnceEveryCallersReplyHasPassed) {
  Queue queue;
  EXPECT_TRUE(queue.only_own());
  EXPECT_FALSE(add(queue, false).has_caller());
  EXPECT_TRUE(queue.only_own());
  OrderedRequest& request = add(queue);
  EXPECT_TRUE(request.has_caller());
  EXPECT_FALSE(queue.only_own());
  queue.forget(request);
  EXPECT_FALSE(queue.only_own()) << "its reply is owed";
  queue.finish(request);
  EXPECT_TRUE(queue.only_own());
}

TEST(OrderedRequests, OneInTheMiddleMayEndFirst) {
  Queue queue;
  add(queue);
  const Ticket middle = add(queue).ticket;
  const Ticket last = add(queue).ticket;
  queue.drop(*queue.find(middle));
  EXPECT_EQ(queue.size(), 3u) << "it leaves with what is before it";
  EXPECT_EQ(queue.after(*queue.due())->ticket, last);
  std::size_t position = 0;
  std::vector<std::uint32_t> waiting;
  for (; OpenRequest* const request = queue.next(position); ++position) {
    waiting.push_back(request->ticket.slot);
  }
  EXPECT_EQ(waiting, (std::vector<std::uint32_t>{0, 2}));
  queue.finish(*queue.due());
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.due()->ticket, last);
}

// Compared with a list that does the same in the simplest way.
TEST(OrderedRequests, DoesWhatAListWouldDo) {
  struct Known {
    Ticket ticket;
    bool waits = true;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Queue queue;
    std::deque<Known> list;
    for (int step = 0; step < 2'000; ++step) {
      switch (random.below(5)) {
        case 0:
        case 1:
          if (list.size() < 60) list.push_back({add(queue).ticket});
          break;
        case 2:
          if (list.empty()) break;
          queue.finish(*queue.due());
          list.pop_front();
          break;
        default: {
          if (list.empty()) break;
          Known& known = list[random.below(list.size())];
          OrderedRequest* const request = queue.find(known.ticket);
          ASSERT_EQ(request != nullptr, known.waits) << seed;
          if (request == nullptr) break;
          queue.forget(*request);
          known.waits = false;
        }
      }
      ASSERT_EQ(queue.size(), list.size()) << seed;
      ASSERT_EQ(queue.due() == nullptr, list.empty()) << seed;
      if (list.empty()) continue;
      ASSERT_EQ(queue.due()->ticket, list.front().ticket) << seed;
    }
  }
}

TEST(OrderedRequests, ARequestOfTwoStepsKeepsItsTicketAndGoesToTheEnd) {
  Queue queue;
  const Ticket first = add(queue).ticket;
  const Ticket second = add(queue).ticket;
  queue.move_to_end(*queue.find(first));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.waiting(), 2u);
  EXPECT_EQ(queue.due()->ticket, second);
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due()->ticket, first);
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due(), nullptr);
  EXPECT_EQ(queue.find(first), nullptr);
}

TEST(OrderedRequests, ItsOldPlaceMayOweAnotherReply) {
  Queue queue;
  const Ticket first = add(queue).ticket;
  queue.move_to_end(*queue.find(first), true);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_FALSE(queue.due()->has_caller());
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due()->ticket, first);
}

TEST(OrderedRequests, WhatIsGivenUpMayStillMoveToTheEnd) {
  Queue queue;
  OrderedRequest& request = add(queue);
  queue.forget(request);
  queue.move_to_end(request);
  EXPECT_EQ(queue.size(), 1u);
  queue.finish(*queue.due());
  EXPECT_EQ(queue.size(), 0u);
}

TEST(OrderedRequests, WhatIsSetAsideOwesNoReplyUntilItIsTakenBackInItsTurn) {
  Queue queue;
  const Ticket first = add(queue).ticket;
  const Ticket second = add(queue).ticket;
  const Ticket third = add(queue).ticket;
  queue.set_aside(*queue.find(first));
  queue.set_aside(*queue.find(second));
  EXPECT_EQ(queue.due()->ticket, third);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.waiting(), 3u);
  queue.finish(*queue.due());
  EXPECT_EQ(queue.due(), nullptr);
  queue.forget(*queue.find(first));  // given up while it waited
  EXPECT_EQ(queue.find(first), nullptr);
  EXPECT_EQ(queue.take_back()->ticket, second);
  EXPECT_EQ(queue.take_back(), nullptr);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.due()->ticket, second);
  EXPECT_EQ(queue.find(second), queue.due());
}

TEST(OrderedRequests, TheEndOfAConnectionFindsWhatIsSetAside) {
  Queue queue;
  add(queue);
  const Ticket aside = add(queue).ticket;
  queue.set_aside(*queue.find(aside));
  std::size_t position = 0;
  int found = 0;
  while (OpenRequest* const request = queue.next(position)) {
    queue.abandon(*request);
    ++position;
    ++found;
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_TRUE(queue.only_own() || queue.due() != nullptr);
}

TEST(OrderedRequests, WhatIsSetAsideComesBackInOrderWhileMoreIsSetAside) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Queue queue;
    std::deque<Ticket> aside;
    for (int step = 0; step < 500; ++step) {
      if (random.below(2) == 0) {
        aside.push_back(add(queue).ticket);
        queue.set_aside(*queue.find(aside.back()));
      } else if (!aside.empty() && random.below(4) == 0) {
        const auto given_up =
            aside.begin() + static_cast<std::ptrdiff_t>(random.below(aside.size()));
        queue.forget(*queue.find(*given_up));
        aside.erase(given_up);
      } else if (OrderedRequest* const request = queue.take_back()) {
        ASSERT_EQ(request->ticket, aside.front()) << "seed " << seed << ", step " << step;
        aside.pop_front();
        queue.forget(*request);
        queue.finish(*request);
      } else {
        ASSERT_TRUE(aside.empty());
        ASSERT_EQ(queue.size(), 0u);
      }
      for (const Ticket& ticket : aside) ASSERT_NE(queue.find(ticket), nullptr);
    }
    ASSERT_EQ(queue.waiting(), aside.size());
    std::size_t position = 0;
    for (; OpenRequest* const request = queue.next(position); ++position) {
      ASSERT_EQ(static_cast<OrderedRequest*>(request)->ticket, aside.front());
      aside.pop_front();
    }
    ASSERT_TRUE(aside.empty());
  }
}

}  // namespace
}  // namespace sheaf::protocol
