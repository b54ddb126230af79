// Options of a method, declared once: they are read from text into a struct, and listed.
#pragma once

#include <armadillo>
#include <croquis/core/require.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace croquis {

/// An option of a method, as `croquis list methods` shows it.
struct OptionInfo {
  std::string name, values, default_value, effect;
};

/// OptionInfo::values of an option that names a file.
inline constexpr const char* kFileOption = "FILE.npy";

/// Option values by name. Every get_ function checks the value, and throws std::invalid_argument, which says what
/// values are allowed.
class OptionValues {
 public:
  OptionValues() = default;
  OptionValues(std::initializer_list<std::pair<const std::string, std::string>> values) : values_(values) {}
  /// Messages of exceptions begin with `where`, which says whose options these are.
  explicit OptionValues(std::map<std::string, std::string> values, std::string where = "option")
      : values_(std::move(values)), where_(std::move(where)) {}

  const std::map<std::string, std::string>& all() const { return values_; }
  std::string get_choice(const std::string& name, const std::vector<std::string>& choices,
                         const std::string& default_value) const;
  double get_number(const std::string& name, double minimum, double maximum, double default_value) const;
  int get_count(const std::string& name, int minimum, int maximum, int default_value) const;
  /// Whole numbers >= 0 from an .npy file, as read_npy_list() reads it; empty if the option is not given.
  arma::uvec get_indices(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
  std::string where_ = "option";
};

/// "a|b|c", "minimum to maximum" and a number, as `croquis list methods` shows the values of an option.
std::string shown_choices(const std::vector<std::string>& names);
std::string shown_range(double minimum, double maximum);
std::string shown_number(double value);

/// Named values of an enumeration, or of anything else that can be compared: {"pinv", Inverse::pinv}.
template <typename E>
using Choices = std::vector<std::pair<std::string, E>>;

/// The choices of an enumeration, from names in the order of its values.
template <typename E>
Choices<E> in_order(const std::vector<std::string>& names) {
  Choices<E> choices;
  for (const std::string& name : names) choices.emplace_back(name, static_cast<E>(choices.size()));
  return choices;
}

/// The options of a method. One line for each option gives its name, the member of the struct O that it sets, its
/// values and its effect. The default value (the one in O), the list for `croquis list methods` and the parsing follow
/// from it:
///   Options<InformerOptions>().preset("code: mean=all", {{"paper", {}}, {"code", InformerOptions::code()}})
///       .count("keys", &InformerOptions::keys, 0, 1000000, "keys sampled a query; 0: as many as rows");
/// A member is a pointer to member, or a function O& -> V& for a nested one.
template <typename O>
class Options {
 public:
  /// Starts from the default values of O, or from `defaults` if a method has other ones.
  explicit Options(O defaults = {}) : defaults_(std::move(defaults)) {}

  /// An option "preset" that sets the whole struct by name, the default preset first. The options declared after it
  /// change single members.
  Options& preset(std::string effect, const Choices<O>& presets) {
    std::vector<std::string> names;
    for (const auto& [name, values] : presets) names.push_back(name);
    return add({"preset", shown_choices(names), names.front(), std::move(effect)},
               [names, presets](const OptionValues& values, O& options) {
                 const std::string chosen = values.get_choice("preset", names, names.front());
                 for (const auto& [name, preset] : presets) {
                   if (name == chosen) options = preset;
                 }
               });
  }

  template <typename Member, typename E>
  Options& choice(std::string name, Member member, const Choices<E>& choices, std::string effect) {
    std::vector<std::string> names;
    for (const auto& [text, value] : choices) names.push_back(text);
    const auto name_of = [choices](const E& wanted) {
      for (const auto& [text, value] : choices) {
        if (value == wanted) return text;
      }
      require(false, "Options", "a default value that is one of the choices");
      return std::string();
    };
    return add({name, shown_choices(names), name_of(std::invoke(member, defaults_)), std::move(effect)},
               [=](const OptionValues& values, O& options) {
                 E& target = std::invoke(member, options);
                 const std::string chosen = values.get_choice(name, names, name_of(target));
                 for (const auto& [text, value] : choices) {
                   if (text == chosen) target = value;
                 }
               });
  }

  /// yes or no.
  template <typename Member>
  Options& flag(std::string name, Member member, std::string effect) {
    return choice(std::move(name), member, Choices<bool>{{"yes", true}, {"no", false}}, std::move(effect));
  }

  template <typename Member>
  Options& count(std::string name, Member member, int minimum, int maximum, std::string effect) {
    return add({name, shown_range(minimum, maximum), std::to_string(std::invoke(member, defaults_)), std::move(effect)},
               [=](const OptionValues& values, O& options) {
                 auto& target = std::invoke(member, options);
                 using Whole = std::remove_reference_t<decltype(target)>;
                 target = static_cast<Whole>(values.get_count(name, minimum, maximum, static_cast<int>(target)));
               });
  }

  template <typename Member>
  Options& number(std::string name, Member member, double minimum, double maximum, std::string effect) {
    return add({name, shown_range(minimum, maximum), shown_number(std::invoke(member, defaults_)), std::move(effect)},
               [=](const OptionValues& values, O& options) {
                 double& target = std::invoke(member, options);
                 target = values.get_number(name, minimum, maximum, target);
               });
  }

  template <typename Member>
  Options& indices(std::string name, Member member, std::string effect) {
    return add({name, kFileOption, "", std::move(effect)}, [=](const OptionValues& values, O& options) {
      if (values.all().contains(name)) std::invoke(member, options) = values.get_indices(name);
    });
  }

  /// The options, as they are listed.
  std::vector<OptionInfo> infos() const { return infos_; }

  /// The struct for these values. Options that are not given have their default value, or that of the preset. Throws
  /// std::invalid_argument for a value that an option does not take.
  O read(const OptionValues& values) const {
    O options = defaults_;
    for (const auto& reader : readers_) reader(values, options);
    return options;
  }

 private:
  using Reader = std::function<void(const OptionValues&, O&)>;

  Options& add(OptionInfo info, Reader reader) {
    infos_.push_back(std::move(info));
    readers_.push_back(std::move(reader));
    return *this;
  }

  O defaults_;
  std::vector<OptionInfo> infos_;
  std::vector<Reader> readers_;
};

}  // namespace croquis
