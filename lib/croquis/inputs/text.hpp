// Queries, keys and values of a BERT at initialisation, on a text.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The words of a text: sequences of characters between ASCII white space and control characters. Every ASCII
/// punctuation mark is a token of its own. Case is kept. A byte order mark before the text is not part of its first
/// word.
std::vector<std::string> split_words(std::string_view text);

struct InitialisedBert {
  arma::uword hidden = 768;          ///< width of the embedding, >= 1
  arma::uword head = 64;             ///< width p = p_v of the head, >= 1
  arma::uword positions = 512;       ///< positions start again after this many tokens, >= 1
  double standard_deviation = 0.02;  ///< of every weight, > 0
  bool token_type = false;           ///< add a token-type embedding, the same for all tokens, as BERT's code does
};

/// One head of the first layer of a BERT at initialisation: X = LayerNorm(word + position) and Q = X W_Q, K = X W_K, V
/// = X W_V (n x head). All entries of the embeddings and of the weights are drawn from N(0, standard_deviation^2), and
/// biases are zero.
///
/// BERT's code also adds a token-type embedding, which is the same for every token of a sentence and makes attention
/// more uniform. The figures of Skyformer and Skeinformer agree with leaving it out.
/// Randomness: the embedding of a word is from draw_key.child("word").child(word), so a word has the same embedding
///   wherever it occurs, in every text. Position i is from draw_key.child("position").child(i), and W_Q, W_K, W_V and
///   the token type from draw_key.child("query"), child("key"), child("value") and child("token type").
/// Cost: 6 n hidden head flops, and 2 n hidden normals.
/// Throws: std::invalid_argument without tokens, for options outside their ranges, and for more than memory holds.
Problem<double> initialised_bert(const std::vector<std::string>& tokens, const Key& draw_key,
                                 const InitialisedBert& options = {});

/// The text that is included in Croquis: docs/primer.md, about 6,500 words on sketching and attention.
std::string_view sample_text();

}  // namespace croquis
