/// The training loop: mini-batches, validation, early stopping, progress, interruption.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/data/views.h"
#include "tocca/model/network.h"
#include "tocca/train/checkpoint.h"
#include "tocca/train/epoch_record.h"
#include "tocca/train/step.h"

namespace tocca {

enum class Schedule {
  constant,
  cosine  ///< half a period of a cosine, from learning_rate in the first step to 0 after the last epoch
};

/// What the learning rate is multiplied with when a share `done` (0 to 1) of the epochs is over.
double learning_rate_factor(Schedule schedule, double done);

struct TrainOptions {
  Objective objective;
  NadamOptions nadam;
  Schedule schedule = Schedule::constant;  ///< of the learning rate
  Index batch_size = 32;                   ///< ≥ 2
  int epochs = 100;                        ///< ≥ 1
  int pretrain_epochs = 0;                 ///< epochs before that with the objective `pretraining`, ≥ 0
  Objective pretraining = {};
  bool stratified_batches = false;  ///< every class, and the unlabelled, evenly over the batches of an epoch
  double view_dropout = 0;          ///< BatchOptions
  double mixup = 0;                 ///< BatchOptions
  /// Clusters whose numbers are the labels, found anew before each epoch by k-means of the projections (mean over a
  /// sample's views): M. Caron et al., Deep clustering for unsupervised learning of visual features, ECCV 2018. Numbers
  /// are kept as far as the clusters overlap, so that the head goes on. 0: the labels of the data set.
  Index clusters = 0;
  CheckpointOptions checkpoint = {};
  int patience = 20;  ///< epochs without a better validation score before stopping; 0: never stop early
};

enum class TrainStatus {
  closed_form,    ///< nothing was iterated
  completed,      ///< all epochs were run
  stopped_early,  ///< no better validation score for `patience` epochs
  interrupted,    ///< the context was cancelled
  paused,         ///< the context's pause_after was reached
  diverged        ///< a loss or parameter was not finite
};
std::string_view name_of(TrainStatus status);

struct TrainSummary {
  TrainStatus status = TrainStatus::closed_form;
  std::string message;       ///< one sentence for the user
  int epochs = 0;            ///< epochs finished
  bool pretraining = false;  ///< it ended in the epochs before the first
  int best_epoch = 0;        ///< the one whose weights were kept; 0: none was finished
  double seconds = 0;
  std::vector<EpochRecord> history;
};

/// What a network learns from: samples and a way to read their standardised rows.
struct TrainingData {
  const Dataset* dataset = nullptr;
  RowReader<float> read;
  RowChange<float> augment = {};
};

/// Trains in place. With validation data (dataset not null) the weights of the best epoch are restored: with heads the
/// one of the highest validation score, the lowest loss among equals (weighted as in training, without smoothing);
/// with clusters the highest sum correlation; with the LDA objective the lowest loss; otherwise
/// the highest sum correlation. Where nothing can be scored the last epoch's are kept. A run that diverges, or is
/// interrupted, keeps the best weights so far, which are finite; those it began with (best_epoch 0) when no epoch
/// ended. With a checkpoint, the state after an epoch is written from time to time and when the run is interrupted; a
/// run that finds one of its own goes on from there, to the same bits as one that was never stopped; one that ends by
/// itself removes it. Same rng, same bits, for any number of threads. Throws InputError: batch size below 2, or with
/// batch covariance not above the number of components; no samples; fewer than 2 samples of a view.
TrainSummary train(Network<float>& network, const TrainingData& training, const TrainingData& validation,
                   const TrainOptions& options, const Rng& rng, const Context& context);

/// Projections (n × d_o) of those samples of a view (each must have it), in blocks of rows over the workers.
Matrix<float> project_samples(const Network<float>& network, Index view, std::span<const Index> samples,
                              const RowReader<float>& read, const Context& context);

}  // namespace tocca
