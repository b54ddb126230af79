// The relative position bias of an input, from the command line's options.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <string>

/// The position of n tokens (padding included) for --bias TEXT and --causal. TEXT is empty for none, or one of
///   FILE.npy      2n - 1 numbers in a row or a column, b_{j-i} at (j - i) + n - 1; or (2h - 1) x (2w - 1) numbers for
///                 images of h x w = n tokens, row by row; finite or -inf
///   alibi:SLOPE   -SLOPE |j - i|
///   t5:BUCKETS,MAXDISTANCE,SIGMA   T5's buckets with normal values
///   random:SIGMA  independent normal values
/// Throws std::invalid_argument, with what would do, for anything else.
croquis::RelativePosition<double> parse_bias(const std::string& text, bool causal, arma::uword n,
                                             const croquis::Key& draw_key);

/// What the `input` column says of it after the kind of input: ";bias=alibi:0.1;causal", or nothing.
std::string name_of_bias(const std::string& text, bool causal);

/// Throws std::invalid_argument, "COMMAND: takes no --bias; WHY", where one is given: it is never ignored.
void require_no_bias(const std::string& bias, const std::string& command, const std::string& why);
