#include "tocca/methods/relevance.h"

#include <algorithm>

namespace tocca {
namespace {

bool whitens(const Method& m) {
  return m.projection != Projection::identity || m.agreement == Agreement::trace_norm || m.pretraining || m.final_cca;
}
bool deep(const Method& m) { return m.family == Family::deep; }
bool has_heads(const Method& m) { return deep(m) && m.task == Task::heads; }
bool classifies_linearly(const Method& m) { return m.family == Family::linear_classifier; }
// A linear classifier with a cost of errors predicts the classes.
bool has_cost(const Method& m) {
  const bool own_head = has_heads(m) || m.clusters;
  return !own_head && m.classifier != Classifier::lda && m.family != Family::sparse_pls;
}
bool has_ridge(const Method& m) { return m.ridge; }
bool sparse(const Method& m) { return m.family == Family::sparse_pls; }
bool fuses(const Method& m) { return classifies_linearly(m) || (deep(m) && !m.shared_head); }
bool agrees(const Method& m) { return deep(m) && m.agreement != Agreement::none && m.task != Task::none; }

struct Rule {
  std::string_view option;
  bool (*has_effect)(const Method&);
};

// Options that are not listed have an effect on every method.
constexpr Rule kRules[] = {
    {"n_components", [](const Method& m) { return !classifies_linearly(m); }},
    {"task_weights", has_heads},
    {"hidden_layers", deep},
    {"hidden_size", deep},
    {"dropout", deep},
    {"input_dropout", deep},
    {"input_noise", deep},
    {"image_shift", deep},
    {"image_width", deep},
    {"view_dropout", deep},
    {"mixup", has_heads},
    {"class_weights", has_heads},
    {"label_smoothing", has_heads},
    {"ties", has_heads},
    {"clusters", [](const Method& m) { return m.clusters; }},
    {"batches", deep},
    {"agreement_weight", agrees},
    {"decorrelation_weight", [](const Method& m) { return deep(m) && m.decorrelation; }},
    {"whitening_epsilon", [](const Method& m) { return deep(m) && (whitens(m) || m.task == Task::lda); }},
    {"reconstruction_weight", [](const Method& m) { return m.reconstruction; }},
    {"private_components", [](const Method& m) { return m.reconstruction; }},
    {"private_weight", [](const Method& m) { return m.reconstruction; }},
    {"momentum", deep},
    {"covariance", [](const Method& m) { return deep(m) && whitens(m); }},
    {"cca_basis", [](const Method& m) { return m.projection == Projection::cca; }},
    {"projection", deep},
    {"agreement", deep},
    {"decorrelation", deep},
    {"pretraining", deep},
    {"reconstruction", deep},
    {"weight_decay", deep},
    {"ridge", has_ridge},
    {"shrinkage", has_ridge},
    {"keep", sparse},
    {"design", sparse},
    {"fusion", fuses},
    {"batch_size", deep},
    {"learning_rate", deep},
    {"learning_rate_schedule", deep},
    {"pretrain_epochs", [](const Method& m) { return m.pretraining; }},
    {"margin", [](const Method& m) { return deep(m) && m.task == Task::ranking; }},
    {"epochs", deep},
    {"patience", deep},
    {"svm_cost", has_cost},
};

}  // namespace

bool has_effect(const Method& method, std::string_view option) {
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const Rule& candidate) { return candidate.option == option; });
  return rule == std::end(kRules) || rule->has_effect(method);
}

}  // namespace tocca
