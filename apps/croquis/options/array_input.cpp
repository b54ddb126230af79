#include "options/array_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/io/array_file.hpp>
#include <filesystem>
#include <memory>
#include <utility>

#include "files/progress.hpp"
#include "options/finite.hpp"
#include "options/lists.hpp"
#include "options/name_part.hpp"
#include "options/refuse.hpp"

namespace {

using croquis::StoredArray;

void note(const std::string& what) {
  say_once(fmt::format("croquis: {}\n", what));
}

// A head of one of the arrays: one that several heads of queries share is read once.
class HeadOf {
 public:
  explicit HeadOf(StoredArray array) : array_(std::move(array)) {}
  const StoredArray& array() const { return array_; }
  const arma::mat& read(arma::uword head) {
    if (last_ == head) return matrix_;
    last_.reset();
    matrix_.reset();
    matrix_ = array_.matrix(head);
    require_finite_numbers(matrix_, where(head));
    last_ = head;
    return matrix_;
  }

  // "k.npy: batch 1, head 1, "
  std::string where(arma::uword head) const {
    std::string text = array_.name() + ": ";
    if (array_.dimensions() > 3) text += fmt::format("batch {}, ", head / array_.batch_heads());
    if (array_.dimensions() > 2) text += fmt::format("head {}, ", head % array_.batch_heads());
    return text;
  }

 private:
  StoredArray array_;
  std::optional<arma::uword> last_;
  arma::mat matrix_;
};

struct Arrays {
  HeadOf q, k, v;
  arma::uword group;  // heads of queries that share one of keys

  croquis::Problem<double> head(arma::uword batch, arma::uword h) {
    const arma::uword of_q = batch * q.array().batch_heads() + h, of_k = batch * k.array().batch_heads() + h / group;
    const arma::mat &queries = q.read(of_q), &keys = k.read(of_k), &values = v.read(of_k);
    try {
      return {queries, keys, values};
    } catch (const std::invalid_argument&) {
      const croquis::LongestRow longest = croquis::longest_row(queries, keys, values);
      const double most = croquis::largest_row_norm<double>(std::max(queries.n_rows, keys.n_rows));
      if (longest.norm <= 0.99 * most) throw;  // another mistake; both norms are rounded
      const std::string where = longest.matrix == "Q"   ? q.where(of_q)
                                : longest.matrix == "K" ? k.where(of_k)
                                                        : v.where(of_k);
      refuse(fmt::format("{}row {} (from 0) has norm {:.3g}, and squares of more than {:.3g} overflow; {}", where,
                         longest.row, longest.norm, most,
                         longest.matrix == "V"
                             ? "V divided by a number has its output divided by it"
                             : "divided by a number it has other scores, so there is no way around it"));
    }
  }
};

arma::uword batches(const StoredArray& array) {
  return array.heads() / array.batch_heads();
}

std::string shape_of(const StoredArray& array) {
  const std::string heads = array.dimensions() > 2 ? fmt::format("{}, ", array.batch_heads()) : "";
  const std::string batch = array.dimensions() > 3 ? fmt::format("{}, ", batches(array)) : "";
  return fmt::format("({}{}{}, {})", batch, heads, array.rows(), array.cols());
}

// What the sizes of the arrays decide.
Arrays matched(const StoredArray& q, const StoredArray& k, const StoredArray& v) {
  const auto check = [&](bool holds, const std::string& why) {
    if (!holds) {
      refuse(fmt::format("--input arrays: {}; Q is {}, K {}, V {}", why, shape_of(q), shape_of(k), shape_of(v)));
    }
  };
  const arma::uword of_q = q.batch_heads(), of_k = k.batch_heads();
  check(batches(q) == batches(k) && batches(q) == batches(v),
        fmt::format("the batches are {} of Q, {} of K and {} of V", batches(q), batches(k), batches(v)));
  check(of_k == v.batch_heads() && of_q % of_k == 0,
        fmt::format("Q has {}, K {}, V {}, which have to be as many, or so many for K and V that those of Q are "
                    "a multiple",
                    croquis::counted(of_q, "head"), of_k, v.batch_heads()));
  check(k.rows() == v.rows(), "K and V need as many rows as each other");
  check(q.cols() == k.cols(), "Q and K need the same width");
  check(q.rows() > 0 && k.rows() > 0 && q.cols() > 0 && v.cols() > 0, "there are no numbers");
  return {HeadOf(q), HeadOf(k), HeadOf(v), of_q / of_k};
}

void say_what_was_decided(const Arrays& arrays) {
  const arma::uword g = arrays.group;
  if (g > 1) {
    note(
        fmt::format("{} heads of queries share {} of keys and values: head h of the keys is that of queries {}h to "
                    "{}h + {}",
                    arrays.q.array().batch_heads(), arrays.k.array().batch_heads(), g, g, g - 1));
  }
  for (const HeadOf* of : {&arrays.q, &arrays.k, &arrays.v}) {
    const std::string& name = of->array().name();
    const bool npy = name.ends_with(".npy");  // other formats name the type
    if (npy && of->array().type() == croquis::NumberType::bfloat16) {
      note(fmt::format("{}: two bytes without a type (V2), as NumPy writes bfloat16, are read as bfloat16", name));
    }
  }
}

}  // namespace

// "head_Q.npy" -> "arrays:head"
std::string name_of_arrays(const std::string& path_of_q) {
  std::string stem = std::filesystem::path(path_of_q).stem().string();
  if (stem.ends_with("_Q") || stem.ends_with("_q")) stem.resize(stem.size() - 2);
  return "arrays:" + as_name_part(stem);
}

std::vector<PendingHead> from_arrays(const InputOptions& o) {
  const bool one_file = !o.qkv.empty(), three_files = !o.q.empty() && !o.k.empty() && !o.v.empty();
  if (one_file == three_files || (one_file && !(o.q + o.k + o.v).empty())) {
    refuse("--input arrays: needs --q Q.npy --k K.npy --v V.npy, or --qkv FILE.npz with members q, k and v");
  }
  const auto open = [&](const std::string& path, const char* member) {
    return one_file ? croquis::named_array(o.qkv, member) : croquis::only_array(path, member);
  };
  const StoredArray of_q = open(o.q, "q"), of_k = open(o.k, "k"), of_v = open(o.v, "v");
  const auto arrays = std::make_shared<Arrays>(matched(of_q, of_k, of_v));
  say_what_was_decided(*arrays);
  const StoredArray& q = arrays->q.array();
  const std::string file =
      one_file ? "arrays:" + as_name_part(std::filesystem::path(o.qkv).stem().string()) : name_of_arrays(o.q);
  const bool has_batches = q.dimensions() > 3, has_heads = has_batches || q.heads() > 1;
  const std::vector<arma::uword> chosen = parse_numbers(o.head, "--head", q.batch_heads());
  std::vector<PendingHead> heads;
  for (arma::uword batch = 0; batch < batches(q); ++batch) {
    for (const arma::uword h : chosen) {
      std::string name = file;
      if (has_batches) name += fmt::format(";batch={}", batch);
      if (has_heads) name += fmt::format(";head={}", h);
      heads.push_back(
          {std::move(name), {}, has_heads ? std::optional<std::uint64_t>(h) : std::nullopt, [arrays, batch, h] {
             return arrays->head(batch, h);
           }});
    }
  }
  return heads;
}
