#include "commands/sketch_landmarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <stdexcept>

#include "files/progress.hpp"
#include "options/lists.hpp"

namespace {

void say_left_out(const std::string& text) {
  say_once(fmt::format("croquis sketch: {}\n", text));
}

// The head with most tokens.
const Input& longest_head(const std::vector<PendingSketchSubject>& subjects) {
  const auto longest = std::max_element(subjects.begin(), subjects.end(),
                                        [](const auto& a, const auto& b) { return a.head->n_k < b.head->n_k; });
  return *longest->head;
}

// Of the lifts of heads; none, with a line that says so, where one would be too large to be stored.
std::vector<std::string> policies_of_lift(const std::string& text, const std::vector<PendingSketchSubject>& subjects,
                                          bool causal) {
  std::vector<std::string> known = croquis::landmark_policy_names();
  std::erase(known, "given");
  const std::vector<std::string> policies = parse_names(text, "--landmarks", known);
  if (causal) {
    if (text == "all") return {};
    throw std::invalid_argument(
        "--landmarks: the lift is that of full attention, this input is --causal; give --landmarks none");
  }
  const Input& longest = longest_head(subjects);
  if (longest.n_q != longest.n_k) {  // then all have other numbers of queries than of keys
    const std::string sizes =
        fmt::format("Q has {}, K {}; the lift needs as many", croquis::counted(longest.n_q, "row"), longest.n_k);
    if (text != "all") throw std::invalid_argument(fmt::format("--landmarks: {}; give --landmarks none", sizes));
    say_left_out(fmt::format("landmark policies are left out: {}", sizes));
    return {};
  }
  if (longest.n_k <= kLargestDense / 2) return policies;
  say_left_out(fmt::format("landmark policies are left out, n = {} of {} is more than {}", longest.n_k, longest.name,
                           kLargestDense / 2));
  return {};
}

// Of a file: a matrix, or points and their kernel.
std::vector<std::string> policies_of_file(const std::string& text, const SketchSubject& subject) {
  std::vector<std::string> known = croquis::landmark_policy_names();
  std::erase(known, "given");
  const std::vector<std::string> asked =
      text == "all" ? std::vector<std::string>{} : parse_names(text, "--landmarks", known);
  if (!subject.kernel) {
    if (text != "all") throw std::invalid_argument(fmt::format("--landmarks: {}", subject.no_landmarks));
    say_left_out(fmt::format("landmark policies are left out, {}", subject.no_landmarks));
    return {};
  }
  if (std::find(asked.begin(), asked.end(), "stratified") != asked.end()) {
    throw std::invalid_argument(
        "--landmarks: stratified takes half from the queries and half from the keys of an input");
  }
  constexpr arma::uword largest = croquis::RidgeLeverage<double>::kLargestN;
  if (std::find(asked.begin(), asked.end(), "leverage") != asked.end() && subject.n > largest) {
    throw std::invalid_argument(
        fmt::format("--landmarks: leverage takes all eigenvalues, n = {} is more than {}; recursive estimates it",
                    subject.n, largest));
  }
  const bool small = subject.n <= kLargestDense;
  if (!small) {
    say_left_out(fmt::format("nystrom_spectral_rel{} left out, n = {} is more than {}",
                             text == "all" ? " and the policy leverage are" : " is", subject.n, kLargestDense));
  }
  if (text != "all") return asked;
  std::erase(known, "stratified");
  if (!small) std::erase(known, "leverage");
  return known;
}

}  // namespace

std::vector<std::string> landmark_policies(const std::string& text, const std::vector<PendingSketchSubject>& subjects,
                                           bool causal, arma::uword least) {
  if (text == "none") return {};
  const PendingSketchSubject& first = subjects.front();
  std::vector<std::string> policies =
      first.head ? policies_of_lift(text, subjects, causal) : policies_of_file(text, *first.load());
  if (policies.empty()) return policies;
  const arma::uword points = first.head ? 2 * longest_head(subjects).n_k : first.n;
  if (least <= points) return policies;
  const std::string sizes = fmt::format("{} of --features are more than the {} points there are", least, points);
  if (text != "all") throw std::invalid_argument(fmt::format("--landmarks: {}; give --landmarks none", sizes));
  say_left_out(fmt::format("landmark policies are left out: {}", sizes));
  return {};
}
