// A bounded cache.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace croquis {

/// A cache of at most `capacity` >= 1 values, by name. One more evicts the least recently used value, which lives on as
/// long as a caller holds it. Thread-safe.
template <typename Name, typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t capacity) : capacity_(capacity) {}

  /// The value of that name. If it is not in the cache, it is created by make() -> std::shared_ptr<const Value>. Other
  /// threads wait meanwhile, so no value is created twice. If make() throws, nothing is stored.
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
