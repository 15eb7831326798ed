#include "level_bits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace lissom {
namespace {

// More levels than any tree has; a bound on what a damaged text may allocate.
constexpr size_t kMaxLevels = 100000;

std::string FormatCentibits(uint32_t value) {
  std::string text = std::to_string(value / 100);
  const uint32_t fraction = value % 100;
  if (fraction == 0) return text;
  text += '.';
  text += static_cast<char>('0' + fraction / 10);
  if (fraction % 10 != 0) text += static_cast<char>('0' + fraction % 10);
  return text;
}

template <typename Number>
bool Parse(std::string_view text, Number* out) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *out);
  return result.ec == std::errc() && result.ptr == end;
}

// One item, "9.5" or "9.5x16", appended to `out`.
bool ParseItem(std::string_view item, std::vector<uint32_t>* out) {
  size_t count = 1;
  const size_t times = item.find('x');
  if (times != std::string_view::npos) {
    if (!Parse(item.substr(times + 1), &count)) return false;
    item = item.substr(0, times);
  }
  double bits = 0;
  if (!Parse(item, &bits)) return false;
  const auto centibits = LevelBits::ToCentibits(bits);
  if (!centibits || count == 0 || count > kMaxLevels - out->size()) {
    return false;
  }
  out->insert(out->end(), count, *centibits);
  return true;
}

}  // namespace

std::optional<uint32_t> LevelBits::ToCentibits(double bits) {
  if (std::isnan(bits) || bits > kMaxCentibits / 100.0) return std::nullopt;
  return static_cast<uint32_t>(std::lround(std::max(bits, 0.0) * 100));
}

LevelBits::LevelBits(const std::vector<uint32_t>& centibits)
    : values_(centibits.size()) {
  for (size_t i = 0; i < centibits.size(); ++i) {
    values_[i].store(centibits[i], std::memory_order_relaxed);
  }
}

uint32_t LevelBits::Get(int level) const {
  const size_t wanted = level < 0 ? 0 : static_cast<size_t>(level);
  const size_t index = std::min(wanted, values_.size() - 1);
  return values_[index].load(std::memory_order_relaxed);
}

bool LevelBits::Set(size_t level, uint32_t centibits) {
  if (level >= values_.size()) return false;
  values_[level].store(centibits, std::memory_order_relaxed);
  return true;
}

std::string LevelBits::ToText() const {
  std::string text;
  for (size_t i = 0; i < values_.size();) {
    const uint32_t value = values_[i].load(std::memory_order_relaxed);
    size_t end = i + 1;
    while (end < values_.size() &&
           values_[end].load(std::memory_order_relaxed) == value) {
      ++end;
    }
    if (!text.empty()) text += '/';
    text += FormatCentibits(value);
    if (end - i > 1) text.append(1, 'x').append(std::to_string(end - i));
    i = end;
  }
  return text;
}

std::optional<std::vector<uint32_t>> LevelBits::FromText(
    const std::string& text) {
  std::vector<uint32_t> values;
  std::string_view rest = text;
  while (true) {
    const size_t slash = rest.find('/');
    if (!ParseItem(rest.substr(0, slash), &values)) return std::nullopt;
    if (slash == std::string_view::npos) return values;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace lissom
