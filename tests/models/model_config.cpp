#include <doctest/doctest.h>
#include <croquis/models/model_config.hpp>

#include <cmath>
#include <map>
#include <string>

#include "support/bert_model.hpp"
#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("bert configuration: entries are read, those that may be missing have BERT's values") {
  const BertModel model("configuration");
  ModelConfig config = parse_model_config(model.configuration(), "config.json");
  CHECK(config.hidden == 8);
  CHECK(config.heads == 2);
  CHECK(config.layers == 3);
  CHECK(config.intermediate == 12);
  CHECK(config.positions == 7);
  CHECK(config.token_types == 2);
  CHECK(config.activation == Activation::gelu);
  CHECK(config.layer_norm_epsilon == 1e-3);
  config = parse_model_config(
      model.configuration(
          {{"model_type", ""}, {"type_vocab_size", "null"}, {"hidden_act", ""}, {"layer_norm_eps", ""}}),
      "config.json");
  CHECK(config.token_types == 2);
  CHECK(config.activation == Activation::gelu);
  CHECK(config.layer_norm_epsilon == 1e-12);
  for (const auto& [name, activation] :
       std::map<std::string, Activation>{{"\"gelu_new\"", Activation::gelu_tanh},
                                         {"\"gelu_pytorch_tanh\"", Activation::gelu_tanh},
                                         {"\"relu\"", Activation::relu},
                                         {"\"gelu_python\"", Activation::gelu},
                                         {"\"silu\"", Activation::silu},
                                         {"\"swish\"", Activation::silu}}) {
    CHECK(parse_model_config(model.configuration({{"hidden_act", name}}), "c").activation == activation);
  }
  for (const char* encoder : {"false", "null", ""}) {
    CHECK(parse_model_config(model.configuration({{"is_decoder", encoder}}), "c").hidden == 8);
  }
  TemporaryFolder folder;
  write_text(folder / "config.json", model.configuration());
  CHECK(read_model_config((folder / "config.json").string()).hidden == 8);
  CHECK(contains(refusal([&] { read_model_config((folder / "no.json").string()); }), "no.json: cannot be opened"));
}

TEST_CASE("bert configuration: what is wrong or not BERT is refused in one line that names the entry") {
  const BertModel model("configuration");
  const auto message = [](const std::string& bytes) {
    std::string text = refusal([&] { parse_model_config(bytes, "config.json"); });
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.starts_with("config.json: "));
    return text;
  };
  for (const char* bytes : {"", "{", "[]", "3", "\xff\xfe", "{\"hidden_size\": 8"}) {
    CHECK(contains(message(bytes), "not a JSON object"));
  }
  const struct {
    const char *entry, *value, *said;
  } wrong[] = {
      {"hidden_size", "", "has no hidden_size"},
      {"num_attention_heads", "null", "has no num_attention_heads"},
      {"num_hidden_layers", "0", "num_hidden_layers is 0; a whole number from 1"},
      {"intermediate_size", "-12", "intermediate_size is -12"},
      {"max_position_embeddings", "7.5", "max_position_embeddings is 7.5"},
      {"hidden_size", "99999999999999999999", "hidden_size is"},
      {"hidden_size", "[8]", "hidden_size is array"},
      {"hidden_size", "\"8\\n\"", "hidden_size is \"8\\n\""},
      {"num_attention_heads", "3", "hidden_size 8 is no multiple of num_attention_heads 3"},
      {"type_vocab_size", "0", "type_vocab_size is 0"},
      {"hidden_act", "\"mish\"",
       "hidden_act 'mish' is none of gelu, gelu_python, gelu_new, gelu_pytorch_tanh, relu, silu, swish"},
      {"hidden_act", "1", "hidden_act is 1; a string is read"},
      {"layer_norm_eps", "0", "layer_norm_eps is 0"},
      {"layer_norm_eps", "\"small\"", "layer_norm_eps is \"small\"; a positive number"},
      {"model_type", "\"roberta\"", "model_type is 'roberta'; bert, albert, gpt2 and llama are read"},
      {"position_embedding_type", "\"relative_key\"", "position_embedding_type is 'relative_key'"},
      {"is_decoder", "true", "is_decoder is true"},
      {"is_decoder", "1", "is_decoder is 1; true or false is read"},
      {"is_decoder", "0", "is_decoder is 0; true or false is read"},
      {"is_decoder", "\"true\"", "is_decoder is \"true\"; true or false is read"},
      {"is_decoder", "\"false\"", "is_decoder is \"false\"; true or false is read"},
      {"is_decoder", "[true]", "is_decoder is array; true or false is read"},
      {"is_decoder", "1.0", "is_decoder is 1.0"},
      {"is_decoder", "false, \"is_decoder\": true", "'is_decoder' twice in one object"},
      {"hidden_size", "8, \"hidden_size\": 8", "'hidden_size' twice in one object"},
      {"hidden_size", "8.0", "hidden_size is 8.0; a whole number"},
      {"hidden_size", "8e0", "hidden_size is 8.0; a whole number"},
      {"hidden_size", "true", "hidden_size is true; a whole number"},
      {"hidden_size", "\"8\"", "hidden_size is \"8\"; a whole number"},
      {"hidden_size", "-0", "hidden_size is 0; a whole number"},
      {"num_attention_heads", "16777217", "num_attention_heads is 16777217; a whole number from 1 to 16777216"},
      {"num_hidden_layers", "18446744073709551615", "num_hidden_layers is 18446744073709551615"},
      {"num_hidden_layers", "18446744073709551619", "num_hidden_layers is 1.84467"},
      {"intermediate_size", "{}", "intermediate_size is object"},
      {"max_position_embeddings", "1e400", "a number beyond double"},
      {"type_vocab_size", "-9223372036854775808", "type_vocab_size is -9223372036854775808"},
      {"type_vocab_size", "\"2\"", "type_vocab_size is \"2\""},
      {"layer_norm_eps", "-1e-12", "layer_norm_eps is -1e-12; a positive number"},
      {"layer_norm_eps", "1e-400", "layer_norm_eps is 0.0"},
      {"layer_norm_eps", "true", "layer_norm_eps is true; a positive number"},
      {"layer_norm_eps", "\"1e-12\"", "layer_norm_eps is \"1e-12\"; a positive number"},
      {"layer_norm_eps", "NaN", "not JSON at byte"},
      {"model_type", "true", "model_type is true; a string is read"},
      {"model_type", "\"\"", "model_type is ''; bert, albert, gpt2 and llama are read"},
      {"model_type", "\"BERT\"", "model_type is 'BERT'; bert, albert, gpt2 and llama are read"},
      {"position_embedding_type", "0", "position_embedding_type is 0; a string is read"},
      {"position_embedding_type", "[\"absolute\"]", "position_embedding_type is array"},
  };
  for (const auto& [entry, value, said] : wrong) {
    CAPTURE_BINDING(value);
    const std::string text = message(model.configuration({{entry, value}}));
    CHECK_MESSAGE(contains(text, said), text);
  }
  message("{\"hidden_size\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
}

TEST_CASE("albert configuration: groups of layers, as many as layers at most") {
  const auto groups = [](const char* layers, const char* number) {
    return parse_model_config(std::string(R"({"model_type": "albert", "hidden_size": 8, "num_attention_heads": 2,
                                              "intermediate_size": 8, "max_position_embeddings": 16,
                                              "num_hidden_layers": )") +
                                  layers + ", \"num_hidden_groups\": " + number + "}",
                              "config.json")
        .groups;
  };
  CHECK(groups("12", "1") == 1);
  CHECK(groups("3", "2") == 2);
  CHECK(groups("3", "3") == 3);
  CHECK(refusal([&] { groups("3", "4"); }) == "config.json: num_hidden_groups 4 is more than num_hidden_layers 3");
  CHECK(groups("3", "3, \"inner_group_num\": 1") == 3);
  CHECK(refusal([&] { groups("3", "3, \"inner_group_num\": 2"); }) == "config.json: inner_group_num is 2; 1 is read");
}

TEST_CASE("configurations: entries that may be missing have the values of Hugging Face's configuration of the type") {
  const std::string sizes = R"("hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
                               "intermediate_size": 12, "max_position_embeddings": 16)";
  const auto of = [](const std::string& type, const std::string& entries) {
    return parse_model_config("{\"model_type\": \"" + type + "\", " + entries + "}", "config.json");
  };
  const ModelConfig albert = of("albert", sizes);
  CHECK(albert.activation == Activation::gelu_tanh);
  CHECK(albert.layer_norm_epsilon == 1e-12);
  CHECK(albert.embedding == 128);
  CHECK(albert.groups == 1);
  CHECK(albert.tied);
  const ModelConfig gpt2 = of("gpt2", R"("n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 16)");
  CHECK(gpt2.activation == Activation::gelu_tanh);
  CHECK(gpt2.layer_norm_epsilon == 1e-5);
  CHECK(gpt2.intermediate == 32);
  CHECK(gpt2.tied);
  const ModelConfig llama = of("llama", sizes);
  CHECK(llama.activation == Activation::silu);
  CHECK(llama.layer_norm_epsilon == 1e-6);
  CHECK(llama.key_heads == 2U);
  CHECK(llama.p() == 4);
  CHECK_FALSE(llama.attention_bias);
  CHECK_FALSE(llama.mlp_bias);
  CHECK_FALSE(llama.tied);
  // For all of them.
  CHECK_FALSE(llama.padding.has_value());
  CHECK(of("llama", sizes + R"(, "pad_token_id": 5, "vocab_size": 16777216)").padding == 5U);
  for (const char* none : {"-1", "4294967296", "null", "\"5\""}) {
    CHECK_FALSE(of("llama", sizes + ", \"pad_token_id\": " + none).padding.has_value());
  }
}

TEST_CASE("activations: values known to many digits, and the tails") {
  const auto of = [](Activation activation, double x) {
    arma::mat m = {x};
    apply(activation, m);
    return m(0);
  };
  // x Phi(x) and the tanh formula at 1, -1 to 16 digits.
  CHECK(std::abs(of(Activation::gelu, 1) - 0.8413447460685429) <= 1e-15);
  CHECK(std::abs(of(Activation::gelu, -1) + 0.15865525393145707) <= 1e-15);
  CHECK(std::abs(of(Activation::gelu_tanh, 1) - 0.8411919906082768) <= 1e-15);
  CHECK(std::abs(of(Activation::gelu_tanh, -1) + 0.15880800939172324) <= 1e-15);
  CHECK(of(Activation::relu, 1.5) == 1.5);
  CHECK(of(Activation::relu, -1.5) == 0);
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    CHECK(of(activation, 0) == 0);
    CHECK(of(activation, 300) == 300);
    CHECK(of(activation, -300) == 0);
  }
  // silu: x / (1 + e^-x), by way of tanh.
  for (const double x : {-3.0, -0.5, 0.0, 2.0}) {
    CHECK(std::abs(of(Activation::silu, x) - x * (1 + std::tanh(x / 2)) / 2) <= 1e-15);
  }
}

TEST_CASE("activations: a matrix of many blocks is transformed to its end") {
  arma::mat m(101, 83, arma::fill::value(-1.0));
  apply(Activation::relu, m);
  CHECK(m.is_zero());
}

TEST_CASE("llama configuration: the base of rotary positions in each of its places, and what else is asked of them") {
  const auto llama = [](const std::string& more) {
    return parse_model_config(
        R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
            "intermediate_size": 8, "max_position_embeddings": 16)" +
            more + "}",
        "config.json");
  };
  CHECK(llama("").rope_theta == 10'000);
  CHECK(llama(R"(, "rope_theta": 500000.0)").rope_theta == 500'000);
  CHECK(llama(R"(, "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0})").rope_theta == 500'000);
  CHECK(llama(R"(, "rope_theta": 5, "rope_parameters": {"rope_theta": 5, "partial_rotary_factor": 1.0})").rope_theta ==
        5);
  CHECK(llama(R"(, "rope_scaling": null, "partial_rotary_factor": 1, "vocab_size": 7)").vocabulary == 7U);
  CHECK_FALSE(llama("").vocabulary.has_value());
  // A factor means something with another type alone.
  CHECK(llama(R"(, "rope_scaling": {"type": "default", "factor": 8})").rope_theta == 10'000);
  CHECK(llama(R"(, "rope_parameters": {"factor": 1.0})").rope_theta == 10'000);
  CHECK(llama(R"(, "rope_scaling": {"rope_type": "default", "original_max_position_embeddings": 8192,
                                    "low_freq_factor": 1.0, "high_freq_factor": 4.0})")
            .rope_theta == 10'000);
  const struct {
    const char *more, *said;
  } wrong[] = {
      {R"(, "rope_theta": 6, "rope_parameters": {"rope_theta": 5})", "rope_parameters has rope_theta 5"},
      {R"(, "rope_scaling": {"rope_theta": 6}, "rope_parameters": {"rope_theta": 5})",
       "rope_parameters has rope_theta 5, and there is another one, 6"},
      {R"(, "head_dim": 3)", "heads of width 3; rotary positions need an even one"},
      {R"(, "rope_parameters": {"rope_theta": 0})", "rope_theta is 0; a positive number"},
      {R"(, "rope_parameters": {"rope_type": "yarn"})", "rope_parameters has rope_type 'yarn'; 'default' is read"},
      {R"(, "rope_scaling": {"type": "linear", "factor": 2})", "rope_scaling has type 'linear'; 'default' is read"},
      {R"(, "rope_parameters": {"full_attention": {}})", "rope_parameters has 'full_attention', which is not read"},
      {R"(, "rope_parameters": {"rope_type": "default", "full_attention": {}})", "has 'full_attention', which is not"},
      {R"(, "rope_scaling": {"low_freq_factor": 1.0})", "rope_scaling has 'low_freq_factor', which is not read"},
      {R"(, "rope_parameters": [1])", "rope_parameters is array; an object is read"},
      {R"(, "rope_parameters": {"partial_rotary_factor": 0.5})", "partial_rotary_factor is not 1"},
      {R"(, "partial_rotary_factor": 0.5)", "partial_rotary_factor is not 1; 1 is read"},
      {R"(, "vocab_size": 0)", "vocab_size is 0"},
      {R"(, "rope_scaling": {"factor": 8.0})",
       "rope_scaling has a factor other than 1 and no rope_type; 'default' is read"},
      {R"(, "rope_parameters": {"rope_theta": 5, "factor": 2})", "rope_parameters has a factor other than 1"},
      {R"(, "rope_scaling": {"rope_type": null, "factor": 2})", "rope_scaling has a factor other than 1"},
  };
  for (const auto& [more, said] : wrong) {
    CAPTURE_BINDING(more);
    const std::string text = refusal([&, more = more] { llama(more); });
    CHECK_MESSAGE(contains(text, said), text);
  }
}
