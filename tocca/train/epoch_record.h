/// What is known of an epoch, and the history of a training in a checkpoint.
#pragma once

#include <vector>

#include "tocca/model/safetensors.h"
#include "tocca/train/step.h"

namespace tocca {

/// Means over the batches of an epoch, and where things stand after it.
struct EpochRecord {
  int epoch = 0;  ///< 1, 2, ...
  LossTerms terms;
  double weight_decay = 0;  ///< the weight decay term of the loss
  /// How well the heads predict the validation samples: mean over views, and by weight over heads, of head_score();
  /// NaN without.
  double validation_score = 0;
  double validation_loss = 0;  ///< task term (heads, LDA) on the validation samples; NaN without
  double sum_correlation = 0;  ///< of validation samples after a linear CCA of training projections, mean over pairs
};

/// To a file and back. Throws InputError for a file that holds something else.
void add_history(TensorFile& file, const std::vector<EpochRecord>& history);
std::vector<EpochRecord> read_history(const TensorFile& file);

/// A count that a checkpoint holds, from 0 to `most`. Throws InputError for anything else.
int whole_number(double value, double most);

}  // namespace tocca
