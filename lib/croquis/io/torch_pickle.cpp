#include <fmt/format.h>

#include <croquis/io/bytes.hpp>
#include <croquis/io/torch_pickle.hpp>
#include <cstring>
#include <map>

namespace croquis {
namespace {

// Values are in one list and refer to each other by their places in it: containers may contain themselves.
using Place = std::size_t;
struct None {};
struct Storage {
  std::string type, key;
  std::uint64_t numbers = 0;
};
struct Global {
  std::string name;  // "torch.FloatStorage"
};
struct Tuple {
  std::vector<Place> items;
};
struct List {
  std::vector<Place> items;
};
struct Dictionary {
  std::vector<std::pair<Place, Place>> items;
};
using Value =
    std::variant<None, bool, std::int64_t, double, std::string, Global, Tuple, List, Dictionary, Storage, TorchTensor>;

constexpr char kProtocol = 2;

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& name, const std::string& advice)
      : bytes_(bytes), name_(name), advice_(advice) {}

  TorchContent content() {
    if (byte() != 0x80 || byte() != kProtocol) refuse("is no pickle of protocol 2");
    while (step()) {
    }
    if (stack_.size() != 1 || !marks_.empty()) refuse("has a damaged pickle (what is left at its end)");
    if (at_ != bytes_.size()) refuse("has a damaged pickle (something after its end)");
    return content_of(stack_.front());
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { refuse_file(name_, fmt::format("{}; {}", why, advice_)); }
  [[noreturn]] void damaged() const { refuse(fmt::format("has a damaged pickle (at byte {})", at_)); }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) damaged();
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  // Little-endian.
  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) damaged();
    std::string text(take(end - at_));
    take(1);
    return text;
  }

  void push(Value value) {
    values_.push_back(std::move(value));
    stack_.push_back(values_.size() - 1);
  }
  Place pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) damaged();
    const Place place = stack_.back();
    stack_.pop_back();
    return place;
  }
  std::vector<Place> pop_several(std::size_t count) {
    std::vector<Place> places(count);
    for (std::size_t i = count; i-- > 0;) places[i] = pop();
    return places;
  }
  std::vector<Place> pop_to_mark() {
    if (marks_.empty()) damaged();
    std::vector<Place> places(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return places;
  }
  // The container below what was popped.
  template <typename T>
  T& top() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) damaged();
    if (auto* const value = std::get_if<T>(&values_[stack_.back()])) return *value;
    damaged();
  }
  template <typename T>
  const T& as(Place place) const {
    if (const auto* const value = std::get_if<T>(&values_[place])) return *value;
    damaged();
  }

  void put(std::uint32_t key) {
    const Place place = pop();
    stack_.push_back(place);
    memo_[key] = place;
  }
  void get(std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) damaged();
    stack_.push_back(found->second);
  }
  void set_items(const std::vector<Place>& flat) {
    if (flat.size() % 2 != 0) damaged();
    auto& dictionary = top<Dictionary>();
    for (std::size_t i = 0; i < flat.size(); i += 2) dictionary.items.emplace_back(flat[i], flat[i + 1]);
  }

  // The opcodes that the pickler of Python writes for tensors, text, numbers, tuples, lists and dictionaries. Returns
  // false at the end.
  bool step() {
    switch (const unsigned char code = byte()) {
      case '.':
        return false;
      case '(':
        marks_.push_back(stack_.size());
        break;
      case 'N':
        push(None{});
        break;
      case 0x88:
        push(true);
        break;
      case 0x89:
        push(false);
        break;
      case 'J':
        push(std::int64_t{number<std::int32_t>()});
        break;
      case 'K':
        push(std::int64_t{number<std::uint8_t>()});
        break;
      case 'M':
        push(std::int64_t{number<std::uint16_t>()});
        break;
      case 0x8a:
        push(long_number());
        break;
      case 'G':
        push(big_endian_double());
        break;
      case 'X':
        push(std::string(take(number<std::uint32_t>())));
        break;
      case 'c':
        push(global());
        break;
      case 'Q':
        push(storage(pop()));
        break;
      case ')':
        push(Tuple{});
        break;
      case 0x85:
        push(Tuple{pop_several(1)});
        break;
      case 0x86:
        push(Tuple{pop_several(2)});
        break;
      case 0x87:
        push(Tuple{pop_several(3)});
        break;
      case 't':
        push(Tuple{pop_to_mark()});
        break;
      case ']':
        push(List{});
        break;
      case 'a': {
        const Place item = pop();
        top<List>().items.push_back(item);
        break;
      }
      case 'e': {
        const std::vector<Place> items = pop_to_mark();
        auto& list = top<List>().items;
        list.insert(list.end(), items.begin(), items.end());
        break;
      }
      case '}':
        push(Dictionary{});
        break;
      case 's':
        set_items(pop_several(2));
        break;
      case 'u':
        set_items(pop_to_mark());
        break;
      case 'q':
        put(number<std::uint8_t>());
        break;
      case 'r':
        put(number<std::uint32_t>());
        break;
      case 'h':
        get(number<std::uint8_t>());
        break;
      case 'j':
        get(number<std::uint32_t>());
        break;
      case 'R': {
        const std::vector<Place> call = pop_several(2);
        push(called(as<Global>(call[0]).name, as<Tuple>(call[1]).items));
        break;
      }
      default:
        refuse(fmt::format("has an object that is no tensor, or a damaged pickle (opcode 0x{:02x} at byte {})", code,
                           at_ - 1));
    }
    return true;
  }

  std::int64_t long_number() {
    const std::string_view digits = take(byte());
    if (digits.size() > 8) damaged();
    std::uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), digits.size());
    return static_cast<std::int64_t>(value);
  }
  double big_endian_double() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  Global global() {
    const std::string module = line();
    Global found{module + '.' + line()};
    const bool storage = module == "torch" && found.name.ends_with("Storage");
    if (storage || found.name == kRebuild || found.name == kOrdered) return found;
    refuse(fmt::format("has a '{}', which is no tensor", excerpt(found.name)));
  }

  std::uint64_t size(Place place) const {
    const std::int64_t value = as<std::int64_t>(place);
    if (value < 0) damaged();
    return static_cast<std::uint64_t>(value);
  }
  std::vector<std::uint64_t> sizes(Place place) const {
    std::vector<std::uint64_t> all;
    for (const Place item : as<Tuple>(place).items) all.push_back(size(item));
    return all;
  }

  // ('storage', torch.FloatStorage, '0', 'cpu', 12)
  Storage storage(Place id) const {
    const std::vector<Place>& parts = as<Tuple>(id).items;
    if (parts.size() != 5 || as<std::string>(parts[0]) != "storage") damaged();
    const std::string& global = as<Global>(parts[1]).name;
    if (!global.ends_with("Storage")) damaged();
    return {global.substr(global.find('.') + 1), as<std::string>(parts[2]), size(parts[4])};
  }
  // PyTorch notes there that the numbers are to be negated or conjugated when they are read.
  void require_no_metadata(Place place) const {
    if (std::holds_alternative<None>(values_[place]) || as<Dictionary>(place).items.empty()) return;
    refuse_file(name_,
                "has a tensor whose numbers are negated or conjugated when PyTorch reads them; save it with "
                ".resolve_neg() or .resolve_conj()");
  }
  // What is built by a name with arguments: (storage, offset, sizes, strides, requires_grad, hooks[, metadata])
  Value called(const std::string& global, const std::vector<Place>& arguments) const {
    if (global == kOrdered && arguments.empty()) return Dictionary{};
    if (global != kRebuild || arguments.size() < 6 || arguments.size() > 7) damaged();
    if (arguments.size() == 7) require_no_metadata(arguments[6]);
    const Storage& from = as<Storage>(arguments[0]);
    TorchTensor tensor{from.type, from.key, from.numbers, size(arguments[1]), sizes(arguments[2]), sizes(arguments[3])};
    if (tensor.shape.size() != tensor.strides.size()) damaged();
    return tensor;
  }

  TorchContent content_of(Place place) const {
    using Kind = TorchContent::Kind;
    const Value& value = values_[place];
    TorchContent found;
    if (const auto* const tensor = std::get_if<TorchTensor>(&value)) return {Kind::tensor, {{"", *tensor}}};
    const auto* const tuple = std::get_if<Tuple>(&value);
    const auto* const list = std::get_if<List>(&value);
    if (tuple != nullptr || list != nullptr) {
      found.kind = Kind::sequence;
      for (const Place item : tuple != nullptr ? tuple->items : list->items) {
        const auto* const tensor = std::get_if<TorchTensor>(&values_[item]);
        if (tensor == nullptr) return {};
        found.tensors.emplace_back("", *tensor);
      }
    } else if (const auto* const dictionary = std::get_if<Dictionary>(&value)) {
      found.kind = Kind::dictionary;
      for (const auto& [key, item] : dictionary->items) {
        const auto* const tensor = std::get_if<TorchTensor>(&values_[item]);
        const auto* const text = std::get_if<std::string>(&values_[key]);
        if (tensor != nullptr && text != nullptr) found.tensors.emplace_back(*text, *tensor);
      }
    }
    return found;
  }

  static constexpr std::string_view kRebuild = "torch._utils._rebuild_tensor_v2", kOrdered = "collections.OrderedDict";

  std::string_view bytes_;
  const std::string& name_;
  const std::string& advice_;
  std::size_t at_ = 0;
  std::vector<Value> values_;
  std::vector<Place> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::map<std::uint32_t, Place> memo_;
};

}  // namespace

TorchContent parse_torch_pickle(std::string_view pickle, const std::string& name, const std::string& advice) {
  return PickleReader(pickle, name, advice).content();
}

}  // namespace croquis
