#include "claims/subjects.hpp"

#include <croquis/inputs/synthetic.hpp>
#include <croquis/inputs/text.hpp>

std::vector<Subject> default_subjects(const croquis::Stream& stream) {
  constexpr arma::uword n = 512, p = 16;
  const auto size = [](double norm) { return croquis::SyntheticSize{n, p, norm}; };
  std::vector<std::string> tokens = croquis::split_words(croquis::sample_text());
  tokens.resize(n);
  return {{"text:sample", croquis::initialised_bert(tokens, stream.child("text"))},
          {"gaussian:2", croquis::gaussian_input(stream.child("gaussian:2"), size(2))},
          {"gaussian:8", croquis::gaussian_input(stream.child("gaussian:8"), size(8))},
          {"clustered:8", croquis::clustered_input(stream.child("clustered:8"), size(8))},
          {"heavy-norms:2", croquis::heavy_norms_input(stream.child("heavy-norms:2"), size(2))},
          {"duplicates:4", croquis::duplicates_input(stream.child("duplicates:4"), size(4))}};
}
