#include "tocca/methods/resolve.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca {
namespace {

template <class Part>
using Words = std::pair<std::string_view, Part>;

constexpr Words<Agreement> kAgreements[] = {
    {"none", Agreement::none}, {"l2", Agreement::l2}, {"trace-norm", Agreement::trace_norm}};
constexpr Words<bool> kDecorrelations[] = {{"none", false}, {"soft", true}};
constexpr Words<bool> kReconstructions[] = {{"none", false}, {"decoder", true}};
constexpr Words<bool> kPretrainings[] = {{"none", false}, {"trace-norm", true}};

// "auto" leaves the part as it is.
template <class Part, std::size_t N>
void replace(Part& part, const std::string& word, const Words<Part> (&words)[N]) {
  for (const auto& [name, value] : words) {
    if (name == word) part = value;
  }
}

[[noreturn]] void refuse(const Method& method, const std::string& what) {
  throw InputError("options", fmt::format("method '{}': {}", method.name, what));
}

void require_network(const Method& method, const Options& options) {
  const Options usual;
  const auto changed = [&](std::string Options::*part) { return options.*part != usual.*part; };
  for (const auto& [name, part] : {std::pair{"projection", &Options::projection},
                                   {"agreement", &Options::agreement},
                                   {"decorrelation", &Options::decorrelation},
                                   {"pretraining", &Options::pretraining},
                                   {"reconstruction", &Options::reconstruction}}) {
    if (!changed(part)) continue;
    refuse(method, fmt::format("{} = {} is a part of a network, which it does not have; take a deep method", name,
                               options.*part));
  }
}

void replace_task(Method& method, const Options& options) {
  if (options.task == "auto") return;
  const TaskRow& task = find_task(options.task);
  const bool classes = task.name == "classification";
  if (method.family != Family::deep) {
    if (!classes) refuse(method, fmt::format("task '{}' needs a network; take tocca-w or nn", task.name));
    return;
  }
  if (method.task == Task::none) {
    if (!classes) refuse(method, fmt::format("task '{}': it learns without a task; take tocca-w or nn", task.name));
    return;
  }
  if (method.task != Task::heads && method.task != task.loss) {
    refuse(method, fmt::format("task '{}' would be another method's; take tocca-nd with agreement and projection set",
                               task.name));
  }
  method.task = task.loss;
  method.clusters = task.name == "clustering";
  method.needs_labels = task.labels.has_value();
  if (task.loss == Task::lda) method.classifier = Classifier::lda;
}

// Why the parts of a recipe do not go together.
void check_mix(const Method& method, Index views) {
  const bool trace_norm = method.agreement == Agreement::trace_norm || method.pretraining;
  if (method.projection == Projection::cca && views != 2) {
    refuse(method, fmt::format("projection = cca maps two views, got {}; take whiten", views));
  }
  if (method.projection == Projection::cca && !method.shared_head) {
    refuse(method, "projection = cca needs a space that views share; take tocca-nd");
  }
  if (trace_norm && (views < 2 || !method.shared_head)) {
    refuse(method, "the trace norm needs two views in a space they share; take tocca-nd with two views");
  }
  if (method.task == Task::ranking && (views < 2 || !method.shared_head)) {
    refuse(method, "task retrieval needs two views in a space they share; take tocca-w with two views");
  }
  if (method.agreement == Agreement::l2 && !method.shared_head) {
    refuse(method, "agreement = l2 needs a space that views share; take tocca-nd");
  }
  if (method.clusters && views > 1 && !method.shared_head) {
    refuse(method, "task clustering needs one view, or a space that views share; take tocca-nd");
  }
  if (method.task == Task::none && method.agreement == Agreement::none) {
    refuse(method, "without a task and without agreement there is nothing to learn; set agreement");
  }
  if (method.task == Task::none && method.agreement == Agreement::l2 && !method.decorrelation &&
      method.projection == Projection::identity) {
    refuse(method,
           "agreement = l2 alone is best where all projections are the same; set decorrelation = soft or "
           "projection = whiten");
  }
}

}  // namespace

Method resolve(const Options& options, Index views) {
  Method method = find_method(options.method);
  replace_task(method, options);
  if (options.prediction == "joint" && method.family == Family::sparse_pls) {
    refuse(method, "prediction = joint: it predicts by its own regression; take another method");
  }
  // What a sample without every view is predicted by, where the method has no head: the same kind as of the others.
  if (options.prediction == "joint" && method.family != Family::linear_classifier) method.classifier = Classifier::lda;
  if (method.family != Family::deep) {
    require_network(method, options);
    return method;
  }
  method.projection = parse_projection(options.projection).value_or(method.projection);  // none for "auto"
  replace(method.agreement, options.agreement, kAgreements);
  replace(method.decorrelation, options.decorrelation, kDecorrelations);
  replace(method.pretraining, options.pretraining, kPretrainings);
  replace(method.reconstruction, options.reconstruction, kReconstructions);
  if (options.private_components > 0 && !method.reconstruction) {
    refuse(method,
           "private_components would learn nothing without a decoder that reads them; set reconstruction = "
           "decoder");
  }
  if (options.mixup > 0 && method.task != Task::heads) {
    refuse(method, "mixup mixes the targets of heads, which this task has not; set mixup = 0");
  }
  check_mix(method, views);
  return method;
}

std::vector<double> parse_numbers(std::string_view option, std::string_view text, double least) {
  std::vector<double> numbers;
  bool more = !text.empty();
  while (more) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = parse_number(text.substr(0, comma));
    if (!number || !(*number >= least) || !std::isfinite(*number)) {
      throw InputError("options", fmt::format("{}: got '{}', need numbers of at least {} with commas between, such as "
                                              "1,2",
                                              option, text.substr(0, comma), least));
    }
    numbers.push_back(*number);
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

Index views_of(const Options& options, const Dataset& data) {
  return options.fusion == "early" ? 1 : data.views.count();
}

}  // namespace tocca
