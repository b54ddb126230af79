// What of a tokenizer.json is read, and what is refused.
#include <doctest/doctest.h>
#include <croquis/models/byte_pairs.hpp>

#include <string>
#include <utility>

#include "models/tokenizer_json.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("byte pairs: what is not computed is refused by name in one line") {
  const auto with = [](const std::string& rest, const std::string& model = "") {
    return file_of({"a"}, {}, rest, model);
  };
  const auto table_of = [](const std::string& table) {
    return R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"a"}}],)"
           R"("special_tokens":)" +
           table + "}";
  };
  CHECK(tokenizer_of(with(table_of(R"({"a":{"id":"a","ids":[0],"tokens":["a"]},"b":{"ids":[7,8]}})"))).before() ==
        TokenIds{0});
  CHECK(tokenizer_of(with(table_of("{}"))).before() == TokenIds{0});
  const std::pair<std::string, std::string> wrong[] = {
      {"[]", "is no tokenizer.json"},
      {"{}", "has no model, as a tokenizer.json has; a vocab.json with a merges.txt is not read"},
      {R"({"model":{"type":"Unigram","vocab":[]}})", "model is 'Unigram'; BPE is read"},
      {R"({"model":{"type":"WordPiece","vocab":{}}})",
       "model is 'WordPiece'; BPE is read; for WordPiece give the vocab.txt"},
      {R"({"model":{"type":"BPE","merges":[]}})", "has no vocab of ids by token"},
      {R"({"model":{"type":"BPE","vocab":{"a":0}}})", "has no list of merges"},
      {R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})", "has the id -1"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["ab"]}})", "has the merge \"ab\"; pairs are read"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b c"]}})", "has the merge \"a b c\"; pairs are read"},
      {with("", R"(,"byte_fallback":true)"), "byte_fallback is true, and there is no token <0x00>"},
      {with("", R"(,"fuse_unk":1)"), "fuse_unk is 1; true or false is read"},
      {with("", R"(,"continuing_subword_prefix":"##")"), "continuing_subword_prefix is \"##\"; none is read"},
      {with("", R"(,"dropout":0.1)"), "dropout is not 0"},
      {with(R"(,"normalizer":{"type":"NFC"})"), "normalizer is 'NFC'; Prepend, Replace and a Sequence"},
      {with(R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled"}]})"),
       "normalizer is 'Precompiled'"},
      {with(R"(,"normalizer":{"type":"Prepend"})"), "has no text 'prepend'"},
      {with(R"(,"normalizer":{"type":"Replace","pattern":{"Regex":" +"},"content":"_"})"),
       "the pattern of the normalizer Replace is no String"},
      {with(R"(,"normalizer":{"type":"Replace","pattern":{"String":""},"content":"_"})"),
       "the pattern of the normalizer Replace is empty"},
      {with(R"(,"pre_tokenizer":{"type":"Metaspace"})"),
       "pre_tokenizer is 'Metaspace'; ByteLevel, Split and a Sequence"},
      {with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a\\C"},"behavior":"Isolated"})"),
       "the pattern of Split is 'a\\C', which is not read: what begins at character 2"},
      {with(R"x(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"})x"),
       "the pattern of Split is '(', which is not read: missing closing parenthesis"},
      {with(R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext"})"),
       "behavior of Split is 'MergedWithNext'"},
      {with(R"(,"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},{"type":"ByteLevel"}]})"),
       "has a pre_tokenizer after ByteLevel; it is read as the last"},
      {with(R"(,"post_processor":{"type":"BertProcessing"})"), "post_processor is 'BertProcessing'"},
      {with(R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]})"),
       "has the token '<s>', which is not in the vocabulary"},
      {with(table_of(R"([])")), "special_tokens of TemplateProcessing is []; a table is read"},
      {with(table_of(R"({"a":{"id":"a","ids":[0,0],"tokens":["a","a"]}})")),
       "special_tokens of TemplateProcessing has the ids [0,0] of 'a'; [0] of the vocabulary is read"},
      {with(table_of(R"({"a":{"id":"a","ids":[1],"tokens":["b"]}})")),
       "special_tokens of TemplateProcessing has the ids [1] of 'a'; [0] of the vocabulary is read"},
      {with(table_of(R"({"a":{"id":"a","ids":[]}})")), "has the ids [] of 'a'"},
      {with(table_of(R"({"a":{"id":"a"}})")), "has the ids null of 'a'"},
      {with(table_of(R"({"a":0})")), "has the ids null of 'a'"},
      {with(R"(,"added_tokens":[{"id":1,"content":"<s>","lstrip":true}])"), "an added token has lstrip true"},
  };
  for (const auto& [bytes, said] : wrong) {
    CAPTURE_BINDING(bytes);
    const std::string message = refusal([&, &file = bytes] { tokenizer_of(file); });
    CHECK_MESSAGE(contains(message, said), message);
    CHECK(message.starts_with("tokenizer.json: "));
    CHECK(message.find('\n') == std::string::npos);
  }
}
