/// Pictures of a model's shared space.
#pragma once

#include <vector>

#include "tocca/core/context.h"
#include "tocca/data/views.h"
#include "tocca/model/fitted_model.h"
#include "tocca/report/report.h"

namespace tocca::cli {

/// For each view a scatter of the samples that have it, coloured by class: the first two canonical variates of the
/// first pair of views, or the first two components of a further view. Nothing for a model without a shared space of
/// two dimensions. At most 2,000 samples are drawn. `data` as match_views returns it.
std::vector<Figure> space_figures(const FittedModel& model, const Dataset& data, const std::string& what,
                                  const Context& context);

}  // namespace tocca::cli
