// What commands that measure methods against d are asked for, checked before anything is computed.
#pragma once

#include <armadillo>
#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <string>
#include <vector>

namespace croquis {

/// The methods of this text for heads of these shapes. "all" stands for those that take them; for errors that are
/// estimated from some rows (ErrorSettings::rows), for those of less than n^2 work, and another that is named is
/// refused, since it takes as long as the exact attention that is avoided. Throws as parse_methods and require_usable.
std::vector<MethodChoice> error_methods(const std::string& text, const std::vector<TokenAlignment>& shapes,
                                        PositionParts position, bool some_rows, const std::string& where = "--methods");

/// What a range of numbers of features ends at: the largest d that every one of the methods takes for heads of all of
/// these shapes, and at most the smallest n_k. A larger d that is given by itself is for require_features to refuse.
arma::uword largest_features(const std::vector<MethodChoice>& methods, const std::vector<TokenAlignment>& shapes);

/// Throws std::invalid_argument, with a message that begins with `where`, unless there are features, each from 1
///   to what every one of the methods takes (Method::largest_d), and the n_k x d numbers of a method, of `bytes` bytes
///   each, fit into memory.
void require_features(const std::vector<arma::uword>& features, const std::vector<MethodChoice>& methods,
                      TokenAlignment shape, std::size_t bytes, const std::string& where = "--features");
/// The same unless this many rows can be sampled from n_q.
void require_sampled_rows(arma::uword rows, arma::uword n_q, const std::string& where = "--rows");

}  // namespace croquis
