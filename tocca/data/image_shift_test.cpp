#include "tocca/data/image_shift.h"

#include <gtest/gtest.h>

#include <set>

#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

// Pictures of 3 × 4 pixels.
constexpr Index kWidth = 4;
constexpr Index kPixels = 12;

Matrix<double> pictures(Index n) {
  Rng rng(1);
  return Matrix<double>::NullaryExpr(n, kPixels, [&] { return rng.normal() + 3; });
}

struct Shifted {
  Matrix<double> before, after;  // pixels
};

Shifted shifted(const Matrix<double>& x, Standardize mode, Index most, const Rng& rng) {
  const Dataset data = tocca::testing::make_dataset({x}, std::vector<int>(static_cast<std::size_t>(x.rows()), 0), 1);
  const Standardizer standardizer = fit_standardizer(data.views, 0, mode, MissingValues::error, {});
  std::vector<Index> samples;
  for (Index i = 0; i < x.rows(); ++i) samples.push_back(i);
  Matrix<double> rows(x.rows(), kPixels);
  standardizer.read<double>(data.views, 0, samples, 0, rows);
  shift_images<double>(standardizer, kWidth, most, samples, rng, rows);
  const Matrix<double> after =
      (rows.array().rowwise() / standardizer.scale.array()).matrix().rowwise() + standardizer.shift;
  return {x, after};
}

TEST(ImageShift, MovesWholePicturesAndRepeatsTheirEdges) {
  for (const Standardize mode : {Standardize::zscore, Standardize::scale, Standardize::none}) {
    const Shifted s = shifted(pictures(200), mode, 1, Rng(3));
    std::set<std::pair<Index, Index>> seen;
    for (Index i = 0; i < 200; ++i) {
      int found = 0;
      for (Index down = -1; down <= 1; ++down) {
        for (Index right = -1; right <= 1; ++right) {
          double error = 0;
          for (Index y = 0; y < 3; ++y) {
            for (Index x = 0; x < kWidth; ++x) {
              const Index from = std::clamp<Index>(y - down, 0, 2) * kWidth + std::clamp<Index>(x - right, 0, 3);
              error = std::max(error, std::abs(s.after(i, y * kWidth + x) - s.before(i, from)));
            }
          }
          if (error > 1e-12) continue;
          ++found;
          seen.insert({down, right});
        }
      }
      EXPECT_EQ(found, 1) << i;
    }
    EXPECT_EQ(seen.size(), 9U) << "every shift is drawn";
  }
}

TEST(ImageShift, SameSampleSameShiftInEveryView) {
  const Rng rng(5);
  const Matrix<double> x = pictures(20);
  const Matrix<double> one = shifted(x, Standardize::none, 2, rng).after;
  const Matrix<double> two = shifted(-x, Standardize::none, 2, rng).after;
  EXPECT_EQ(one, -two);
  EXPECT_NE(one, shifted(x, Standardize::none, 2, Rng(6)).after);
  EXPECT_EQ(shifted(x, Standardize::none, 0, rng).after, x);
}

}  // namespace
}  // namespace tocca
