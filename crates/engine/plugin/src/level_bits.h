// Bits per key for each physical level, changed by one thread while others
// build filters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lissom {

// Values are kept in hundredths of a bit: enough for any allocation, and few
// enough distinct ones that a policy object can be kept for each.
class LevelBits {
 public:
  static constexpr uint32_t kMaxCentibits = 100 * 100;

  // Rounds to the nearest hundredth; negative values mean 0, no filter.
  // Nothing for a value that is not a number or above 100 bits.
  static std::optional<uint32_t> ToCentibits(double bits);

  explicit LevelBits(const std::vector<uint32_t>& centibits);

  // The value of a level beyond the table is that of the deepest level in it;
  // level -1, of writers that do not know their level, is level 0.
  uint32_t Get(int level) const;
  // False where the table has no such level.
  bool Set(size_t level, uint32_t centibits);
  size_t size() const { return values_.size(); }

  // The text form, run-length encoded: "10x18/9.5/0x20" gives levels 0 to 17
  // ten bits per key, level 18 nine and a half, and the next 20 no filter.
  std::string ToText() const;
  static std::optional<std::vector<uint32_t>> FromText(const std::string& text);

 private:
  std::vector<std::atomic<uint32_t>> values_;
};

}  // namespace lissom
