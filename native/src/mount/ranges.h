// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace keibi::mount {

// Sorted, disjoint, half-open byte ranges of a file.
class Ranges {
 public:
  using Map = std::map<uint64_t, uint64_t>;  // from, end

  void Add(uint64_t from, uint64_t end);
  void Add(const Ranges& others);
  void Remove(uint64_t from, uint64_t end);
  // Removes everything from `size` on.
  void Cut(uint64_t size) { Remove(size, UINT64_MAX); }
  void Clear();

  bool Covers(uint64_t from, uint64_t end) const;
  // The first part of a range inside `[from, end)`, clipped to it; false if there is none.
  bool First(uint64_t from, uint64_t end, uint64_t* first, uint64_t* first_end) const;

  bool empty() const { return map_.empty(); }
  size_t count() const { return map_.size(); }
  uint64_t bytes() const { return bytes_; }
  const Map& map() const { return map_; }

 private:
  Map map_;
  uint64_t bytes_ = 0;
};

}  // namespace keibi::mount
