#include "tocca/search/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/data/fingerprint.h"
#include "tocca/methods/relevance.h"
#include "tocca/methods/resolve.h"

namespace tocca {
namespace {

class Runner {
 public:
  Runner(TrialStore& store, const Comparison& comparison, const Context& context)
      : store_(store), comparison_(comparison), context_(context) {
    check();
    const std::vector<NewTrial> trials = new_trials();
    for (const std::string& method : comparison.methods) {
      const std::string name = fmt::format("{} {}", comparison.study, method);
      works_.push_back({.store = store,
                        .study = store.study(name, describe(method)),
                        .limit = static_cast<Index>(comparison.splits.size()),
                        .title = name,
                        .unit = "split",
                        .metric = comparison.scoring.metric,
                        .tells_best = false,
                        .run = [this, method](const TrialRecord& trial, Index, const Context& own) {
                          return run_split(method, static_cast<std::size_t>(trial.number), own);
                        }});
      require_same_splits(works_.back(), trials);
      store.add(works_.back().study, trials);
    }
  }

  ComparisonResult run() {
    ComparisonResult result;
    result.interrupted = !run_trials(works_, context_);
    for (const TrialWork& work : works_) {
      result.methods.push_back({method_of(work), trials_of(work), {}, {}});
    }
    for (MethodOutcome& outcome : result.methods) summarise(outcome, result);
    compare(result);
    check_failures(result);
    return result;
  }

 private:
  void check() const {
    if (comparison_.splits.empty()) throw InputError("compare", "there are no splits; ask for at least one");
    std::set<std::string> seen;
    for (const std::string& method : comparison_.methods) {
      find_method(method);
      if (!seen.insert(method).second) throw InputError("compare", fmt::format("method '{}' is given twice", method));
    }
    if (seen.empty()) throw InputError("compare", "there are no methods; name some");
    if (!comparison_.baseline.empty() && !seen.contains(comparison_.baseline)) {
      throw InputError("compare", unknown_name("baseline", comparison_.baseline, comparison_.methods));
    }
    if (comparison_.tune_once && !comparison_.splits[0].validation) {
      throw InputError("compare", "settings are to be searched once for all splits, which needs a validation set");
    }
    comparison_.space.validate();
    check_inner();
    require_measurable(comparison_.scoring.metric, comparison_.splits[0].training);
  }

  // That every training part can be cut as the search inside it will want it.
  void check_inner() const {
    for (std::size_t s = 0; s < comparison_.splits.size() && comparison_.tune > 0; ++s) {
      if (comparison_.splits[s].validation) continue;
      try {
        resample(comparison_.splits[s].training, comparison_.inner, Rng());
      } catch (const InputError& error) {
        throw InputError("compare", fmt::format("the search inside the training part of split {} (--inner-folds): {}",
                                                s + 1, without_place(error.what())));
      }
    }
  }

  [[nodiscard]] SearchSpace space_for(const Options& options) const {
    if (comparison_.tune < 1) return {};
    return restrict_space(comparison_.space, resolve(options, views_of(options, comparison_.splits[0].training)));
  }

  [[nodiscard]] NamedTexts describe(const std::string& method) const {
    NamedTexts texts;
    const Options options = options_for(comparison_, method);
    const SearchSpace space = space_for(options);
    texts.emplace_back("metric", comparison_.scoring.metric.text());
    texts.emplace_back("better", comparison_.scoring.metric.goodness(1) > 0 ? "larger" : "smaller");
    texts.emplace_back("space", space.parameters.empty() ? "" : space.text());
    texts.emplace_back("tune", fmt::format("{}", space.parameters.empty() ? 0 : comparison_.tune));
    texts.emplace_back("tuned on", comparison_.splits[0].validation ? "validation set" : comparison_.inner.text());
    texts.emplace_back("tuned once", comparison_.tune_once ? "yes" : "no");
    texts.emplace_back("order", comparison_.in_order ? "as given" : "random");
    texts.emplace_back("svm cost of the protocol", fmt::format("{}", comparison_.scoring.svm_cost));
    const Method resolved = resolve(options, views_of(options, comparison_.splits[0].training));
    const bool every = varies_recipe(space);
    for (const auto& [name, value] : option_texts(options)) {
      const bool idle = name == "threads" || name == "device";
      if (!idle && (every || has_effect(resolved, name))) texts.emplace_back(name, value);
    }
    return texts;
  }

  // The data of a split are its settings.
  [[nodiscard]] std::vector<NewTrial> new_trials() const {
    std::vector<NewTrial> trials;
    for (std::size_t s = 0; s < comparison_.splits.size(); ++s) {
      const ComparisonSplit& split = comparison_.splits[s];
      Fingerprint print;
      for (const Dataset* part : {&split.training, split.validation ? &*split.validation : nullptr, &split.test}) {
        print.add(part == nullptr ? "" : fingerprint(*part, context_));
      }
      trials.push_back({static_cast<Index>(s), 0, {{"split", print.text()}}, comparison_.options.seed + s});
    }
    return trials;
  }

  void require_same_splits(const TrialWork& work, const std::vector<NewTrial>& trials) const {
    for (const TrialRecord& there : store_.trials(work.study)) {
      const bool ours = there.number < work.limit;
      if (!ours || there.settings == trials[static_cast<std::size_t>(there.number)].settings) continue;
      throw InputError(
          store_.path().empty() ? "compare" : store_.path(),
          fmt::format("split {} of '{}' is there with other samples, labels, groups or values; choose another "
                      "store, or repeat what it was begun with",
                      there.number + 1, comparison_.study));
    }
  }

  // The settings of the best trial of a search inside the training part; nothing: there is nothing to search.
  [[nodiscard]] std::optional<std::pair<SearchOptions, TrialRecord>> tune(const Options& options, std::size_t s,
                                                                          const Context& context) const {
    SearchOptions search{.options = options,
                         .space = space_for(options),
                         .scoring = {comparison_.scoring.metric, 1},
                         .resampling = comparison_.inner,
                         .trials = comparison_.tune,
                         .halving = {},
                         .in_order = comparison_.in_order};
    if (search.space.parameters.empty()) return std::nullopt;
    const ComparisonSplit& split = comparison_.splits[s];
    const SearchData data{split.training, split.validation ? &*split.validation : nullptr};
    Context own = context;
    own.checkpoint.clear();  // the search's trials have their own
    const std::string study = fmt::format("{} {}, split {}: search", comparison_.study, options.method, s);
    SearchResult found;
    try {
      found = run_search(store_, study, data, search, own);
    } catch (const InputError& error) {  // this split's data: a class too few, for instance
      throw TrialFailed(error.what());
    }
    if (found.interrupted) throw Interrupted("compare", "interrupted in the search of settings");
    if (!found.best) throw TrialFailed(found.reason);
    return std::pair{std::move(search), std::move(found.trials[*found.best])};
  }

  FoldRecord run_split(const std::string& method, std::size_t s, const Context& context) const {
    Options options = options_for(comparison_, method);
    options.seed += s;
    const auto chosen =
        comparison_.tune_once ? tune(options_for(comparison_, method), 0, context) : tune(options, s, context);
    std::string settings;
    Context own = context;
    if (chosen) {
      for (const auto& [name, value] : chosen->second.settings) {
        set_option(options, name, value);
        settings += fmt::format("{}{} = {}", settings.empty() ? "" : ", ", name, value);
      }
      if (!comparison_.splits[s].validation) prepare_refit(options, chosen->second, own);
    }
    FoldRecord record = fit_split(options, s, own);
    if (!settings.empty()) record.message += (record.message.empty() ? "" : "; ") + settings;
    return record;
  }

  FoldRecord fit_split(const Options& options, std::size_t s, const Context& context) const {
    const ComparisonSplit& split = comparison_.splits[s];
    FittedModel model;
    const FoldFit fold{split.training, split.validation ? &*split.validation : nullptr, split.test, options,
                       comparison_.scoring};
    FoldRecord record = fit_fold(fold, comparison_.fitted ? &model : nullptr, context);
    if (comparison_.fitted) comparison_.fitted(options.method, s, std::move(model));
    // A refit ends before its last epoch; nothing goes on from there.
    std::error_code ignored;
    if (!context.checkpoint.empty()) std::filesystem::remove(context.checkpoint, ignored);
    return record;
  }

  [[nodiscard]] std::string method_of(const TrialWork& work) const {
    return comparison_.methods[static_cast<std::size_t>(&work - works_.data())];
  }

  [[nodiscard]] std::vector<TrialRecord> trials_of(const TrialWork& work) const {
    std::vector<TrialRecord> trials = store_.trials(work.study);
    std::erase_if(trials, [&](const TrialRecord& trial) { return trial.number >= work.limit; });
    return trials;
  }

  // Scores of the same kind, in the order in which the first split that has them has them.
  void summarise(MethodOutcome& outcome, ComparisonResult& result) const {
    std::vector<double> values;
    std::vector<std::pair<Score, std::vector<double>>> kinds;
    for (const TrialRecord& trial : outcome.splits) {
      if (trial.state == TrialState::failed) ++result.failed;
      if (trial.state != TrialState::finished) continue;
      values.push_back(trial.value);
      for (const Score& score : trial.folds.front().scores) value_list(kinds, score).push_back(score.value);
    }
    outcome.mean = mean_and_standard_error(values);
    const Index n = comparison_.splits[0].training.views.size();
    for (const auto& [what, list] : kinds) {
      result.scores.push_back({outcome.method, n, what, mean_and_standard_error(list)});
    }
  }

  static std::vector<double>& value_list(std::vector<std::pair<Score, std::vector<double>>>& kinds,
                                         const Score& score) {
    const auto same = [&](const auto& kind) {
      const Score& other = kind.first;
      return other.train_view == score.train_view && other.test_view == score.test_view &&
             other.metric == score.metric && other.target == score.target;
    };
    auto found = std::find_if(kinds.begin(), kinds.end(), same);
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {score, {}});
    return found->second;
  }

  // Of the sizes of test and training parts.
  [[nodiscard]] double test_share() const {
    double test = 0, training = 0;
    for (const ComparisonSplit& split : comparison_.splits) {
      test += static_cast<double>(split.test.views.size());
      training += static_cast<double>(split.training.views.size());
    }
    return training > 0 ? test / training : 0;
  }

  void compare(ComparisonResult& result) const {
    const std::string& name = comparison_.baseline.empty() ? comparison_.methods[0] : comparison_.baseline;
    const auto base = std::find_if(result.methods.begin(), result.methods.end(),
                                   [&](const MethodOutcome& outcome) { return outcome.method == name; });
    for (MethodOutcome& outcome : result.methods) {
      if (outcome.method == name) continue;
      std::vector<double> differences;
      for (std::size_t s = 0; s < std::min(outcome.splits.size(), base->splits.size()); ++s) {
        const TrialRecord& ours = outcome.splits[s];
        const TrialRecord& theirs = base->splits[s];
        if (ours.state != TrialState::finished || theirs.state != TrialState::finished) continue;
        differences.push_back(ours.value - theirs.value);
      }
      outcome.difference = corrected_resampled_t_test(differences, test_share());
    }
  }

  // Nothing to show for all the work: why.
  static void check_failures(const ComparisonResult& result) {
    if (result.interrupted || result.failed == 0 || !result.scores.empty()) return;
    for (const MethodOutcome& outcome : result.methods) {
      for (const TrialRecord& trial : outcome.splits) {
        if (trial.state == TrialState::failed) {
          throw Error("compare", fmt::format("every fit failed; {}, split {}: {}", outcome.method, trial.number + 1,
                                             trial.reason));
        }
      }
    }
  }

  TrialStore& store_;
  const Comparison& comparison_;
  const Context& context_;
  std::vector<TrialWork> works_;
};

}  // namespace

Options options_for(const Comparison& comparison, const std::string& method) {
  Options options = comparison.options;
  options.method = method;
  for (const auto& [name, value] : comparison.space.options) set_option(options, name, value);
  const auto own = comparison.options_of.find(method);
  if (own == comparison.options_of.end()) return options;
  for (const auto& [name, value] : own->second) set_option(options, name, value);
  return options;
}

ComparisonResult run_comparison(TrialStore& store, const Comparison& comparison, const Context& context) {
  return Runner(store, comparison, context).run();
}

}  // namespace tocca
