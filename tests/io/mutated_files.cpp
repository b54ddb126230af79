// Right files with random damage: a short run of what tests/fuzz does for hours with libFuzzer.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/npz.hpp>
#include <croquis/io/torch_archive.hpp>
#include <croquis/random/key.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "fuzz/readers.hpp"
#include "support/archives.hpp"
#include "support/bert_model.hpp"
#include "support/npy_files.hpp"
#include "support/seed.hpp"
#include "support/torch_files.hpp"

namespace {

// Some of: bits flipped, bytes set to an extreme, a piece cut out, doubled, or the end cut off.
std::string damaged(std::string bytes, croquis::Engine& engine) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : engine() % n; };
  for (std::size_t times = 1 + below(4); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = below(bytes.size()), length = std::min<std::size_t>(1 + below(16), bytes.size() - at);
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = "\x00\xff\x7f\x80,({9-"[below(9)];
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        for (std::size_t i = at; i < at + length; ++i) bytes[i] = static_cast<char>(engine());
    }
  }
  return bytes;
}

void damage(const std::string& bytes, void (*read)(const std::string&), const char* purpose) {
  croquis::Engine engine = croquis::Key(test_seed()).child(purpose).engine();
  for (int i = 0; i < 20'000; ++i) CHECK_NOTHROW(read(damaged(bytes, engine)));
}

}  // namespace

TEST_CASE("mutated files: .npy, .npz and safetensors are read or refused, never worse") {
  const std::string npy = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                                   bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
  damage(npy, read_as_npy, "npy");
  damage(zip_file({{"q.npy", npy}, {"k.npy", npy}}, Compression::deflated), read_as_npz, "npz");
  damage(zip_file({{"q.npy", npy}}, Compression::stored), read_as_npz, "stored npz");
  damage(safetensors_file("{\"a\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\","
                          "\"shape\":[1],\"data_offsets\":[8,12]}}",
                          "0123456789ab"),
         read_as_safetensors, "safetensors");
}

TEST_CASE("mutated files: MatrixMarket files are read or refused, never worse") {
  damage("%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 3\n1 1 1.5\n2 4 -2e3\n3 1 +7\n",
         read_as_matrix_market, "mtx coordinate");
  damage("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n-3\n4\n5\n6\n", read_as_matrix_market, "mtx array");
  damage("%%MatrixMarket matrix coordinate pattern symmetric\r\n2 2 2\r\n1 1\r\n2 1\r\n", read_as_matrix_market,
         "mtx pattern");
}

TEST_CASE("mutated files: archives of torch.save and their pickles are read or refused, never worse") {
  const std::string numbers = bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::string tensor = pickled(contiguous("0", {2, 3}));
  const std::string pickle = torch_pickle(pickled_dictionary(
      {pickled(std::string("q")), tensor, pickled(std::string("k")), pickled_list({tensor, pickled(70000)})}));
  damage(torch_file(pickle, {numbers}), read_as_torch, "torch");
  damage(pickle, read_as_torch_pickle, "torch pickle");
}

TEST_CASE("mutated files: a tensor of torch.save has numbers of its storage, or is refused") {
  const std::string numbers = bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::string pickle = torch_pickle(pickled(contiguous("0", {2, 3})));
  croquis::Engine engine = croquis::Key(test_seed()).child("numbers of a tensor").engine();
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      const std::string file = torch_file(damaged(pickle, engine), {numbers});
      const croquis::TorchArchive archive(croquis::bytes_in_memory(std::string_view(file), "m.pt"));
      for (const std::string& name : archive.names()) {
        const arma::mat found = archive.array(name).matrix();
        REQUIRE(found.n_elem <= 6);
        for (const double number : found) REQUIRE((number >= 1 && number <= 6 && number == std::round(number)));
        ++read;
      }
    } catch (const std::invalid_argument&) {
    }
  }
  CHECK(read > 0);
}

TEST_CASE("mutated files: an .npz has the numbers that were saved, or is refused") {
  const arma::mat saved = {{1, 2, 3}, {4, 5, 6}};
  const std::string npy = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                                   bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    const std::string file = zip_file({{"q.npy", npy}}, compression);
    croquis::Engine engine = croquis::Key(test_seed()).child("numbers of an npz").engine();
    for (int i = 0; i < 20'000; ++i) {
      try {
        const arma::mat read = croquis::parse_npz(damaged(file, engine), "m.npz", "q").front();
        REQUIRE(arma::size(read) == arma::size(saved));
        REQUIRE(arma::all(arma::vectorise(read == saved)));
      } catch (const std::invalid_argument&) {
      }
    }
  }
}

TEST_CASE("mutated files: vocabularies and configurations of BERT are read or refused, never worse") {
  damage("[PAD]\n[UNK]\n[CLS]\r\n[SEP]\nthe\n##s\n,\ncaf\u00e9\n\u4e2d\n", read_as_vocabulary, "vocabulary");
  damage(BertModel("mutated").configuration(), read_as_model_config, "configuration");
}

TEST_CASE("mutated files: tokenizers, token ids and choices are read or refused, never worse") {
  damage(R"x({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"?":3},"merges":["a b"],"unk_token":"?"},)x"
         R"x("pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?:a|b)+|\\p{L}"},"behavior":"Isolated"},)x"
         R"x("added_tokens":[{"id":4,"content":"<s>"}],"post_processor":{"type":"TemplateProcessing",)x"
         R"x("single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}]}})x",
         read_as_tokenizer, "tokenizer");
  std::string bytes;  // a tokenizer as Llama 2's
  for (unsigned byte = 0; byte < 256; ++byte) bytes += fmt::format("\"<0x{:02X}>\":{},", byte, byte);
  damage(
      R"x({"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"_"},{"type":"Replace",)x"
      R"x("pattern":{"String":" "},"content":"_"}]},"added_tokens":[{"id":260,"content":"<s>","normalized":true}],)x"
      R"x("model":{"type":"BPE","byte_fallback":true,"fuse_unk":true,"unk_token":"a","merges":["a b","_ a"],"vocab":{)x" +
          bytes + R"x("a":256,"b":257,"ab":258,"_":259,"_a":261}}})x",
      read_as_tokenizer, "tokenizer with bytes");
  damage(npy_integers("(2, 3)", {1, 2, 3, -100, 5, 6}), read_as_integers, "integers");
  damage(R"({"eps":0.1,"choices":[{"layer":0,"head":null,"method":"skyformer","options":{"preset":"code"},)"
         R"("features":16},{"layer":1,"head":1,"method":"exact","features":0}]})",
         read_as_choice, "choice");
}
