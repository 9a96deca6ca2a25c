#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/linalg/mvda.h"
#include "tocca/methods/methods.h"

namespace tocca {
namespace {

using Matrices = std::span<const Matrix<double>>;

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
      {.name = "mcca",
       .family = Family::linear_multiview,
       .title = "multiset CCA of two and more views",
       .objective = "max sum over pairs of views of the covariances of X_v W_v, r I added to each covariance",
       .source = "Kettenring 1971",
       .needs_labels = false,
       .least_views = 2,
       .ridge = true,
       .solve = [](Matrices views, std::span<const int>, const MultiviewOptions& o) { return mcca(views, o); }},
      {.name = "gcca",
       .family = Family::linear_multiview,
       .title = "generalised CCA: a shared variate that all views predict",
       .objective = "max sum over views of the variance of G that X_v W_v explains, r I added to each covariance",
       .source = "Carroll 1968, Kettenring 1971",
       .needs_labels = false,
       .least_views = 2,
       .ridge = true,
       .solve = [](Matrices views, std::span<const int>, const MultiviewOptions& o) { return gcca(views, o); }},
      {.name = "smvcca",
       .family = Family::linear_multiview,
       .title = "supervised multi-view CCA: the classes as a further view of mcca",
       .objective = "mcca of X_1 ... X_V and the one-hot labels",
       .source = "Lee et al. 2015, Singanamalli et al. 2014",
       .ridge = true,
       .solve = smvcca},
      {.name = "mvda",
       .family = Family::linear_multiview,
       .title = "multi-view discriminant analysis",
       .objective = "max between- over within-class scatter of all X_v W_v taken together",
       .source = "Kan et al. 2016",
       .ridge = true,
       .solve = mvda},
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
       .agreement = Agreement::l2},
      {.name = "tocca-sd",
       .family = Family::deep,
       .title = "task-optimal CCA, soft decorrelation",
       .objective =
           "Task(A) + agreement_weight * distance(A1, A2) + decorrelation_weight * sum of decorrelation losses",
       .source = kSeedPaper,
       .least_views = 2,
       .agreement = Agreement::l2,
       .decorrelation = true},
      {.name = "tocca-nd",
       .family = Family::deep,
       .title = "task-optimal CCA, no decorrelation",
       .objective = "Task(A) + agreement_weight * distance(A1, A2)",
       .source = kSeedPaper,
       .least_views = 2,
       .agreement = Agreement::l2},
      {.name = "dcca",
       .family = Family::deep,
       .title = "deep CCA",
       .objective = "-sum of canonical correlations of A1, A2; then a linear CCA",
       .source = "Andrew et al. 2013",
       .needs_labels = false,
       .least_views = 2,
       .agreement = Agreement::trace_norm,
       .task = Task::none,
       .final_cca = true},
      {.name = "softcca",
       .family = Family::deep,
       .title = "deep CCA by soft decorrelation",
       .objective = "distance(A1, A2) + decorrelation_weight * sum of decorrelation losses; then a linear CCA",
       .source = "Chang et al. 2018",
       .needs_labels = false,
       .least_views = 2,
       .agreement = Agreement::l2,
       .decorrelation = true,
       .task = Task::none,
       .final_cca = true},
      {.name = "dcca-deeplda",
       .family = Family::deep,
       .title = "joint deep CCA and deep LDA",
       .objective = "LDA(A) - agreement_weight * sum of canonical correlations of A1, A2; then a linear CCA",
       .source = "Dorfer et al. 2016, as compared with in the paper",
       .least_views = 2,
       .agreement = Agreement::trace_norm,
       .task = Task::lda,
       .final_cca = true},
      {.name = "ccal-ce",
       .family = Family::deep,
       .title = "CCA layer with cross-entropy",
       .objective = "Task(B), B from the CCA layer; pre-trained as dcca",
       .source = "Dorfer et al. 2018, with the paper's task",
       .least_views = 2,
       .most_views = 2,
       .projection = Projection::cca,
       .pretraining = true},
      {.name = "ccal-rank",
       .family = Family::deep,
       .title = "CCA layer with a pairwise ranking loss",
       .objective = "ranking loss of B1, B2 from the CCA layer; pre-trained as dcca",
       .source = "Dorfer et al. 2018",
       .needs_labels = false,
       .least_views = 2,
       .most_views = 2,
       .projection = Projection::cca,
       .task = Task::ranking,
       .pretraining = true},
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
