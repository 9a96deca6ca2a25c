#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/methods/methods.h"

namespace tocca {
namespace {

constexpr std::string_view kSeedPaper = "Couture et al. 2019, Deep multi-view learning via task-optimal CCA";

const std::vector<Method>& table() {
  static const std::vector<Method> methods = {
      {.name = "cca",
       .family = Family::linear_cca,
       .title = "canonical correlation analysis",
       .objective = "max sum of correlations of X1 W1 and X2 W2",
       .source = "Hotelling 1936",
       .needs_labels = false,
       .least_views = 2,
       .most_views = 2},
      {.name = "rcca",
       .family = Family::linear_cca,
       .title = "ridge-regularised CCA",
       .objective = "cca with r I added to each covariance",
       .source = "Bilenko & Gallant 2016",
       .needs_labels = false,
       .least_views = 2,
       .most_views = 2,
       .ridge = true},
      {.name = "svm",
       .family = Family::linear_svm,
       .title = "linear support vector machine on each view alone",
       .objective = "squared hinge + 1/2 |w|^2, one versus rest, C by 5-fold cross-validation",
       .source = "Fan et al. 2008, LIBLINEAR"},
      {.name = "nn",
       .family = Family::deep,
       .title = "network on each view alone: the encoder and head of tocca-nd",
       .objective = "Task(A)",
       .source = kSeedPaper,
       .shared_head = false},
      {.name = "tocca-w",
       .family = Family::deep,
       .title = "task-optimal CCA, decorrelated by whitening",
       .objective = "Task(B) + agreement_weight * distance(B1, B2), B = whitened A",
       .source = kSeedPaper,
       .least_views = 2,
       .projection = Projection::whiten,
       .agreement = true},
      {.name = "tocca-sd",
       .family = Family::deep,
       .title = "task-optimal CCA, soft decorrelation",
       .objective =
           "Task(A) + agreement_weight * distance(A1, A2) + decorrelation_weight * sum of decorrelation losses",
       .source = kSeedPaper,
       .least_views = 2,
       .agreement = true,
       .decorrelation = true},
      {.name = "tocca-nd",
       .family = Family::deep,
       .title = "task-optimal CCA, no decorrelation",
       .objective = "Task(A) + agreement_weight * distance(A1, A2)",
       .source = kSeedPaper,
       .least_views = 2,
       .agreement = true},
  };
  return methods;
}

}  // namespace

std::span<const Method> methods() { return table(); }

const Method& find_method(std::string_view name) {
  std::vector<std::string> names;
  for (const Method& method : table()) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  throw InputError("methods", unknown_name("method", name, names));
}

}  // namespace tocca
