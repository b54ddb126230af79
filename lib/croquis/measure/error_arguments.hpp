// The methods, numbers of features and rows that a command is given, checked before anything is computed.
#pragma once

#include <armadillo>
#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <string>
#include <vector>

namespace croquis {

/// The methods of this text for heads of these shapes. "all" means all methods that take these shapes. If errors are
/// estimated from some rows (ErrorSettings::rows), methods that compute all scores are left out of "all" and refused
/// where they are named, because they take as long as the exact attention that is to be avoided.
/// Throws: std::invalid_argument for such a method; also as parse_methods and require_usable.
std::vector<MethodChoice> error_methods(const std::string& text, const std::vector<TokenAlignment>& shapes,
                                        PositionParts position, bool some_rows, const std::string& where = "--methods");

/// The largest d of a range of numbers of features without an end of its own: the largest that every one of the methods
/// takes for heads of all of these shapes, and at most the smallest n_k. (A single larger d is checked by
/// require_features.)
arma::uword largest_features(const std::vector<MethodChoice>& methods, const std::vector<TokenAlignment>& shapes);

/// Throws std::invalid_argument, with a message that begins with `where`, unless there are features, each from 1
///   to what every one of the methods takes (Method::largest_d), and the n_k x d numbers of a method, of `bytes` bytes
///   each, fit into memory.
void require_features(const std::vector<arma::uword>& features, const std::vector<MethodChoice>& methods,
                      TokenAlignment shape, std::size_t bytes, const std::string& where = "--features");
/// Throws std::invalid_argument, with a message that begins with `where`, unless this many rows can be sampled from n_q
/// (SampledReference).
void require_sampled_rows(arma::uword rows, arma::uword n_q, const std::string& where = "--rows");

}  // namespace croquis
