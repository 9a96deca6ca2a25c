#include "tocca/methods/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tocca/core/error.h"
#include "tocca/core/text.h"

namespace tocca {
namespace {

constexpr double kLarge = 1e9;

const std::vector<OptionField>& fields() {
  using O = Options;
  static const std::vector<OptionField> table = {
      {"method", &O::method, "method, see `tocca methods`"},
      {"task", &O::task, "what the labels are for; auto: classes"},
      {"task_weights", &O::task_weights, "weights of the losses of several tasks, such as 1,0.5; empty: all 1"},
      {"n_components", &O::n_components, "width of the shared space; 0: 50, or what the views have", 0, 1e5},
      {"hidden_layers", &O::hidden_layers, "hidden layers of each encoder", 0, 100},
      {"hidden_size", &O::hidden_size, "units of a hidden layer", 1, 1e6},
      {"dropout", &O::dropout, "dropout rate after each hidden layer", 0, 1, true},
      {"input_dropout", &O::input_dropout, "rate at which values of a view are set to 0 in training", 0, 1, true},
      {"input_noise", &O::input_noise, "standard deviation of noise added to standardised values in training", 0,
       kLarge},
      {"image_shift", &O::image_shift, "pixels by which pictures are shifted in training, at most; needs image_width",
       0, 1000},
      {"image_width", &O::image_width, "pixels in a row of each view's pictures; 0: views are no pictures", 0, 1e6},
      {"view_dropout", &O::view_dropout, "rate at which a view of a sample is left out in training", 0, 1, true},
      {"mixup", &O::mixup, "alpha of mixup among labelled samples; 0: none", 0, 1},
      {"class_weights",
       &O::class_weights,
       "weights of the classes in the loss; balanced: each class counts the same",
       0,
       0,
       false,
       {"none", "balanced"}},
      {"label_smoothing", &O::label_smoothing, "share of a label spread over all classes", 0, 1, true},
      {"ties", &O::ties, "how tied survival times count", 0, 0, false, {"efron", "breslow"}},
      {"clusters", &O::clusters, "clusters of task clustering", 2, 1e6},
      {"label_fraction", &O::label_fraction, "share of the training labels that is used, for experiments", 1e-6, 1},
      {"batches",
       &O::batches,
       "order of an epoch; stratified: every class evenly over the batches",
       0,
       0,
       false,
       {"random", "stratified"}},
      {"agreement_weight", &O::agreement_weight, "weight of the distance between views", 0, kLarge},
      {"decorrelation_weight", &O::decorrelation_weight, "weight of the soft decorrelation (tocca-sd, softcca)", 0,
       kLarge},
      {"whitening_epsilon", &O::whitening_epsilon, "added to covariances before whitening (tocca-w, dcca, ccal)", 1e-12,
       kLarge},
      {"reconstruction",
       &O::reconstruction,
       "decoder of each view (dccae); auto: as the method has it",
       0,
       0,
       false,
       {"auto", "none", "decoder"}},
      {"reconstruction_weight", &O::reconstruction_weight, "weight of the mean squared error of the decoders", 0,
       kLarge},
      {"private_components", &O::private_components, "components of each view that no other view sees", 0, 1e5},
      {"private_weight", &O::private_weight, "weight of the covariance between shared and private components", 0,
       kLarge},
      {"momentum", &O::momentum, "weight of the old running statistic", 0, 1, true},
      {"covariance",
       &O::covariance,
       "statistic that whitening uses (tocca-w, dcca, ccal)",
       0,
       0,
       false,
       {"running", "batch"}},
      {"cca_basis",
       &O::cca_basis,
       "coordinates of the CCA layer (ccal-ce, ccal-rank, projection = cca); aligned: steady from batch to batch",
       0,
       0,
       false,
       {"aligned", "canonical"}},
      {"projection",
       &O::projection,
       "projection of a network; auto: as the method has it",
       0,
       0,
       false,
       {"auto", "identity", "whiten", "cca"}},
      {"agreement",
       &O::agreement,
       "what pulls views together; auto: as the method has it",
       0,
       0,
       false,
       {"auto", "none", "l2", "trace-norm"}},
      {"decorrelation",
       &O::decorrelation,
       "decorrelation loss; auto: as the method has it",
       0,
       0,
       false,
       {"auto", "none", "soft"}},
      {"pretraining",
       &O::pretraining,
       "epochs before the others; auto: as the method has it",
       0,
       0,
       false,
       {"auto", "none", "trace-norm"}},
      {"weight_decay", &O::weight_decay, "adds weight_decay times the sum of squared weights to the loss", 0, kLarge},
      {"ridge", &O::ridge, "added to the diagonal of each covariance (rcca, mcca, gcca, smvcca, mvda)", 0, kLarge},
      {"shrinkage",
       &O::shrinkage,
       "ridge of each view (rcca, mcca, gcca, smvcca, mvda) by estimate instead of `ridge`",
       0,
       0,
       false,
       {"none", "ledoit-wolf"}},
      {"keep", &O::keep, "columns kept in a component (spls-da): a number, or one a view such as 20,5; 0: all"},
      {"design", &O::design, "weight of the links between views (spls-da)", 0, 1},
      {"fusion", &O::fusion, "views each alone, or as one (svm, lda, logistic, nn)", 0, 0, false, {"late", "early"}},
      {"combination",
       &O::combination,
       "what is averaged over the views of a sample",
       0,
       0,
       false,
       {"log-probabilities", "probabilities"}},
      {"view_weights", &O::view_weights, "weights of the views in that average", 0, 0, false, {"equal", "validation"}},
      {"prediction",
       &O::prediction,
       "joint: LDA of columns and projections of all views, where a sample has them",
       0,
       0,
       false,
       {"own", "joint"}},
      {"batch_size", &O::batch_size, "samples of a mini-batch", 2, kLarge},
      {"learning_rate", &O::learning_rate, "step size of Nadam", 1e-12, kLarge},
      {"learning_rate_schedule",
       &O::learning_rate_schedule,
       "how learning_rate changes; cosine: falls to 0 at the end of `epochs`",
       0,
       0,
       false,
       {"cosine", "constant"}},
      {"pretrain_epochs", &O::pretrain_epochs, "epochs of pre-training (ccal-ce, ccal-rank), before `epochs`", 0,
       kLarge},
      {"margin", &O::margin, "margin of the ranking loss, in cosines (ccal-rank)", 0, 2},
      {"epochs", &O::epochs, "passes over the training samples, at most", 1, kLarge},
      {"patience", &O::patience, "epochs without a better validation score before stopping; 0: never stop", 0, kLarge},
      {"validation", &O::validation, "fraction of the samples held out for early stopping", 0, 1, true},
      {"standardize",
       &O::standardize,
       "preprocessing of each view",
       0,
       0,
       false,
       {"zscore", "scale", "center", "none"}},
      {"missing", &O::missing, "single missing values in a view", 0, 0, false, {"error", "mean", "drop"}},
      {"svm_cost", &O::svm_cost, "cost C of the linear SVM and logistic regression; 0: by 5-fold cross-validation", 0,
       kLarge},
      {"seed", &O::seed, "seed of everything random"},
      {"threads", &O::threads, "threads; 0: one per processor", 0, 1024},
      {"device", &O::device, "where to compute", 0, 0, false, {"cpu"}},
  };
  return table;
}

[[noreturn]] void refuse(const OptionField& field, std::string_view value, const std::string& need) {
  throw InputError("options", fmt::format("{}: got {}, need {}", field.name, value, need));
}

void check_number(const OptionField& field, double value) {
  const bool inside = value >= field.least && (field.open_top ? value < field.most : value <= field.most);
  if (!inside) refuse(field, fmt::format("{}", value), allowed_values(field));
}

void check(const OptionField& field, const Options& options) {
  std::visit(
      [&](auto member) {
        const auto& value = options.*member;
        using Type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, std::string>) {
          if (field.choices.empty()) return;
          if (std::find(field.choices.begin(), field.choices.end(), value) == field.choices.end()) {
            refuse(field, "'" + value + "'", "one of " + allowed_values(field));
          }
        } else if constexpr (!std::is_same_v<Type, std::uint64_t>) {
          check_number(field, static_cast<double>(value));
        }
      },
      field.member);
}

template <class T>
T parse(const OptionField& field, std::string_view text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string(text);
  } else {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end) {
      refuse(field, "'" + std::string(text) + "'", std::is_same_v<T, double> ? "a number" : "a whole number");
    }
    return value;
  }
}

}  // namespace

const OptionField& find_option(std::string_view name) {
  std::vector<std::string> names;
  for (const OptionField& field : fields()) {
    if (field.name == name) return field;
    names.emplace_back(field.name);
  }
  throw InputError("options", unknown_name("option", name, names));
}

std::span<const OptionField> option_fields() { return fields(); }

std::string allowed_values(const OptionField& field) {
  if (!field.choices.empty()) return join(field.choices, ", ");
  if (field.most <= field.least) return "";
  return fmt::format("{} to {}{}", field.least, field.open_top ? "less than " : "", field.most);
}

void Options::validate() const {
  for (const OptionField& field : fields()) check(field, *this);
}

void set_option(Options& options, std::string_view name, std::string_view value) {
  const OptionField& field = find_option(name);
  std::visit([&](auto member) { options.*member = parse<std::decay_t<decltype(options.*member)>>(field, value); },
             field.member);
  check(field, options);
}

NamedTexts option_texts(const Options& options) {
  NamedTexts texts;
  for (const OptionField& field : fields()) {
    texts.emplace_back(field.name,
                       std::visit([&](auto member) { return fmt::format("{}", options.*member); }, field.member));
  }
  return texts;
}

}  // namespace tocca
