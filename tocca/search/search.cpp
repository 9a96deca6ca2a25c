#include "tocca/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tocca/core/error.h"
#include "tocca/data/fingerprint.h"
#include "tocca/methods/relevance.h"
#include "tocca/methods/resolve.h"

namespace tocca {
namespace {

void check(const SearchOptions& search, const SearchData& data) {
  const auto refuse = [](const char* what, auto got, const char* need) {
    throw InputError("search", fmt::format("{}: got {}, need {}", what, got, need));
  };
  search.options.validate();
  search.space.validate();
  require_measurable(search.scoring.metric, data.training);
  if (search.trials < 1) refuse("trials", search.trials, "1 or more");
  if (!search.halving) return;
  if (search.halving->keep < 2) refuse("halving", search.halving->keep, "to keep one of 2 or more");
  if (search.halving->rungs < 2 || search.halving->rungs > 10) refuse("rungs", search.halving->rungs, "2 to 10");
  if (resolve(search.options, views_of(search.options, data.training)).family != Family::deep) {
    throw InputError("search",
                     fmt::format("halving: method '{}' has no epochs to cut short; leave it", search.options.method));
  }
}

// What no settings can mend is found here, in one epoch, rather than by every trial.
void try_data(const SearchData& data, const SearchOptions& search, const Context& context) {
  Options options = search.options;
  options.epochs = options.pretrain_epochs = 1;
  if (options.svm_cost == 0) options.svm_cost = 1;
  Context own = context;
  own.checkpoint.clear();
  own.progress = {};
  own.log = {};
  try {
    fit(data.training, data.validation, options, own);
  } catch (const InputError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // perhaps with other settings
  }
}

// Everything that results depend on, but the number of trials.
NamedTexts describe(const SearchData& data, const SearchOptions& search, const Context& context) {
  NamedTexts texts{{"data", fingerprint(data.training, context)},
                   {"scored on", data.validation != nullptr
                                     ? fmt::format("validation set {}", fingerprint(*data.validation, context))
                                     : search.resampling.text()}};
  texts.emplace_back("metric", search.scoring.metric.text());
  texts.emplace_back("better", search.scoring.metric.goodness(1) > 0 ? "larger" : "smaller");
  texts.emplace_back("svm cost of the protocol", fmt::format("{}", search.scoring.svm_cost));
  texts.emplace_back("order", search.in_order ? "as given" : "random");
  texts.emplace_back("space", search.space.text());
  if (search.halving) {
    texts.emplace_back("halving", fmt::format("1 of {}, {} rungs", search.halving->keep, search.halving->rungs));
    texts.emplace_back("trials", fmt::format("{}", search.trials));  // who goes on depends on them
  }
  const Method method = resolve(search.options, views_of(search.options, data.training));
  const bool every = varies_recipe(search.space);
  for (const auto& [name, value] : option_texts(search.options)) {
    // The held-out samples of a fold stand for those that `validation` would hold out.
    const bool idle = name == "threads" || name == "device" || name == "validation";
    if (!idle && (every || has_effect(method, name))) texts.emplace_back(name, value);
  }
  return texts;
}

// The share of a trial's epochs after which a rung ends.
Index epochs_of_rung(const SearchOptions& search, Index epochs, Index rung) {
  if (!search.halving || rung + 1 >= search.halving->rungs) return 0;
  const double share =
      std::pow(static_cast<double>(search.halving->keep), static_cast<double>(rung + 1 - search.halving->rungs));
  return std::max<Index>(1, static_cast<Index>(std::ceil(share * static_cast<double>(epochs))));
}

constexpr double kWorst = -std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(TrialStore& store, const std::string& name, const SearchData& data, const SearchOptions& search,
         const Context& context)
      : store_(store), name_(name), data_(data), search_(search), context_(context) {
    check(search, data);
    if (search.space.parameters.empty()) search_.trials = 1;
    if (data.validation == nullptr) {
      splits_ = resample(data.training, search.resampling, Rng(search.options.seed).split("resampling"));
    }
    if (!store.find_study(name)) try_data(data, search, context);
    study_ = store.study(name, describe(data, search, context));
    add_trials();
  }

  SearchResult run() {
    const Index rungs = search_.halving ? search_.halving->rungs : 1;
    SearchResult result;
    for (Index rung = 0; rung < rungs && !result.interrupted; ++rung) {
      if (rung > 0) promote(rung);
      const TrialWork work{.store = store_,
                           .study = study_,
                           .rung = rung,
                           .limit = search_.trials,
                           .folds = folds(),
                           .title = search_.halving ? fmt::format("{}, rung {}", name_, rung) : name_,
                           .metric = search_.scoring.metric,
                           .run = [this](const TrialRecord& trial, Index fold, const Context& own) {
                             return run_fold(trial, fold, own);
                           }};
      result.interrupted = !run_trials({&work, 1}, context_);
    }
    collect(result);
    return result;
  }

 private:
  [[nodiscard]] Index folds() const { return data_.validation != nullptr ? 1 : static_cast<Index>(splits_.size()); }

  void add_trials() {
    const TrialSampler sampler(search_.space, search_.options.seed, search_.in_order);
    if (sampler.size() > 0) search_.trials = std::min(search_.trials, sampler.size());
    std::vector<NewTrial> trials;
    for (Index t = 0; t < search_.trials; ++t) trials.push_back({t, 0, sampler.draw(t), sampler.seed_of(t)});
    store_.add(study_, trials);
  }

  // With histories, which a fold that ended early takes along.
  [[nodiscard]] std::vector<TrialRecord> of_rung(Index rung) const {
    std::vector<TrialRecord> trials = store_.trials(study_, true);
    std::erase_if(trials, [&](const TrialRecord& t) { return t.rung != rung || t.number >= search_.trials; });
    return trials;
  }

  // The best of the rung before go on; equally good ones by their number.
  void promote(Index rung) {
    std::vector<TrialRecord> trials = of_rung(rung - 1);
    const auto keep = static_cast<std::size_t>((static_cast<Index>(trials.size()) + search_.halving->keep - 1) /
                                               search_.halving->keep);
    std::erase_if(trials, [](const TrialRecord& t) { return t.state != TrialState::finished; });
    std::stable_sort(trials.begin(), trials.end(),
                     [this](const TrialRecord& a, const TrialRecord& b) { return goodness(a) > goodness(b); });
    for (std::size_t t = keep; t < trials.size(); ++t) store_.forget_checkpoints({study_, 0, trials[t]}, folds());
    if (trials.size() > keep) trials.resize(keep);
    std::vector<NewTrial> next;
    before_.clear();
    for (TrialRecord& t : trials) {
      next.push_back({t.number, rung, t.settings, t.seed});
      before_[t.number] = std::move(t.folds);
    }
    store_.add(study_, next);
  }

  [[nodiscard]] double goodness(const TrialRecord& trial) const { return search_.scoring.metric.goodness(trial.value); }

  // A fold that ended before its rung did, by early stopping, stays as it is.
  [[nodiscard]] std::optional<FoldRecord> ended_before(const TrialRecord& trial, Index fold) const {
    const auto folds = before_.find(trial.number);
    if (folds == before_.end()) return std::nullopt;
    for (const FoldRecord& record : folds->second) {
      if (record.fold == fold && record.status != name_of(TrainStatus::paused)) return record;
    }
    return std::nullopt;
  }

  FoldRecord run_fold(const TrialRecord& trial, Index fold, const Context& given) const {
    if (auto ended = ended_before(trial, fold)) return *std::move(ended);
    Options options = options_of(search_, trial);
    options.seed += static_cast<std::uint64_t>(fold);
    Context context = given;
    context.pause_after = static_cast<int>(epochs_of_rung(search_, options.epochs, trial.rung));
    if (data_.validation != nullptr) {
      return fit_fold({data_.training, data_.validation, *data_.validation, options, search_.scoring}, nullptr,
                      context);
    }
    const Split& split = splits_[static_cast<std::size_t>(fold)];
    const Dataset training = data_.training.select(split.train);
    const Dataset held_out = data_.training.select(split.test);
    return fit_fold({training, &held_out, held_out, options, search_.scoring}, nullptr, context);
  }

  void collect(SearchResult& result) const {
    std::map<Index, TrialRecord> furthest;  // trials come by rung
    for (TrialRecord& trial : store_.trials(study_)) {
      if (trial.number < search_.trials) furthest.insert_or_assign(trial.number, std::move(trial));
    }
    double best = kWorst;
    Index furthest_rung = 0;
    for (auto& [number, trial] : furthest) {
      if (trial.state == TrialState::failed) ++result.failed;
      const bool counts = trial.state == TrialState::finished && goodness(trial) > kWorst;
      if (counts && (trial.rung > furthest_rung || (trial.rung == furthest_rung && goodness(trial) > best))) {
        best = goodness(trial);
        furthest_rung = trial.rung;
        result.best = result.trials.size();
      }
      result.trials.push_back(std::move(trial));
    }
    if (!result.best && !result.interrupted) result.reason = reason_of(result);
  }

  // Why no trial has a value.
  [[nodiscard]] std::string reason_of(const SearchResult& result) const {
    for (const TrialRecord& trial : result.trials) {
      if (trial.state == TrialState::failed) {
        return fmt::format("no trial could be scored; trial {}: {}", trial.number, trial.reason);
      }
    }
    return fmt::format("no trial could be scored: method '{}' has no {} on these data; choose another metric",
                       search_.options.method, search_.scoring.metric.text());
  }

  TrialStore& store_;
  const std::string& name_;
  SearchData data_;
  SearchOptions search_;
  const Context& context_;
  std::vector<Split> splits_;
  std::map<Index, std::vector<FoldRecord>> before_;  // of the trials that went on, in the rung before
  TrialStore::Study study_ = 0;
};

}  // namespace

SearchResult run_search(TrialStore& store, const std::string& study, const SearchData& data,
                        const SearchOptions& search, const Context& context) {
  return Search(store, study, data, search, context).run();
}

Options options_of(const SearchOptions& search, const TrialRecord& trial) {
  Options options = search.options;
  for (const NamedTexts* texts : {&search.space.options, &trial.settings}) {
    for (const auto& [name, value] : *texts) set_option(options, name, value);
  }
  options.seed = trial.seed;
  return options;
}

void prepare_refit(Options& options, const TrialRecord& trial, Context& context) {
  if (options.view_weights != "validation") options.validation = 0;
  options.patience = 0;
  double epochs = 0;
  for (const FoldRecord& fold : trial.folds) epochs += static_cast<double>(fold.best_epoch);
  if (!trial.folds.empty()) epochs /= static_cast<double>(trial.folds.size());
  context.pause_after = static_cast<int>(std::lround(epochs));
}

FitResult refit(const Dataset& data, const SearchOptions& search, const TrialRecord& trial, const Context& context) {
  Options options = options_of(search, trial);
  Context own = context;
  prepare_refit(options, trial, own);
  FitResult result = fit(data, nullptr, options, own);
  if (result.summary.status != TrainStatus::paused) return result;
  result.summary.status = TrainStatus::completed;
  result.summary.message =
      fmt::format("completed the {} of {} epochs that were best in a search", result.summary.epochs, options.epochs);
  for (auto& [name, value] : result.model.provenance) {
    if (name == "status") value = name_of(result.summary.status);
    if (name == "message") value = result.summary.message;
  }
  return result;
}

}  // namespace tocca
