#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/sampling/indices.hpp>
#include <croquis/sampling/pilot.hpp>

namespace croquis {

template <typename T>
Pilot<T> pilot_sample(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v, arma::uword d_0,
                      const Stream& stream) {
  require(d_0 >= 1, "pilot_sample", "d_0 >= 1", {{"d_0", d_0}});
  Pilot<T> pilot;
  pilot.rows = sample_with_replacement(q.n_rows, d_0, stream);
  pilot.scores = softmax_transposed<T>(q.rows(pilot.rows), k);
  pilot.weights = arma::sqrt(squared_row_norms(pilot.scores)) % arma::sqrt(squared_row_norms(v));
  return pilot;
}

template Pilot<float> pilot_sample(const arma::Mat<float>&, const arma::Mat<float>&, const arma::Mat<float>&,
                                   arma::uword, const Stream&);
template Pilot<double> pilot_sample(const arma::Mat<double>&, const arma::Mat<double>&, const arma::Mat<double>&,
                                    arma::uword, const Stream&);

}  // namespace croquis
