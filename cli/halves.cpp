#include "cli/halves.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

namespace tocca::cli {
namespace {

// Columns from `first` of each image row, for all images, packed in the table's own number type.
Table cut(const Table& images, Index side, Index first_column) {
  const Index width = side / 2;
  return images.visit([&](auto first, Index row_stride, Index column_stride) {
    using Number = std::remove_cvref_t<decltype(*first)>;
    const auto pixels = std::make_shared<std::vector<Number>>();
    pixels->reserve(static_cast<std::size_t>(images.rows() * side * width));
    for (Index i = 0; i < images.rows(); ++i) {
      for (Index y = 0; y < side; ++y) {
        for (Index x = 0; x < width; ++x) {
          pixels->push_back(first[i * row_stride + (y * side + first_column + x) * column_stride]);
        }
      }
    }
    return Table(pixels, pixels->data(), images.type(), images.rows(), side * width, side * width, 1);
  });
}

View half(const Table& images, Index side, Index first_column, const std::string& name) {
  View view{name, {}, cut(images, side, first_column), std::vector<Index>(static_cast<std::size_t>(images.rows()))};
  std::iota(view.row_of_sample.begin(), view.row_of_sample.end(), Index{0});
  for (Index y = 0; y < side; ++y) {
    for (Index x = 0; x < side / 2; ++x) view.features.push_back(fmt::format("y{}_x{}", y, first_column + x));
  }
  return view;
}

}  // namespace

Views left_and_right(const Table& images, Index side) {
  Views views;
  for (Index i = 0; i < images.rows(); ++i) views.samples.push_back(std::to_string(i));
  views.views = {half(images, side, 0, "left"), half(images, side, side / 2, "right")};
  return views;
}

}  // namespace tocca::cli
