// Rows of results as types, and their columns, each declared once: name, type, role, unit and meaning.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace croquis {

/// A value of a row: missing, text (empty: missing), a whole number, a number (NaN: missing).
using Value = std::variant<std::monostate, std::string, std::uint64_t, double>;

enum class ValueType { text, count, number };

/// The role of a column. A *cell* is what is measured in one call, a *group* the repetitions of one measurement.
enum class Role {
  curve,    ///< a key that identifies a curve of a plot or a line of a table: method, preset
  axis,     ///< a key that can be the x axis of a curve: features, n
  key,      ///< another key of a cell: input
  draw,     ///< a key that distinguishes the repetitions of a group: trial
  part,     ///< a key of a row within its cell: index, repeat
  subject,  ///< determined by the keys, and the same within a group: target, p
  metric,   ///< measured; summaries have its mean, standard error and quantiles
  number,   ///< measured or derived; not summarised
  note,     ///< how the row was computed, and with what result: seed, status
};

/// A column of a result. CSV headers, the parsing of rows, `croquis list columns`, the tables of the documentation, the
/// grouping of summaries and the axes of plots are derived from it.
struct Column {
  std::string name = {};
  Role role = Role::note;
  std::string meaning = {};  ///< for the documentation, in Markdown
  std::string symbol = {};   ///< shown in tables and axes in place of the name: "d", "||O - O~||"; empty: the name
  std::string unit = {};     ///< empty: none
  std::string option = {};   ///< the option that adds the column; empty: it is always there
  ValueType type = ValueType::text;  ///< set by Columns

  bool is_cell_key() const { return role <= Role::draw; }
  bool is_group_key() const { return role <= Role::key || role == Role::subject; }
  /// The symbol, or the name where there is none.
  const std::string& shown() const { return symbol.empty() ? name : symbol; }
};

/// The values of a row, in the order of the columns.
using Record = std::vector<Value>;

/// Rows without a C++ type, with their columns, as they are read from a file.
struct Table {
  std::vector<Column> columns;
  std::vector<Record> rows;

  /// The index of a column. Throws std::invalid_argument if there is none; the message lists the columns.
  std::size_t column(std::string_view name) const;
  bool has(std::string_view name) const;
};

/// The text of a field before quoting: "NA" for a missing value, 17 digits for a number.
std::string text_of(const Value& value);
/// The inverse of text_of(); a missing text may also be an empty field, as in files of earlier versions. Throws
/// std::invalid_argument for a text that is not of the column's type.
Value parse_value(const Column& column, const std::string& text);
/// The values of a row from its fields, one for each column. Throws std::invalid_argument as parse_value() does.
Record parse_record(const std::vector<Column>& columns, const std::vector<std::string>& fields);
/// The number in a value, NaN if it is missing. Throws std::invalid_argument for text.
double number_in(const Value& value);

/// The columns of a row type, each with the member that it shows.
template <typename Row>
class Columns {
 public:
  using Member =
      std::variant<std::string Row::*, std::uint64_t Row::*, std::optional<std::uint64_t> Row::*, double Row::*>;
  struct Field {
    Column column;
    Member member;
  };

  Columns(std::initializer_list<Field> fields) : fields_(fields) {
    for (Field& field : fields_) {
      field.column.type = field.member.index() == 0   ? ValueType::text
                          : field.member.index() == 3 ? ValueType::number
                                                      : ValueType::count;
    }
  }

  /// The columns that are always there, and those that these options add.
  std::vector<Column> list(const std::set<std::string>& options = {}) const {
    std::vector<Column> columns;
    for (const Field& field : fields_) {
      if (is_there(field.column, options)) columns.push_back(field.column);
    }
    return columns;
  }
  /// All columns, whatever the options.
  std::vector<Column> all() const {
    std::vector<Column> columns;
    for (const Field& field : fields_) columns.push_back(field.column);
    return columns;
  }

  /// The values of a row in the columns of list(options).
  Record record(const Row& row, const std::set<std::string>& options = {}) const {
    Record record;
    for (const Field& field : fields_) {
      if (!is_there(field.column, options)) continue;
      record.push_back(std::visit([&](auto member) { return value_of(row.*member); }, field.member));
    }
    return record;
  }

  /// The rows of a table. A member whose column the table does not have keeps its default value: files of earlier
  /// versions may lack columns of some roles. Throws std::invalid_argument if the table lacks a key, a metric or an
  /// axis that is always there.
  std::vector<Row> rows(const Table& table) const {
    std::vector<Row> rows(table.rows.size());
    for (const Field& field : fields_) {
      const Role role = field.column.role;
      const bool may_lack =
          !field.column.option.empty() || role == Role::subject || role == Role::note || role == Role::number;
      if (may_lack && !table.has(field.column.name)) continue;
      const std::size_t column = table.column(field.column.name);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::visit([&](auto member) { assign(rows[i].*member, table.rows[i][column]); }, field.member);
      }
    }
    return rows;
  }

 private:
  static bool is_there(const Column& column, const std::set<std::string>& options) {
    return column.option.empty() || options.contains(column.option);
  }
  template <typename T>
  static Value value_of(const T& member) {
    if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
      return member ? Value(*member) : Value();
    } else {
      return member;
    }
  }
  template <typename T>
  static void assign(T& member, const Value& value) {
    if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
      member =
          std::holds_alternative<std::uint64_t>(value) ? std::optional(std::get<std::uint64_t>(value)) : std::nullopt;
    } else if constexpr (std::is_same_v<T, double>) {
      member = number_in(value);
    } else {
      if (!std::holds_alternative<T>(value)) throw std::invalid_argument("a value is missing that every row has");
      member = std::get<T>(value);
    }
  }

  std::vector<Field> fields_;
};

}  // namespace croquis
