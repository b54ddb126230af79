// JSON that would overflow a stack, fill the memory or have two meanings, as the header of a safetensors file and as a
// configuration of BERT.
#include <doctest/doctest.h>
#include <croquis/io/safetensors.hpp>
#include <croquis/models/model_config.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "support/archives.hpp"
#include "support/bert_model.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

void check_line(const std::string& message, const std::string& name) {
  CHECK_MESSAGE(message.starts_with(name + ": "), message);
  CHECK_MESSAGE(message.size() <= 400, message.size());
  CHECK(!contains(message, "json.exception"));
  CHECK(std::none_of(message.begin(), message.end(), [](char c) { return c < ' ' || c > '~'; }));
}

// What both readers say of one object.
std::string refused_by_both(const std::string& text) {
  const std::string tensors = refusal([&] { SafeTensors(safetensors_file(text, ""), "m.safetensors"); }),
                    config = refusal([&] { parse_model_config(text, "config.json"); });
  check_line(tensors, "m.safetensors");
  check_line(config, "config.json");
  return config;
}

// A line "VmHWM:   1234 kB" of /proc/self/status, in bytes.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    double kilobytes = 0;
    if (word == name + ":" && status >> kilobytes) return 1024 * kilobytes;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

TEST_CASE("hostile JSON: nested deeply, at any length, is refused without the stack or the memory to go with it") {
  // An object and 32 arrays in it: 33.
  CHECK(contains(refused_by_both("{\"a\":" + repeated("[", 32) + repeated("]", 32) + "}"), "nested deeper than 32"));
  for (const std::size_t depth : {33U, 1000U, 100'000U, 1'000'000U}) {
    CAPTURE(depth);
    CHECK(contains(refused_by_both("{\"a\":" + repeated("[", depth)), "nested deeper than 32"));
    CHECK(contains(refused_by_both("{\"a\":" + repeated("[", depth) + repeated("]", depth) + "}"), "nested deeper"));
    CHECK(contains(refused_by_both(repeated("{\"a\":", depth)), "nested deeper than 32"));
    CHECK(contains(refused_by_both(repeated("{\"a\":[", depth)), "nested deeper than 32"));
    refused_by_both(repeated("[", depth));
  }
}

TEST_CASE("hostile JSON: what real files nest is read") {
  const BertModel model("nested");
  const std::string inner = repeated("[", 31) + repeated("]", 31);
  CHECK(parse_model_config(model.configuration({{"task_specific_params", inner}}), "config.json").hidden == 8);
  CHECK(parse_model_config(model.configuration({{"id2label", "{\"0\": \"a\", \"1\": \"b\"}"}, {"extra", "[{},{}]"}}),
                           "config.json")
            .hidden == 8);
}

TEST_CASE("hostile JSON: a megabyte of wide values takes less than 200") {
  const std::size_t megabyte = 1 << 20;
  for (const char* unit : {"[],", "{},", "0,", "\"\",", "[[[]]],", "1e9,", "{\"a\":0},"}) {
    CAPTURE(std::string(unit));
    const std::string text = "{\"a\":[" + repeated(unit, megabyte / std::string(unit).size()) + "0]}";
    std::ofstream("/proc/self/clear_refs") << "5";  // the highest memory so far is that of now
    const double before = status_bytes("VmRSS");
    refused_by_both(text);
    const double used = status_bytes("VmHWM") - before;
    CHECK_MESSAGE(used < 200.0 * megabyte, used);
  }
}

TEST_CASE("hostile JSON: a name twice in an object, at any depth, is refused") {
  CHECK(contains(refused_by_both(R"({"a":1,"b":2,"a":1})"), "'a' twice in one object"));
  CHECK(contains(refused_by_both(R"({"b":{"x":1,"\u0078":2}})"), "'x' twice in one object"));
  CHECK(contains(refused_by_both(R"({"b":[0,{"":1,"":1}]})"), "'' twice in one object"));
  CHECK(contains(refused_by_both("{\"" + std::string(5000, 'a') + "\":1,\"" + std::string(5000, 'a') + "\":1}"),
                 "...' twice"));
  CHECK(contains(refused_by_both("{\"\u202e\u009b\":1,\"\u202e\u009b\":1}"), "'\?\?\?\?\?' twice"));
}

TEST_CASE("hostile JSON: what is not JSON, and what a parser might let pass, is refused in one line") {
  const std::string byte_order_mark = "\xef\xbb\xbf", good = "{\"a\":1}";
  for (const std::string& text : {std::string(),
                                  std::string("{"),
                                  std::string("}"),
                                  std::string("{}}"),
                                  std::string("{} {}"),
                                  good + "x",
                                  good + std::string(1, '\0'),
                                  good + std::string(1, '\0') + "x",
                                  std::string(4, '\0'),
                                  byte_order_mark + good,
                                  good + byte_order_mark,
                                  std::string("\xff\xfe{\0}\0", 6),
                                  std::string("[]"),
                                  std::string("null"),
                                  std::string("1"),
                                  std::string("\"{\""),
                                  std::string("{\"a\":1,}"),
                                  std::string("{,}"),
                                  std::string("{a:1}"),
                                  std::string("{'a':1}"),
                                  std::string("{\"a\":NaN}"),
                                  std::string("{\"a\":Infinity}"),
                                  std::string("{\"a\":01}"),
                                  std::string("{\"a\":+1}"),
                                  std::string("{\"a\":1.}"),
                                  std::string("{\"a\":0x1}"),
                                  std::string("{\"a\":\"\xff\"}"),
                                  std::string("{\"a\":\"\xed\xa0\x80\"}"),
                                  std::string("{\"a\":\"\n\"}"),
                                  std::string("{\"a\":\"\\ud800\"}"),
                                  std::string("{/**/}"),
                                  std::string("{\"a\":1e400}"),
                                  "{\"a\":" + std::string(1000, '9') + "}",
                                  std::string("{\"a\":tru}")}) {
    CAPTURE(text);
    refused_by_both(text);
  }
  CHECK(contains(refused_by_both("{\"a\":1e400}"), "a number beyond double at byte"));
  CHECK(contains(refused_by_both("{\"a\" 1}"), "not JSON at byte"));
}
