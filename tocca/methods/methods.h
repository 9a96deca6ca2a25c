/// The table of methods. A deep method is a recipe of the network's parts, as in the paper's own table.
#pragma once

#include <span>
#include <string_view>

#include "tocca/core/context.h"
#include "tocca/data/views.h"
#include "tocca/linalg/multiview.h"
#include "tocca/methods/options.h"
#include "tocca/model/fitted_model.h"
#include "tocca/train/trainer.h"

namespace tocca {

enum class Family {
  linear_cca,         ///< two views
  linear_multiview,   ///< mcca, gcca, smvcca, mvda
  sparse_pls,         ///< spls-da
  linear_classifier,  ///< svm, lda, logistic: one on the columns of each view
  deep
};

/// What predicts classes from standardised columns, or from the projections of a method without a head.
enum class Classifier { svm, lda, logistic };

struct Method {
  std::string_view name;
  Family family;
  std::string_view title;
  std::string_view objective;  ///< what is optimised, in the paper's symbols
  std::string_view source;
  bool needs_labels = true;
  Index least_views = 1;
  Index most_views = 0;  ///< 0: any number
  // Recipe of a deep method.
  Projection projection = Projection::identity;
  Agreement agreement = Agreement::none;
  bool decorrelation = false;  ///< soft decorrelation loss
  Task task = Task::heads;
  bool clusters = false;  ///< the labels of the heads are clusters found in training
  bool shared_head = true;
  bool pretraining = false;     ///< with the trace norm of A, before the epochs counted
  bool reconstruction = false;  ///< a decoder of each view
  bool final_cca = false;       ///< a linear CCA of the projections ends the fit
  Classifier classifier = Classifier::svm;
  // Linear.
  bool ridge = false;
  MultiviewSolution (*solve)(std::span<const Matrix<double>>, std::span<const int>, const MultiviewOptions&) = nullptr;
};

std::span<const Method> methods();
/// Throws InputError offering near names.
const Method& find_method(std::string_view name);

struct FitResult {
  FittedModel model;
  TrainSummary summary;
};

/// Fits options.method, with the parts of its recipe that options set otherwise (resolve.h), to the labels and targets
/// of `training`. `validation` (may be null) is used for early stopping by deep methods; without it, a stratified
/// part of `training` is held out (options.validation), of whole groups where it has groups. Nothing but `training`
/// enters preprocessing, weights and the final CCA.
///
/// Throws InputError: an option out of range; labels missing, of a single class, or with a class of one sample;
/// a target without values, without events or constant; labels or targets that the method cannot learn; parts of a
/// recipe that do not go together; the wrong number of views; a view with NaN or infinite values; a view that is
/// constant throughout; all samples of one group, where some are to be held out.
/// Numerical trouble (divergence, a reduced rank) is told in the summary and the log. When no
/// epoch was finished there is nothing to return: throws Interrupted, or Error where training diverged.
FitResult fit(const Dataset& training, const Dataset* validation, const Options& options, const Context& context);

}  // namespace tocca
