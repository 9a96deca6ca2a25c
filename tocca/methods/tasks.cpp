#include "tocca/methods/tasks.h"

#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/text.h"

namespace tocca {
namespace {

constexpr TaskRow kTasks[] = {
    {"classification", "one of several classes: softmax cross-entropy", "Couture et al. 2019",
     "accuracy, balanced accuracy, macro F1", Task::heads, TargetKind::classification},
    {"lda", "classes far apart and tight: generalised eigenvalues, then an LDA classifier",
     "Dorfer et al. 2016, DeepLDA", "accuracy, balanced accuracy, macro F1", Task::lda, TargetKind::classification},
    {"regression", "one number or several: squared error", "Gauss 1809", "R squared, RMSE", Task::heads,
     TargetKind::regression},
    {"survival", "time and event: Cox partial likelihood", "Cox 1972, Katzman et al. 2018", "concordance index",
     Task::heads, TargetKind::survival},
    {"multilabel", "properties that hold or not: binary cross-entropy", "Tsoumakas & Katakis 2007",
     "area under ROC, average precision", Task::heads, TargetKind::multilabel},
    {"clustering", "no labels: k-means clusters of the projections, found anew before each epoch, as classes",
     "Caron et al. 2018", "NMI, ARI, accuracy of the best assignment", Task::heads, std::nullopt},
    {"retrieval", "no labels: find the same sample in another view, ranking loss", "Dorfer et al. 2018",
     "recall at 1, 5, 10, median rank, MRR", Task::ranking, std::nullopt},
};

}  // namespace

std::span<const TaskRow> tasks() { return kTasks; }

const TaskRow& find_task(std::string_view name) {
  std::vector<std::string> names;
  for (const TaskRow& task : kTasks) {
    if (task.name == name) return task;
    names.emplace_back(task.name);
  }
  throw InputError("tasks", unknown_name("task", name, names));
}

}  // namespace tocca
