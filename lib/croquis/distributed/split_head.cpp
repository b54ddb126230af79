#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/problem.hpp>
#include <croquis/core/require.hpp>
#include <croquis/distributed/split_head.hpp>
#include <croquis/io/npy.hpp>
#include <stdexcept>

namespace croquis {

RowRange rows_of_rank(arma::uword n, int rank, int size) {
  const auto r = static_cast<arma::uword>(rank), parts = static_cast<arma::uword>(size);
  const arma::uword length = n / parts, longer = n % parts;
  return {r * length + std::min(r, longer), length + (r < longer ? 1 : 0)};
}

SplitHead read_split_head(const std::string& q, const std::string& k, const std::string& v, const Communicator& world) {
  const NpySize sq = npy_size(q), sk = npy_size(k), sv = npy_size(v);
  require(sk.rows == sq.rows && sv.rows == sq.rows && sk.cols == sq.cols, "Q, K and V",
          "as many rows each, Q and K of one width",
          {{"Q.rows", sq.rows}, {"Q.cols", sq.cols}, {"K.rows", sk.rows}, {"K.cols", sk.cols}, {"V.rows", sv.rows}});
  require(sq.rows >= static_cast<arma::uword>(world.size()) && sq.cols >= 1 && sv.cols >= 1, "Q, K and V",
          "a row or more for every rank", {{"rows", sq.rows}, {"ranks", world.size()}});
  const RowRange range = rows_of_rank(sq.rows, world.rank(), world.size());
  const auto read = [&](const std::string& path) {
    arma::mat own = read_npy_rows(path, range.first, range.count);
    for (arma::uword i = 0; i < own.n_rows && !own.is_finite(); ++i) {
      if (!own.row(i).is_finite()) {
        throw std::invalid_argument(fmt::format("{}: NaN or Inf in row {}", path, range.first + i));
      }
    }
    return own;
  };
  SplitHead head{read(q), read(k), read(v), range.first, sq.rows};
  const LongestRow longest = longest_row(head.q, head.k, head.v);
  require(longest.norm <= largest_row_norm<double>(head.n), "Q, K and V",
          "rows whose squares do not overflow when they are summed over all tokens",
          {{"matrix", longest.matrix},
           {"row", range.first + longest.row},
           {"norm", longest.norm},
           {"largest norm", largest_row_norm<double>(head.n)}});
  return head;
}

// Zeros from all ranks but one: a sum that rounds nothing.
arma::mat gather_rows(const arma::mat& own, arma::uword first, const arma::uvec& rows, const Communicator& world) {
  arma::mat gathered(rows.n_elem, own.n_cols, arma::fill::zeros);
  for (arma::uword j = 0; j < rows.n_elem; ++j) {
    if (rows(j) >= first && rows(j) < first + own.n_rows) gathered.row(j) = own.row(rows(j) - first);
  }
  world.sum(gathered);
  return gathered;
}

}  // namespace croquis
