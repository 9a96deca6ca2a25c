#include "tocca/data/fingerprint.h"

#include <gtest/gtest.h>

#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using tocca::testing::make_dataset;

Dataset small() { return make_dataset({Matrix<double>::Ones(3, 2), Matrix<double>::Zero(3, 1)}, {0, 1, 0}, 2); }

TEST(Fingerprint, ChangesWithAnythingInTheData) {
  const std::string usual = fingerprint(small(), {});
  EXPECT_EQ(fingerprint(small(), {}), usual);
  Dataset label = small(), sample = small(), feature = small(), view = small(), missing = small(), target = small(),
          group = small();
  label.labels.codes[1] = 0;
  sample.views.samples[2] = "other";
  feature.views.views[0].features[1] = "other";
  view.views.views[1].name = "other";
  missing.views.views[0].row_of_sample[0] = -1;
  target.targets.push_back({TargetKind::regression, {"age"}, {}, Matrix<double>::Ones(3, 1)});
  group.groups = {0, 0, 1};
  Matrix<double> other = Matrix<double>::Ones(3, 2);
  other(1, 1) = 1.0000001;
  const Dataset value = make_dataset({other, Matrix<double>::Zero(3, 1)}, {0, 1, 0}, 2);
  for (const Dataset& changed : {label, sample, feature, view, missing, target, group, value}) {
    EXPECT_NE(fingerprint(changed, {}), usual);
  }
}

TEST(Fingerprint, KeepsTextsApart) {
  Fingerprint one, two;
  one.add("ab");
  one.add("c");
  two.add("a");
  two.add("bc");
  EXPECT_NE(one.text(), two.text());
  EXPECT_EQ(one.text().size(), 16U);
}

}  // namespace
}  // namespace tocca
