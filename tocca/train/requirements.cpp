#include "tocca/train/requirements.h"

#include <fmt/format.h>

#include "tocca/core/error.h"

namespace tocca {

Index least_rows(const NetworkShape& shape, const Views& views, Index batch_size) {
  const bool inverts = shape.projection != Projection::identity || shape.keeps_pairs();
  const bool batch_covariance = inverts && !shape.whitening.running;
  const Index least = batch_covariance ? shape.components + 1 : 2;
  if (batch_size < least) {
    throw InputError("train", batch_covariance
                                  ? fmt::format("batch_size: got {}, need more than n_components = {} with "
                                                "covariance = batch; or use covariance = running",
                                                batch_size, shape.components)
                                  : fmt::format("batch_size: got {}, need at least 2", batch_size));
  }
  for (const View& view : views.views) {
    if (view.present() >= least) continue;
    throw InputError(
        "train", fmt::format("view '{}': got {} training samples, need at least {}", view.name, view.present(), least));
  }
  return least;
}

void require_trained_views(const Network<float>& network, const std::vector<View>& views, Index batch_size,
                           Index least_rows) {
  for (Index v = 0; v < network.views(); ++v) {
    if (network.statistics[network.encoder(v).batches](0, 0) > 0) continue;
    throw InputError("train", fmt::format("view '{}': no batch of {} has the {} samples of it that a step needs; raise "
                                          "batch_size",
                                          views[static_cast<std::size_t>(v)].name, batch_size, least_rows));
  }
}

void require_tied_pairs(const Network<float>& network, const std::vector<View>& views, Agreement agreement,
                        Index batch_size) {
  for (const PairSlots& pair : network.pairs) {
    const bool layer = network.shape.projection == Projection::cca;
    const bool needed = layer || agreement == Agreement::trace_norm;
    if (!needed || (network.statistics[layer ? pair.weights1 : pair.batches].array() != 0).any()) continue;
    throw InputError("train", fmt::format("views '{}' and '{}': no batch of {} has two samples with both; raise "
                                          "batch_size, or take a method that needs no pairs",
                                          views[pair.u].name, views[pair.v].name, batch_size));
  }
}

}  // namespace tocca
