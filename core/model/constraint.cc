#include "core/model/constraint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/text.h"

namespace tarcil {
namespace {

using Operator = Constraint::Operator;

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kSpecial = " \t\r\n,()=!<>\"'";

std::optional<double> asNumber(std::string_view text) {
  double number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

// Reads from left to right and keeps the first problem; each step says whether it went well.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Constraint> read() {
    if (text_.size() > kMaxConstraintBytes) {
      fail(kMaxConstraintBytes, "the expression is longer than " + std::to_string(kMaxConstraintBytes) +
                                    " bytes; split it into several constraints");
      return *problem_;
    }
    if (readAttribute() && readOperator() && readOperand() && readEnd()) return std::move(constraint_);
    return *problem_;
  }

 private:
  bool readAttribute() {
    auto attribute = word("the name of an attribute is missing; write for example gpu = true");
    if (attribute) constraint_.attribute = std::move(*attribute);
    return attribute.has_value();
  }

  bool readOperator() {
    static constexpr std::pair<std::string_view, Operator> kSymbols[] = {{"!=", Operator::kNotEqual},
                                                                         {"=", Operator::kEqual},
                                                                         {"<", Operator::kLess},
                                                                         {">", Operator::kGreater}};
    skipSpaces();
    const size_t start = at_;
    for (auto [symbol, op] : kSymbols) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      at_ += symbol.size();
      constraint_.op = op;
      if (at_ == text_.size() || text_[at_] != '=') return true;
      return fail(start, "'" + std::string(symbol) + "=' is no operator; " +
                             (op == Operator::kEqual || op == Operator::kNotEqual ? "write = or !="
                                                                                  : "write < or >"));
    }
    return readWordOperator(start);
  }

  bool readWordOperator(size_t start) {
    if (keyword("exists")) return setOperator(Operator::kExists);
    if (keyword("in")) return setOperator(Operator::kIn);
    if (keyword("not")) {
      skipSpaces();
      if (keyword("in")) return setOperator(Operator::kNotIn);
    }
    return fail(start, "an operator is missing after " + shown(constraint_.attribute) +
                           "; write one of =, !=, <, >, in (a, b), not in (a, b), exists");
  }

  bool readOperand() {
    switch (constraint_.op) {
      case Operator::kExists:
        return true;
      case Operator::kIn:
      case Operator::kNotIn:
        return readList();
      case Operator::kEqual:
      case Operator::kNotEqual:
        return readValue();
      case Operator::kLess:
      case Operator::kGreater:
        return readNumber();
    }
    return false;
  }

  bool readValue() {
    auto value = word("a value is missing; write one, in quotes if it has spaces or any of ,()=!<> in it");
    if (value) constraint_.values.push_back(std::move(*value));
    return value.has_value();
  }

  bool readNumber() {
    skipSpaces();
    const size_t start = at_;
    if (!readValue()) return false;
    if (asNumber(constraint_.values.back())) return true;
    return fail(start, shown(constraint_.values.back()) + " is not a number; < and > compare numbers only");
  }

  bool readList() {
    skipSpaces();
    if (!symbol('(')) return fail(at_, "a list is missing; write it in parentheses, as in (a, b)");
    do {
      if (!readValue()) return false;
      if (constraint_.values.size() > kMaxConstraintValues) {
        return fail(at_, "the list has more than " + std::to_string(kMaxConstraintValues) +
                             " values; give the servers an attribute in common");
      }
      skipSpaces();
    } while (symbol(','));
    return symbol(')') || fail(at_, "the list has no end; separate values with commas and close it with ')'");
  }

  bool readEnd() {
    skipSpaces();
    return at_ == text_.size() ||
           fail(at_, "unexpected text after the end of the condition; write one condition for each entry");
  }

  // A bare or a quoted word.
  std::optional<std::string> word(std::string_view ifMissing) {
    skipSpaces();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return quotedWord();
    const size_t end = std::min(text_.find_first_of(kSpecial, at_), text_.size());
    if (end == at_) {
      fail(at_, ifMissing);
      return std::nullopt;
    }
    const size_t start = std::exchange(at_, end);
    return std::string(text_.substr(start, end - start));
  }

  std::optional<std::string> quotedWord() {
    const size_t start = at_;
    const size_t end = text_.find(text_[start], start + 1);
    if (end == std::string_view::npos) {
      fail(start, "the quote is not closed; close it with the same character");
      return std::nullopt;
    }
    at_ = end + 1;
    return std::string(text_.substr(start + 1, end - start - 1));
  }

  bool keyword(std::string_view expected) {
    const size_t end = std::min(text_.find_first_of(kSpecial, at_), text_.size());
    if (text_.substr(at_, end - at_) != expected) return false;
    at_ = end;
    return true;
  }

  bool symbol(char expected) {
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  void skipSpaces() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }

  bool setOperator(Operator op) {
    constraint_.op = op;
    return true;
  }

  bool fail(size_t position, std::string_view problem) {
    problem_ = invalid("column " + std::to_string(position + 1) + ": " + std::string(problem));
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  Constraint constraint_;
  std::optional<Error> problem_;
};

std::string quotedIfNeeded(const std::string& word) {
  if (!word.empty() && word.find_first_of(kSpecial) == std::string::npos) return word;
  const char quote = word.find('"') == std::string::npos ? '"' : '\'';
  return quote + word + quote;
}

std::string_view symbolOf(Operator op) {
  switch (op) {
    case Operator::kEqual:
      return "=";
    case Operator::kNotEqual:
      return "!=";
    case Operator::kLess:
      return "<";
    case Operator::kGreater:
      return ">";
    case Operator::kIn:
      return "in";
    case Operator::kNotIn:
      return "not in";
    case Operator::kExists:
      return "exists";
  }
  return "";
}

bool ordered(const Constraint& constraint, std::string_view attribute) {
  if (constraint.values.size() != 1) return false;
  auto left = asNumber(attribute);
  auto right = asNumber(constraint.values.front());
  if (!left || !right) return false;
  return constraint.op == Operator::kLess ? *left < *right : *left > *right;
}

}  // namespace

Result<Constraint> parseConstraint(std::string_view text) {
  return Reader(text).read();
}

std::string describe(const Constraint& constraint) {
  std::string text = quotedIfNeeded(constraint.attribute) + ' ' + std::string(symbolOf(constraint.op));
  const bool isList = constraint.op == Operator::kIn || constraint.op == Operator::kNotIn;
  std::string_view before = isList ? " (" : " ";
  for (const std::string& value : constraint.values) {
    text.append(before).append(quotedIfNeeded(value));
    before = ", ";
  }
  return isList ? text + ')' : text;
}

std::string describe(const std::vector<Constraint>& constraints) {
  std::string text;
  for (const Constraint& constraint : constraints) text += (text.empty() ? "" : "; ") + describe(constraint);
  return text;
}

Result<std::optional<Constraint>> conditionIn(std::string_view entry) {
  auto constraint = parseConstraint(entry);
  if (constraint) return std::optional(std::move(*constraint));
  if (entry.find_first_of("=!<>()\"'") != std::string_view::npos) return constraint.error();
  return std::optional<Constraint>();
}

Constraint onServers(std::vector<std::string> names) {
  return {std::string(kServerAttribute), Operator::kIn, std::move(names)};
}

const Constraint* listIn(const std::vector<Constraint>& constraints) {
  for (const std::string_view attribute : {kServerAttribute, kRackAttribute}) {
    const auto list = std::ranges::find_if(constraints, [attribute](const Constraint& constraint) {
      return constraint.attribute == attribute &&
             (constraint.op == Operator::kEqual || constraint.op == Operator::kIn);
    });
    if (list != constraints.end()) return &*list;
  }
  return nullptr;
}

bool meets(const Constraint& constraint, std::optional<std::string_view> value) {
  const bool isNegated = constraint.op == Operator::kNotEqual || constraint.op == Operator::kNotIn;
  if (!value) return isNegated;
  switch (constraint.op) {
    case Operator::kExists:
      return true;
    case Operator::kLess:
    case Operator::kGreater:
      return ordered(constraint, *value);
    case Operator::kEqual:
    case Operator::kNotEqual:
    case Operator::kIn:
    case Operator::kNotIn:
      break;
  }
  const auto& values = constraint.values;
  return (std::find(values.begin(), values.end(), *value) != values.end()) != isNegated;
}

bool meets(const Constraint& constraint, const std::map<std::string, std::string>& attributes) {
  const auto found = attributes.find(constraint.attribute);
  if (found == attributes.end()) return meets(constraint, std::nullopt);
  return meets(constraint, std::string_view(found->second));
}

}  // namespace tarcil
