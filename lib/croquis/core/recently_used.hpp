// A cache with a bound.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace croquis {

/// Values by name, at most `capacity` >= 1 of them: when there is one more, the least recently used one is given up. A
/// value that somebody holds lives on with its holder. Thread-safe.
template <typename Name, typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t capacity) : capacity_(capacity) {}

  /// The value of that name; make() -> std::shared_ptr<const Value> where it is not kept. Others wait meanwhile, so
  /// that nothing is made twice; when make() throws, nothing is kept.
  template <typename Make>
  std::shared_ptr<const Value> get(const Name& name, const Make& make) {
    std::shared_ptr<const Value> given_up;  // destroyed after the lock: destructors may take locks of their own
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(name); found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    entries_.emplace_front(name, make());
    places_.emplace(name, entries_.begin());
    if (entries_.size() > capacity_) {
      places_.erase(entries_.back().first);
      given_up = std::move(entries_.back().second);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  using Entries = std::list<std::pair<Name, std::shared_ptr<const Value>>>;

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;  // the most recently used one first
  std::map<Name, typename Entries::iterator> places_;
};

}  // namespace croquis
