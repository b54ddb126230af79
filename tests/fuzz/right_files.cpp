#include "fuzz/right_files.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "support/archives.hpp"
#include "support/formula_model.hpp"
#include "support/npy_files.hpp"
#include "support/torch_files.hpp"

namespace {

const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

std::string six_numbers() {
  return npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes_of(kSix));
}

// Llama 2's, which writes bytes that it does not know as tokens of their own.
std::string tokenizer_with_bytes() {
  std::string bytes;
  for (unsigned byte = 0; byte < 256; ++byte) bytes += fmt::format("\"<0x{:02X}>\":{},", byte, byte);
  return R"x({"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"_"},{"type":"Replace",)x"
         R"x("pattern":{"String":" "},"content":"_"}]},"added_tokens":[{"id":260,"content":"<s>","normalized":true}],)x"
         R"x("model":{"type":"BPE","byte_fallback":true,"fuse_unk":true,"unk_token":"a","merges":["a b","_ a"],"vocab":{)x" +
         bytes + R"x("a":256,"b":257,"ab":258,"_":259,"_a":261}}})x";
}

}  // namespace

std::vector<std::string> right_npy() {
  return {
      six_numbers(),
      npy_file("{'descr': '>f8', 'fortran_order': True, 'shape': (1, 2), }", bytes_of(std::vector<double>{1, 2}), 2),
      npy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 1, 1), }", "01<>"),
      npy_integers("(2, 2)", {1, 2, 3, 4})};
}

std::vector<std::string> right_matrix_market() {
  return {"%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 3\n1 1 1.5\n2 4 -2e3\n3 1 +7\n",
          "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n-3\n4\n5\n6\n",
          "%%MatrixMarket matrix coordinate pattern symmetric\r\n2 2 2\r\n1 1\r\n2 1\r\n",
          "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"};
}

std::vector<std::string> right_npz() {
  const std::string npy = six_numbers();
  return {zip_file({{"q.npy", npy}, {"k.npy", npy}}, Compression::deflated),
          zip_file({{"q.npy", npy}}, Compression::stored)};
}

std::vector<std::string> right_safetensors() {
  std::vector<std::string> files = {
      safetensors_file("{\"a\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\","
                       "\"shape\":[1],\"data_offsets\":[8,12]}}",
                       "0123456789ab"),
      safetensors_file("{\"__metadata__\":{\"format\":\"pt\"},\"q\":{\"dtype\":\"F64\",\"shape\":[1,1,1,2],"
                       "\"data_offsets\":[0,16]},\"i\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[16,24]}}",
                       "0123456789abcdefghijklmn")};
  for (const char* type : {"BF16", "F16"}) {
    files.push_back(safetensors_file(
        fmt::format(R"({{"k":{{"dtype":"{}","shape":[2,3],"data_offsets":[0,12]}}}})", type), "0123456789ab"));
  }
  return files;
}

std::vector<std::string> right_torch() {
  const std::string tensor = pickled(contiguous("0", {2, 3}));
  const std::string bfloat = pickled(contiguous("0", {2, 3}, "BFloat16Storage"));
  return {torch_file(right_torch_pickle().front(), {bytes_of(kSix)}),
          torch_file(torch_pickle(tensor), {bytes_of(kSix)}), torch_file(torch_pickle(bfloat), {"0123456789ab"})};
}

std::vector<std::string> right_torch_pickle() {
  const std::string tensor = pickled(contiguous("0", {2, 3}));
  return {torch_pickle(pickled_dictionary(
              {pickled(std::string("q")), tensor, pickled(std::string("k")), pickled_list({tensor, pickled(70000)})})),
          torch_pickle(
              pickled_tuple({tensor, pickled(std::uint64_t{1} << 40), pickled(contiguous("1", {}, "HalfStorage"))}))};
}

std::vector<std::string> right_vocabulary() {
  return {"[PAD]\n[UNK]\n[CLS]\r\n[SEP]\nthe\n##s\n,\ncaf\u00e9\n\u4e2d\n"};
}

std::vector<std::string> right_model_config() {
  std::vector<std::string> configurations;
  for (const FormulaModel& model : formula_models()) configurations.push_back(model.config);
  return configurations;
}

std::vector<std::string> right_index() {
  return {R"({"metadata":{"total_size":12},"weight_map":{"a":"one.safetensors","b":"one.safetensors"}})",
          R"({"weight_map":{"b":"two.safetensors","a":"one.safetensors"}})"};
}

std::vector<std::string> right_model() {
  std::vector<std::string> files;
  for (const FormulaModel& model : formula_models()) files.push_back(model.config + '\0' + model.file("BF16"));
  return files;
}

std::vector<std::string> right_tokenizer() {
  return {
      R"x({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"?":3},"merges":["a b"],"unk_token":"?"},)x"
      R"x("pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?:a|b)+|\\p{L}"},"behavior":"Isolated"},)x"
      R"x("added_tokens":[{"id":4,"content":"<s>"}],"post_processor":{"type":"TemplateProcessing",)x"
      R"x("single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}]}})x",
      R"x({"model":{"type":"BPE","vocab":{"a":0,"\u0120":1,"\u0120a":2},"merges":[["\u0120","a"]],"unk_token":"a"},)x"
      R"x("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"String":"m"},)x"
      R"x("behavior":"Removed","invert":false},{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]}})x",
      tokenizer_with_bytes()};
}

std::vector<std::string> right_integers() {
  return {npy_integers("(2, 3)", {1, 2, 3, -100, 5, 6}), npy_integers("(3,)", {1, 2, 3})};
}

std::vector<std::string> right_choice() {
  return {R"({"choices":[{"layer":null,"head":null,"heads":[[0,1],[2,0]],"method":"v-mean","features":2}]})",
          R"({"eps":0.1,"choices":[{"layer":0,"head":null,"method":"skyformer","options":{"preset":"code"},)"
          R"("features":16},{"layer":1,"head":1,"method":"exact","features":0}]})"};
}

std::vector<std::string> right_csv() {
  return {"a,b,c\n1,\"x, \"\"y\"\"\",NA\r\n2,,3\n", "a\n1\n2"};
}
