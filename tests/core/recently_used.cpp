#include <doctest/doctest.h>
#include <croquis/core/recently_used.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace croquis;

TEST_CASE("RecentlyUsed: what was used least recently is given up, and made again when it is asked for") {
  RecentlyUsed<int, std::string> cache(3);
  std::vector<int> made;
  const auto get = [&](int name) {
    return *cache.get(name, [&] {
      made.push_back(name);
      return std::make_shared<const std::string>(std::to_string(name));
    });
  };
  for (const int name : {1, 2, 3, 1, 4, 1, 3}) CHECK(get(name) == std::to_string(name));  // 4 puts 2 out
  CHECK(made == std::vector<int>{1, 2, 3, 4});
  CHECK(cache.size() == 3);
  get(2);  // puts 4 out
  get(1);
  get(3);
  CHECK(made == std::vector<int>{1, 2, 3, 4, 2});
  get(4);
  CHECK(made == std::vector<int>{1, 2, 3, 4, 2, 4});
  CHECK(cache.size() == 3);
}

TEST_CASE("RecentlyUsed: a value that is held lives on, and one that could not be made is not kept") {
  RecentlyUsed<int, int> cache(1);
  const auto held = cache.get(1, [] { return std::make_shared<const int>(10); });
  cache.get(2, [] { return std::make_shared<const int>(20); });
  CHECK(*held == 10);
  CHECK(held.use_count() == 1);
  CHECK_THROWS_AS(cache.get(3, []() -> std::shared_ptr<const int> { throw std::runtime_error("no"); }),
                  std::runtime_error);
  CHECK(cache.size() == 1);
  CHECK(*cache.get(2, []() -> std::shared_ptr<const int> { throw std::runtime_error("made again"); }) == 20);
}

TEST_CASE("RecentlyUsed: threads get the value of their name, each made once where there is room") {
  RecentlyUsed<int, int> roomy(8), tight(2);
  std::atomic<int> made = 0, wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int name = (i * (2 * t + 1) + t) % 8;
        const auto make = [name] { return std::make_shared<const int>(3 * name); };
        wrong += *roomy.get(name, [&] { return ++made, make(); }) != 3 * name;
        wrong += *tight.get(name, make) != 3 * name;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(made == 8);
  CHECK(tight.size() == 2);
}
