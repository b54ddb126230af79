// One error probability for a whole run, divided among its checks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// A check that takes part in a budget: its alpha is total * weight / (sum of weights).
struct Share {
  std::string name;
  double weight = 1;  ///< > 0, relative to the others
};

/// alpha_i = total w_i / sum w for named checks.
///
/// Guarantees: with each check wrong with probability at most its alpha, any of them is wrong with probability at most
///   total, however they depend on each other (Bonferroni). All checks are named at the start, so that no alpha depends
///   on what another found.
/// A check that consists of several takes its alpha as a budget of its own: ErrorBudget(parts, budget.spend(name)).
class ErrorBudget {
 public:
  static constexpr double kDefaultTotal = 1e-6;

  /// Throws std::invalid_argument for no checks, a double or an empty name, a weight that is not positive and finite,
  /// and unless 0 < total < 1.
  explicit ErrorBudget(const std::vector<Share>& checks, double total = kDefaultTotal);

  double total() const { return total_; }
  double spent() const;
  /// Of one check; these throw std::invalid_argument for an unknown name.
  double alpha(std::string_view name) const;
  double rest(std::string_view name) const;

  /// Takes `amount`, or all, of the alpha of a check, and returns it.
  /// Throws std::invalid_argument when less is left (rounding of 1e-12 alpha aside), so also for a check that is made
  /// twice.
  double spend(std::string_view name, double amount);
  double spend(std::string_view name);

 private:
  struct Account {
    double alpha = 0, spent = 0;
  };
  const Account& account(std::string_view name, std::string_view where) const;

  double total_;
  std::map<std::string, Account, std::less<>> accounts_;
};

}  // namespace croquis
