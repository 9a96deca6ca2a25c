/// The settings of every method, under the same names in C++, on the command line (`--set KEY=VALUE`), in a config file
/// (TOML) and in a model file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tocca/core/matrix.h"
#include "tocca/model/fitted_model.h"

namespace tocca {

/// What n_components = 0 stands for.
constexpr Index kDefaultComponents = 50;

struct Options {
  std::string method = "tocca-w";      ///< a name of methods()
  std::string task = "auto";           ///< auto, classification
  Index n_components = 0;              ///< width of the shared space; 0: 50, or fewer where a linear method has fewer
  Index hidden_layers = 2;             ///< L
  Index hidden_size = 200;             ///< units of a hidden layer
  double dropout = 0;                  ///< rate after each hidden layer
  double input_dropout = 0;            ///< rate at which standardised columns are set to 0 in training
  double input_noise = 0;              ///< standard deviation of noise added to standardised columns in training
  double agreement_weight = 0.1;       ///< λ of the ℓ₂ distance (λ₁ of tocca-sd)
  double decorrelation_weight = 0.01;  ///< λ₂ of tocca-sd
  double whitening_epsilon = 0.1;      ///< added to the covariance (of columns of variance 1) before whitening
  double momentum = 0.99;              ///< weight of the old running statistic
  std::string covariance = "running";  ///< running, batch: what whitening uses
  double weight_decay = 1e-4;          ///< adds weight_decay · Σ‖W‖² to the loss
  double ridge = 0.1;                  ///< r of rcca, mcca, gcca, smvcca, mvda, on standardised views
  Index batch_size = 32;
  double learning_rate = 3e-3;
  std::string learning_rate_schedule = "cosine";  ///< cosine (to 0 after the last epoch), constant
  Index pretrain_epochs = 20;                     ///< of ccal-ce and ccal-rank, before `epochs`
  double margin = 0.5;                            ///< of the ranking loss
  Index epochs = 100;
  Index patience = 20;      ///< epochs without a better validation score; 0: never stop early
  double validation = 0.2;  ///< fraction held out for early stopping when no validation set is given; 0: none
  std::string standardize = "zscore";  ///< zscore, scale, center, none
  std::string missing = "error";       ///< error, mean, drop: single missing values
  double svm_cost = 0;                 ///< C of the linear SVM; 0: chosen by 5-fold cross-validation
  std::uint64_t seed = 0;
  Index threads = 0;  ///< 0: one per processor
  std::string device = "cpu";

  /// Throws InputError naming the option, its value and what is allowed.
  void validate() const;
};

/// One option as a front end sees it.
struct OptionField {
  using Member = std::variant<std::string Options::*, Index Options::*, double Options::*, std::uint64_t Options::*>;

  std::string_view name;
  Member member;
  std::string_view help;
  double least = 0;  ///< numbers: allowed range, both ends included
  double most = 0;
  bool open_top = false;                       ///< numbers: `most` itself is not allowed
  std::vector<std::string_view> choices = {};  ///< texts: allowed values; empty: checked elsewhere
};

/// Every option, in the order shown to users.
std::span<const OptionField> option_fields();

/// What a field allows, as text: "0 to less than 1", "mean, drop"; empty: checked elsewhere.
std::string allowed_values(const OptionField& field);

/// Sets an option from text. Throws InputError for an unknown name (near ones are offered), a value that does not read
/// as its type, or one that is out of range.
void set_option(Options& options, std::string_view name, std::string_view value);
/// Every option as text, as set_option reads it.
NamedTexts option_texts(const Options& options);

}  // namespace tocca
