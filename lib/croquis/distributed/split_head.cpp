#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/problem.hpp>
#include <croquis/core/require.hpp>
#include <croquis/distributed/split_head.hpp>
#include <croquis/io/npy.hpp>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace croquis {
namespace {

void require_norms(const SplitHead& head) {
  const LongestRow longest = longest_row(head.q, head.k, head.v);
  require(longest.norm <= largest_row_norm<double>(head.n), "Q, K and V",
          "rows whose squares do not overflow when they are summed over all tokens",
          {{"matrix", longest.matrix},
           {"row", head.first + longest.row},
           {"norm", longest.norm},
           {"largest norm", largest_row_norm<double>(head.n)}});
}

// What a rank can see of its own part.
void require_part(const SplitHead& head) {
  const arma::uword rows = head.own();
  require(rows >= 1 && head.k.n_rows == rows && head.v.n_rows == rows && head.first < head.n &&
              rows <= head.n - head.first && head.q.n_cols == head.k.n_cols && head.q.n_cols >= 1 && head.v.n_cols >= 1,
          "SplitHead", "a row or more on every rank, as many of Q, K and V, below n, and Q and K of one width",
          {{"Q.rows", rows},
           {"K.rows", head.k.n_rows},
           {"V.rows", head.v.n_rows},
           {"first", head.first},
           {"n", head.n},
           {"Q.cols", head.q.n_cols},
           {"K.cols", head.k.n_cols},
           {"V.cols", head.v.n_cols}});
  for (const auto& [name, matrix] : {std::pair{"Q", &head.q}, {"K", &head.k}, {"V", &head.v}}) {
    if (matrix->is_finite()) continue;
    const arma::uword row = arma::find_nonfinite(*matrix).eval().front() % rows;
    require(false, "SplitHead", "finite entries", {{"matrix", std::string_view(name)}, {"row", head.first + row}});
  }
  require_norms(head);
}

// Rows that no rank has would count as zeros, and those of two ranks twice.
void require_each_row_once(const SplitHead& head, const Communicator& world) {
  arma::mat ends(static_cast<arma::uword>(world.size()), 2, arma::fill::zeros);
  ends.row(static_cast<arma::uword>(world.rank())) = {static_cast<double>(head.first),
                                                      static_cast<double>(head.first + head.own())};
  world.sum(ends);
  ends = ends.rows(arma::sort_index(ends.col(0))).eval();
  double next = 0;
  for (arma::uword i = 0; i < ends.n_rows; ++i) {
    require(ends(i, 0) == next, "SplitHead", "every row on one rank",
            {{"rows before", next}, {"a part begins at", ends(i, 0)}, {"n", head.n}});
    next = ends(i, 1);
  }
  require(next == static_cast<double>(head.n), "SplitHead", "every row on one rank", {{"rows", next}, {"n", head.n}});
}

}  // namespace

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
  require_norms(head);
  return head;
}

void require_split_head(const SplitHead& head, const Communicator& world) {
  std::exception_ptr refusal;
  try {
    require_part(head);
  } catch (const std::invalid_argument&) {
    refusal = std::current_exception();
  }
  // The largest rank that refuses, + 1; sizes and their negatives, whose maxima add to the largest less the smallest.
  const arma::rowvec sizes = arma::conv_to<arma::rowvec>::from(arma::urowvec{head.n, head.q.n_cols, head.v.n_cols});
  const arma::rowvec refused(1, arma::fill::value(refusal ? world.rank() + 1 : 0));
  arma::mat most = arma::join_rows(refused, sizes, -sizes);
  world.maximum(most);
  if (refusal) std::rethrow_exception(refusal);
  require(most(0) == 0, "SplitHead", "a part on every rank that is right", {{"wrong on rank", most(0) - 1}});
  require(arma::accu(most.cols(1, 3) + most.cols(4, 6)) == 0, "SplitHead", "n, p and p_v alike on all ranks",
          {{"n", head.n}, {"p", head.q.n_cols}, {"p_v", head.v.n_cols}});
  require_each_row_once(head, world);
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
