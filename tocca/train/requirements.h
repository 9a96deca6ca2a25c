/// What a training asks of its data and batches.
#pragma once

#include <vector>

#include "tocca/data/views.h"
#include "tocca/model/network.h"
#include "tocca/train/objective.h"

namespace tocca {

/// The fewest rows of a view that a step can use: two, or with the covariance of the batch one more than components.
/// Throws InputError where batches or a view have fewer.
Index least_rows(const NetworkShape& shape, const Views& views, Index batch_size);

/// After the first epoch. Throws InputError naming a view that was left out of every batch: it would stay as it was
/// drawn.
void require_trained_views(const Network<float>& network, const std::vector<View>& views, Index batch_size,
                           Index least_rows);
/// The same for what ties two views: without a batch with two samples of both it would not be there.
void require_tied_pairs(const Network<float>& network, const std::vector<View>& views, Agreement agreement,
                        Index batch_size);

}  // namespace tocca
