/// The evaluations of the seed paper: cross-view classification, single-view prediction, sum correlation.
#pragma once

#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/data/views.h"
#include "tocca/evaluate/svm.h"
#include "tocca/model/fitted_model.h"

namespace tocca {

/// One figure of an evaluation, ready for a result row.
struct Score {
  std::string train_view;  ///< view the classifier was fitted on; "all" for the model's own head
  std::string test_view;   ///< view it was tested on; "all": every view present, combined
  std::string metric;      ///< accuracy, balanced_accuracy, macro_f1, sum_correlation
  double value = 0;        ///< NaN: nothing to measure
  Index samples = 0;       ///< test samples that count
};

/// Cross-view classification: a linear SVM fitted on the training projections of view u is tested on the test
/// projections of view v, for every u and v (u = v included). For a model without a shared space (svm, lda, logistic,
/// nn) the model's own classifier of each view is tested on that view. `training` and `test` are as match_views returns
/// them. Throws InputError when their labels are of different classes.
std::vector<Score> cross_view_scores(const FittedModel& model, const Dataset& training, const Dataset& test,
                                     const SvmOptions& options, const Rng& rng, const Context& context);

/// What the model itself does on new data: accuracy, balanced accuracy and macro F1 of its head on each view and on all
/// views combined (with labels), and for each pair of views the sum correlation of the canonical variates whose maps
/// were fitted on training data. Throws InputError when the labels are of other classes than the model's.
std::vector<Score> model_scores(const FittedModel& model, const Dataset& data, const Context& context);

/// Correlations (c) of the canonical variates of a pair of views on the samples of `views` that have both; empty with
/// fewer than three of them.
Vector<double> canonical_correlations(const FittedModel& model, const CanonicalPair& pair, const Views& views,
                                      const Context& context);

}  // namespace tocca
