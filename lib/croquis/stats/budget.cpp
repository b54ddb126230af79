#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/budget.hpp>

namespace croquis {

ErrorBudget::ErrorBudget(const std::vector<Share>& checks, double total) : total_(total) {
  constexpr std::string_view where = "ErrorBudget";
  require(total > 0 && total < 1, where, "0 < total < 1", {{"total", total}});
  require(!checks.empty(), where, "at least one check");
  double weights = 0;
  for (const Share& check : checks) {
    require(!check.name.empty(), where, "checks that have names");
    require(check.weight > 0 && std::isfinite(check.weight), where, "weights > 0",
            {{"check", std::string_view(check.name)}, {"weight", check.weight}});
    weights += check.weight;
  }
  for (const Share& check : checks) {
    const bool is_new = accounts_.emplace(check.name, Account{total * (check.weight / weights), 0}).second;
    require(is_new, where, "every name once", {{"name", std::string_view(check.name)}});
  }
}

const ErrorBudget::Account& ErrorBudget::account(std::string_view name, std::string_view where) const {
  const auto found = accounts_.find(name);
  require(found != accounts_.end(), where, "a check of this budget", {{"name", name}});
  return found->second;
}

double ErrorBudget::spent() const {
  double sum = 0;
  for (const auto& [name, account] : accounts_) sum += account.spent;
  return sum;
}

double ErrorBudget::alpha(std::string_view name) const {
  return account(name, "ErrorBudget::alpha").alpha;
}

double ErrorBudget::rest(std::string_view name) const {
  const Account& of_check = account(name, "ErrorBudget::rest");
  return std::max(of_check.alpha - of_check.spent, 0.0);
}

double ErrorBudget::spend(std::string_view name, double amount) {
  constexpr std::string_view where = "ErrorBudget::spend";
  const Account& of_check = account(name, where);
  const double left = of_check.alpha - of_check.spent;
  require(amount > 0 && amount <= left + 1e-12 * of_check.alpha, where, "0 < amount <= what is left of the check",
          {{"name", name}, {"amount", amount}, {"left", left}});
  accounts_.find(name)->second.spent += amount;
  return amount;
}

double ErrorBudget::spend(std::string_view name) {
  return spend(name, rest(name));
}

}  // namespace croquis
