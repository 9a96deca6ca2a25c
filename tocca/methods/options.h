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
  std::string method = "tocca-w";       ///< a name of methods()
  std::string task = "auto";            ///< auto, or a name of tasks(): what the labels are for
  std::string task_weights = {};        ///< "1,0.5": of the labels' loss and each target's; empty: all 1
  Index n_components = 0;               ///< width of the shared space; 0: 50, or fewer where a linear method has fewer
  Index hidden_layers = 2;              ///< L
  Index hidden_size = 200;              ///< units of a hidden layer
  double dropout = 0;                   ///< rate after each hidden layer
  double input_dropout = 0;             ///< rate at which standardised columns are set to 0 in training
  double input_noise = 0;               ///< standard deviation of noise added to standardised columns in training
  Index image_shift = 0;                ///< pixels by which pictures are shifted in training, at most
  Index image_width = 0;                ///< pixels in a row of a view's pictures, row by row in its columns; 0: none
  double view_dropout = 0;              ///< rate at which a view of a sample is left out of a batch; one stays
  double mixup = 0;                     ///< α of mixup within the labelled samples of a batch, 0 to 1; 0: none
  std::string class_weights = "none";   ///< none, balanced: samples weigh n / (C n_c)
  double label_smoothing = 0;           ///< share of a label spread over all classes
  std::string ties = "efron";           ///< efron, breslow: tied times of survival
  Index clusters = 10;                  ///< of task clustering
  double label_fraction = 1;            ///< share of the training labels that is used, for experiments
  std::string batches = "random";       ///< random, stratified: every class evenly over the batches
  double agreement_weight = 0.1;        ///< λ of the ℓ₂ distance (λ₁ of tocca-sd)
  double decorrelation_weight = 0.01;   ///< λ₂ of tocca-sd
  double whitening_epsilon = 0.1;       ///< added to the covariance (of columns of variance 1) before whitening
  double reconstruction_weight = 0.1;   ///< dccae, or with reconstruction = decoder: of the mean squared error
  std::string reconstruction = "auto";  ///< auto (the method's), none, decoder: a decoder of each view
  Index private_components = 0;         ///< further outputs of each encoder that only its own view's decoder sees
  double private_weight = 1;            ///< of the covariance between shared and private components
  double momentum = 0.99;               ///< weight of the old running statistic
  std::string covariance = "running";   ///< running, batch: what whitening uses
  std::string cca_basis = "aligned";    ///< aligned, canonical: coordinates of the CCA layer
  std::string projection = "auto";      ///< auto (the method's), identity, whiten, cca: of a network
  std::string agreement = "auto";       ///< auto (the method's), none, l2, trace-norm
  std::string decorrelation = "auto";   ///< auto (the method's), none, soft
  std::string pretraining = "auto";     ///< auto (the method's), none, trace-norm
  double weight_decay = 1e-4;           ///< adds weight_decay · Σ‖W‖² to the loss
  double ridge = 0.1;                   ///< r of rcca, mcca, gcca, smvcca, mvda, on standardised views
  std::string shrinkage = "none";       ///< none, ledoit-wolf: the ridge of each view is estimated, `ridge` not used
  std::string keep = "0";               ///< spls-da: columns kept in each component, one number or one a view; 0: all
  double design = 0.1;                  ///< spls-da: weight of the links between views, against 1 to the classes
  std::string fusion = "late";  ///< svm, lda, logistic, nn: late (each view alone), early (one concatenated view)
  std::string combination = "log-probabilities";  ///< log-probabilities, probabilities: what is averaged over views
  std::string view_weights = "equal";  ///< equal, validation: by the accuracy of each view on held-out samples
  std::string prediction = "own";      ///< own, joint: LDA of the columns and projections of all views
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
/// Throws InputError for an unknown name, offering near ones.
const OptionField& find_option(std::string_view name);

/// What a field allows, as text: "0 to less than 1", "mean, drop"; empty: checked elsewhere.
std::string allowed_values(const OptionField& field);

/// Sets an option from text. Throws InputError for an unknown name (near ones are offered), a value that does not read
/// as its type, or one that is out of range.
void set_option(Options& options, std::string_view name, std::string_view value);
/// Every option as text, as set_option reads it.
NamedTexts option_texts(const Options& options);

}  // namespace tocca
