#include "claims/subjects.hpp"

#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>

std::vector<Subject> default_subjects(const croquis::Key& draw_key) {
  constexpr arma::uword n = 512, p = 16;
  const auto size = [](double norm) { return croquis::SyntheticSize{n, p, norm}; };
  std::vector<std::string> tokens = croquis::split_words(croquis::sample_text());
  tokens.resize(n);
  return {{"text:sample", croquis::initialised_bert(tokens, draw_key.child("text"))},
          {"gaussian:2", croquis::gaussian_input(draw_key.child("gaussian:2"), size(2))},
          {"gaussian:8", croquis::gaussian_input(draw_key.child("gaussian:8"), size(8))},
          {"clustered:8", croquis::clustered_input(draw_key.child("clustered:8"), size(8))},
          {"heavy-norms:2", croquis::heavy_norms_input(draw_key.child("heavy-norms:2"), size(2))},
          {"duplicates:4", croquis::duplicates_input(draw_key.child("duplicates:4"), size(4))}};
}
