#include <fmt/format.h>

#include <croquis/claims/decisions.hpp>
#include <croquis/claims/subjects.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>
#include <utility>

namespace croquis::claims {

std::vector<Subject> default_subjects(const Key& draw_key) {
  constexpr arma::uword n = 512, p = 16;
  const auto size = [](double norm) { return SyntheticSize{n, p, norm}; };
  std::vector<std::string> tokens = split_words(sample_text());
  tokens.resize(n);
  return {{"text:sample", initialised_bert(tokens, draw_key.child("text"))},
          {"gaussian:2", gaussian_input(draw_key.child("gaussian:2"), size(2))},
          {"gaussian:8", gaussian_input(draw_key.child("gaussian:8"), size(8))},
          {"clustered:8", clustered_input(draw_key.child("clustered:8"), size(8))},
          {"heavy-norms:2", heavy_norms_input(draw_key.child("heavy-norms:2"), size(2))},
          {"duplicates:4", duplicates_input(draw_key.child("duplicates:4"), size(4))}};
}

Problem<double> first_tokens(const Problem<double>& problem, arma::uword n) {
  if (n >= problem.n()) return {problem.Q(), problem.K(), problem.V()};
  return {problem.Q().head_rows(n), problem.K().head_rows(n), problem.V().head_rows(n)};
}

Finding too_few_tokens(std::string input, arma::uword least) {
  return not_applicable(std::move(input), fmt::format("fewer than {} tokens", least));
}

}  // namespace croquis::claims
