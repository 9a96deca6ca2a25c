#include "tocca/data/standardize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// One view "v" with columns "g0", "g1", ... and samples "s0", "s1", ...
Views one_view(Table values) {
  View view{"v", {}, values, {}};
  Views views;
  for (Index j = 0; j < values.columns(); ++j) view.features.push_back("g" + std::to_string(j));
  for (Index i = 0; i < values.rows(); ++i) {
    views.samples.push_back("s" + std::to_string(i));
    view.row_of_sample.push_back(i);
  }
  views.views.push_back(view);
  return views;
}

std::vector<Index> all_samples(const Views& views) {
  std::vector<Index> samples(static_cast<std::size_t>(views.size()));
  std::iota(samples.begin(), samples.end(), Index{0});
  return samples;
}

template <class S>
Matrix<S> standardized(const Standardizer& standardizer, const Views& views) {
  Matrix<S> out(views.size(), views.views[0].columns());
  standardizer.read<S>(views, 0, all_samples(views), 0, out);
  return out;
}

Standardizer fit(const Views& views, Standardize mode = Standardize::zscore,
                 MissingValues missing = MissingValues::error) {
  return fit_standardizer(views, 0, mode, missing, {});
}

Views small_view() {
  Matrix<double> values(4, 3);
  values << 1, 10, 7,  //
      2, 30, 7,        //
      3, 10, 7,        //
      6, 30, 7;
  return one_view(Table(values));
}

TEST(Standardizer, ZscoreHasUnitVariance) {
  const Standardizer standardizer = fit(small_view());
  const Matrix<double> z = standardized<double>(standardizer, small_view());
  EXPECT_THAT(standardizer.constant, ElementsAre(2));
  EXPECT_EQ(standardizer.scale(2), 0);
  EXPECT_NEAR(z.col(0).sum(), 0, 1e-14);
  EXPECT_NEAR(z.col(0).squaredNorm() / 3, 1, 1e-14);
  EXPECT_NEAR(z.col(1).squaredNorm() / 3, 1, 1e-14);
  EXPECT_EQ(z.col(2), Vector<double>::Zero(4));
}

TEST(Standardizer, ScaleDividesTheViewByOneNumber) {
  const Matrix<double> z = standardized<double>(fit(small_view(), Standardize::scale), small_view());
  // Column variances are 14/3, 400/3 and 0.
  const double scale = 1 / std::sqrt((14.0 / 3 + 400.0 / 3) / 3);
  EXPECT_NEAR(z(3, 0), 3 * scale, 1e-14);
  EXPECT_NEAR(z(3, 1), 10 * scale, 1e-14);
  EXPECT_NEAR(z.squaredNorm() / 9, 1, 1e-14);
}

TEST(Standardizer, CenterAndNone) {
  const Matrix<double> centered = standardized<double>(fit(small_view(), Standardize::center), small_view());
  EXPECT_EQ(centered.row(3), (RowVector<double>(3) << 3, 10, 0).finished());
  const Matrix<double> raw = standardized<double>(fit(small_view(), Standardize::none), small_view());
  EXPECT_EQ(raw.row(3), (RowVector<double>(3) << 6, 30, 0).finished());
}

// Columns alone are what they are in a whole row, with missing values too, and a value that is refused has its name.
TEST(Standardizer, ReadsSomeColumns) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> by_row = {1, 10, 7, 2, 30, 8, 3, nan, 7, 6, 30, 5};
  const std::vector<float> by_column = {1, 2, 3, 6, 10, 30, nan, 30, 7, 8, 7, 5};
  for (const Table& table : {Table(nullptr, by_row.data(), NumberType::f4, 4, 3, 3, 1),
                             Table(nullptr, by_column.data(), NumberType::f4, 4, 3, 1, 4)}) {
    const Views views = one_view(table);
    const Standardizer standardizer = fit_standardizer(views, 0, Standardize::none, MissingValues::mean, {});
    const Matrix<float> whole = standardized<float>(standardizer, views);
    EXPECT_FLOAT_EQ(whole(2, 1), 70.0F / 3);
    for (Index first = 0; first < 3; ++first) {
      for (Index count = 0; first + count <= 3; ++count) {
        Matrix<float> some(4, count);
        standardizer.read<float>(views, 0, all_samples(views), first, some);
        EXPECT_EQ(some, whole.middleCols(first, count)) << first << " " << count;
      }
    }
    Standardizer strict = standardizer;
    strict.missing = MissingValues::error;
    Matrix<float> last(4, 1), middle(4, 1);
    strict.read<float>(views, 0, all_samples(views), 2, last);
    EXPECT_THAT(error_message<InputError>([&] { strict.read<float>(views, 0, all_samples(views), 1, middle); }),
                HasSubstr("column '" + views.views[0].features[1] + "'"));
    Matrix<float> too_many(4, 2);
    EXPECT_THAT(error_message<InputError>([&] { strict.read<float>(views, 0, all_samples(views), 2, too_many); }),
                HasSubstr("got 2 from 2 on, the view has 3"));
  }
}

TEST(Standardizer, ReadsEveryStorageAlike) {
  const std::vector<std::uint8_t> bytes = {1, 10, 7, 2, 30, 7, 3, 10, 7, 6, 30, 7};
  const std::vector<float> by_column = {1, 2, 3, 6, 10, 30, 10, 30, 7, 7, 7, 7};
  const Matrix<float> expected = standardized<float>(fit(small_view()), small_view());
  for (const Table& table : {Table(nullptr, bytes.data(), NumberType::u1, 4, 3, 3, 1),
                             Table(nullptr, by_column.data(), NumberType::f4, 4, 3, 1, 4)}) {
    EXPECT_EQ(standardized<float>(fit(one_view(table)), one_view(table)), expected);
  }
}

TEST(Standardizer, ReadsChosenSamplesThroughTheJoin) {
  Views views = small_view();
  views.views[0].row_of_sample = {3, -1, 0, 1};
  const Standardizer standardizer = fit(views, Standardize::center);
  EXPECT_EQ(standardizer.mean(0), 3);
  Matrix<double> out(2, 3);
  standardizer.read<double>(views, 0, std::vector<Index>{2, 0}, 0, out);
  EXPECT_EQ(out.col(0), (Vector<double>(2) << -2, 3).finished());
  EXPECT_EQ(error_message<InputError>([&] {
              standardizer.read<double>(views, 0, std::vector<Index>{0, 1}, 0, out);
            }),
            "[view 'v', sample 's1'] view is missing: got no row, need one; read only samples that have the view");
}

TEST(Standardizer, TakesRoundingForConstant) {
  Matrix<double> values(5000, 4);
  for (Index i = 0; i < values.rows(); ++i) values.row(i) << 0.1, 1e6 + static_cast<double>(i % 2) * 1e-7, 0, i % 2;
  const Standardizer standardizer = fit(one_view(Table(values)));
  EXPECT_THAT(standardizer.constant, ElementsAre(0, 1, 2));
}

TEST(Standardizer, KeepsSmallAndRareVariation) {
  Matrix<double> values = Matrix<double>::Zero(5000, 2);
  values(17, 0) = 1e-9;
  for (Index i = 0; i < values.rows(); ++i) values(i, 1) = 1 + static_cast<double>(i % 2) * 1e-9;
  EXPECT_THAT(fit(one_view(Table(values))).constant, IsEmpty());
}

TEST(Standardizer, HasNothingButConstantsInOneSample) {
  const Views views = one_view(Table(Matrix<double>(Matrix<double>::Constant(1, 2, 3.0))));
  EXPECT_THAT(fit(views).constant, ElementsAre(0, 1));
  EXPECT_EQ(standardized<double>(fit(views, Standardize::scale), views), (Matrix<double>::Zero(1, 2)));
}

Views view_with(double value) {
  Matrix<double> values(3, 2);
  values << 1, 2, 3, value, 5, 4;
  return one_view(Table(values));
}

TEST(Standardizer, PutsTheMeanForMissingValues) {
  const Views views = view_with(kNaN);
  const Standardizer standardizer = fit(views, Standardize::zscore, MissingValues::mean);
  EXPECT_EQ(standardizer.mean(1), 3);
  EXPECT_EQ(standardized<float>(standardizer, views)(1, 1), 0);
  EXPECT_EQ(standardized<float>(fit(views, Standardize::none, MissingValues::mean), views)(1, 1), 3);
}

TEST(Standardizer, TakesAColumnWithoutValuesForConstant) {
  Matrix<double> values(2, 2);
  values << 1, kNaN, 2, kNaN;
  const Views views = one_view(Table(values));
  const Standardizer standardizer = fit(views, Standardize::zscore, MissingValues::mean);
  EXPECT_THAT(standardizer.constant, ElementsAre(1));
  EXPECT_EQ(standardizer.mean(1), 0);
  EXPECT_EQ(standardized<double>(standardizer, views).col(1), Vector<double>::Zero(2));
}

TEST(Standardizer, NamesTheFirstMissingValue) {
  const std::string message =
      "[view 'v', sample 's1', column 'g1'] missing value: got NaN, need a finite number; fill it in, or fit with "
      "--missing mean or --missing drop";
  EXPECT_EQ(error_message<InputError>([] { fit(view_with(kNaN)); }), message);
  EXPECT_EQ(error_message<InputError>([] { fit(view_with(kNaN), Standardize::none, MissingValues::drop); }), message);
  EXPECT_EQ(error_message<InputError>([] { standardized<float>(fit(view_with(0)), view_with(kNaN)); }), message);
}

TEST(Standardizer, NeverAcceptsInfinity) {
  const std::string message = "[view 'v', sample 's1', column 'g1'] infinite value: got -inf, need a finite number";
  for (const MissingValues missing : {MissingValues::error, MissingValues::mean, MissingValues::drop}) {
    EXPECT_THAT(error_message<InputError>([&] { fit(view_with(-kInf), Standardize::zscore, missing); }),
                StartsWith(message));
    const Standardizer fitted = fit(view_with(0), Standardize::zscore, missing);
    EXPECT_THAT(error_message<InputError>([&] { standardized<double>(fitted, view_with(-kInf)); }),
                StartsWith(message));
  }
}

TEST(Standardizer, RefusesWhatOverflows) {
  const std::string message = "[view 'v', sample 's1', column 'g1'] value is too large: got 1e+200, need";
  EXPECT_THAT(error_message<InputError>([] { fit(view_with(1e200)); }), StartsWith(message));
  const Standardizer standardizer = fit(view_with(0), Standardize::none);
  EXPECT_THAT(error_message<InputError>([&] { standardized<float>(standardizer, view_with(1e200)); }),
              StartsWith(message));
  EXPECT_EQ(standardized<double>(standardizer, view_with(1e200))(1, 1), 1e200);
}

TEST(Standardizer, RefusesOtherColumnsAndAbsentViews) {
  EXPECT_EQ(error_message<InputError>([] { standardized<float>(fit(view_with(0)), small_view()); }),
            "[view 'v'] wrong number of columns: got 3, need 2 as in training; check the file");
  Views views = small_view();
  views.views[0].row_of_sample.assign(4, -1);
  EXPECT_EQ(error_message<InputError>([&] { fit(views); }),
            "[view 'v'] no sample has the view: got 0 samples, need at least 1; check the ids, or leave the view out");
}

TEST(Standardizer, DoesNotDependOnThreads) {
  Rng rng(1);
  Matrix<float> values(5000, 3);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(rng.normal());
  const Views views = one_view(Table(values));
  const Standardizer one = fit(views);
  const Standardizer four = fit_standardizer(views, 0, Standardize::zscore, MissingValues::error, make_context(4));
  EXPECT_EQ(one.shift, four.shift);
  EXPECT_EQ(one.scale, four.scale);
}

TEST(CompleteSamples, DropsThoseWithAMissingValueInAViewTheyHave) {
  Views views = view_with(kNaN);
  EXPECT_THAT(complete_samples(views, MissingValues::drop), ElementsAre(0, 2));
  EXPECT_THAT(complete_samples(views, MissingValues::mean), ElementsAre(0, 1, 2));
  views.views[0].row_of_sample[1] = -1;
  EXPECT_THAT(complete_samples(views, MissingValues::drop), ElementsAre(0, 1, 2));
}

TEST(StandardizeWords, GoBothWays) {
  for (const char* word : {"zscore", "scale", "center", "none"}) EXPECT_EQ(name_of(parse_standardize(word)), word);
  for (const char* word : {"error", "mean", "drop"}) EXPECT_EQ(name_of(parse_missing_values(word)), word);
  EXPECT_EQ(error_message<InputError>([] { parse_standardize("minmax"); }),
            "[standardize] unknown value: got 'minmax', need one of zscore, scale, center, none; check the spelling");
  EXPECT_EQ(error_message<InputError>([] { parse_missing_values("zero"); }),
            "[missing] unknown value: got 'zero', need one of error, mean, drop; check the spelling");
}

}  // namespace
}  // namespace tocca
