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
  std::string metric;      ///< accuracy, balanced_accuracy, macro_f1, sum_correlation, r_squared, concordance, ...
  double value = 0;        ///< NaN: nothing to measure
  Index samples = 0;       ///< test samples that count
  std::string target;      ///< what is predicted; empty: the labels
};

/// Cross-view classification: a linear SVM fitted on the training projections of view u is tested on the test
/// projections of view v, for every u and v (u = v included). For a model without a shared space (svm, lda, logistic,
/// nn) the model's own classifier of each view is tested on that view. `training` and `test` are as match_views returns
/// them. Throws InputError when their labels are of different classes.
/// A model with a joint classifier and a shared space is tested with that classifier, too: train_view "joint".
std::vector<Score> cross_view_scores(const FittedModel& model, const Dataset& training, const Dataset& test,
                                     const SvmOptions& options, const Rng& rng, const Context& context);

/// What the model itself does on new data. For its head on each view and on all views combined: of the labels accuracy,
/// balanced accuracy and macro F1 (of a clustering: normalised mutual information, adjusted Rand index, and accuracy of
/// the best assignment of clusters to classes); of a regression R² and RMSE of each number; of survival the concordance
/// index; of properties the area under the ROC curve and the average precision of each. For each pair of views the sum
/// correlation of the canonical variates whose maps were fitted on training data; with `retrieval`, for each ordered
/// pair, recall at 1, 5 and 10, median rank and mean reciprocal rank of a sample of the first among those of the second
/// (cosine of projections). Throws InputError when the labels are of other classes than the model's, or `data` has
/// other targets.
std::vector<Score> model_scores(const FittedModel& model, const Dataset& data, const Context& context,
                                bool retrieval = false);

/// How well one view predicts the labels (accuracy), or without labels the first target (head_score). NaN: nothing to
/// measure. `data` as match_views returns it.
double view_score(const FittedModel& model, const Dataset& data, Index view, const Context& context);

/// Correlations (c) of the canonical variates of a pair of views on the samples of `views` that have both; empty with
/// fewer than three of them.
Vector<double> canonical_correlations(const FittedModel& model, const CanonicalPair& pair, const Views& views,
                                      const Context& context);

}  // namespace tocca
