/// Trials of searches and comparisons in an SQLite file, which any number of processes on one machine may work on at
/// once.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tocca/evaluate/protocol.h"
#include "tocca/model/fitted_model.h"
#include "tocca/train/epoch_record.h"

namespace tocca {

enum class TrialState {
  waiting,  ///< to be done, or begun and given back
  running,
  finished,
  failed  ///< `reason` says why
};
std::string_view name_of(TrialState state);

/// One fit of a trial: a fold of a cross-validation, or a split.
struct FoldRecord {
  Index fold = 0;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< of the metric; NaN: could not be measured
  std::string status;                                       ///< how training ended, see name_of(TrainStatus)
  std::string message;
  Index epochs = 0;
  Index best_epoch = 0;
  double seconds = 0;
  std::vector<Score> scores;  ///< everything that was measured
  std::vector<EpochRecord> history;
};

struct TrialRecord {
  Index number = 0;  ///< 0, 1, ... within its study
  Index rung = 0;    ///< of successive halving; 0 without
  TrialState state = TrialState::waiting;
  std::string reason;
  NamedTexts settings;  ///< the options that were drawn
  std::uint64_t seed = 0;
  double value = std::numeric_limits<double>::quiet_NaN();           ///< mean over the folds
  double standard_error = std::numeric_limits<double>::quiet_NaN();  ///< of that mean; NaN: one fold
  double seconds = 0;                                                ///< over the folds
  std::string version;                                               ///< of the library that ran it
  std::vector<FoldRecord> folds;                                     ///< ascending
};

/// A trial that is to be done.
struct NewTrial {
  Index number = 0;
  Index rung = 0;
  NamedTexts settings;
  std::uint64_t seed = 0;
};

/// Example:
///     TrialStore store("search.db");
///     const auto study = store.study("search", {{"metric", "accuracy"}});
///     store.add(study, trials);
///     while (auto claim = store.claim(study, 0, 50)) {
///       for (...) store.keep_fold(*claim, fold);
///       store.finish(*claim);
///     }
///
/// A trial belongs to whoever claimed it as long as that process lives: claims are renewed every few seconds by a
/// thread of the store. A claim that was not renewed for a minute, or whose process is gone from this machine, is free
/// again, with the folds that it finished. The file is in WAL mode, so it must lie on a local disk. All functions may
/// be called from several threads. They throw Error when the file cannot be read or written (full disk, locked for more
/// than half a minute).
class TrialStore {
 public:
  /// Opens or makes the file; an empty path: in memory, gone with the object. Throws InputError for a file that is not
  /// a trial store, or of a later format.
  explicit TrialStore(const std::string& path);
  ~TrialStore();
  TrialStore(const TrialStore&) = delete;
  TrialStore& operator=(const TrialStore&) = delete;

  using Study = std::int64_t;
  /// The study of that name, made where it is missing. Throws InputError when it is there with another description,
  /// naming the first key that differs with both values.
  Study study(const std::string& name, const NamedTexts& description);
  /// Names and descriptions of all studies, in the order in which they were made.
  [[nodiscard]] std::vector<std::pair<std::string, NamedTexts>> studies() const;
  /// The study of that name, if it is there.
  [[nodiscard]] std::optional<Study> find_study(const std::string& name) const;

  /// Adds trials that are not there yet; those that are stay as they are.
  void add(Study study, std::span<const NewTrial> trials);

  /// A trial that this store holds until it is finished, failed or released.
  struct Claim {
    Study study = 0;
    std::int64_t trial = 0;  ///< row of the table
    TrialRecord record;      ///< with the folds finished by an earlier owner
  };
  /// Takes the lowest-numbered trial that nobody works on, of those below `limit` in a rung. Nothing: there is none.
  std::optional<Claim> claim(Study study, Index rung, Index limit);
  /// Keeps a fold of a claimed trial at once; replaces one of the same number. Returns false where the claim was lost
  /// to another process, which then does the same work.
  bool keep_fold(const Claim& claim, const FoldRecord& fold);
  /// The trial is done. Returns its value, the mean of its folds'; nothing where the claim was lost.
  std::optional<double> finish(const Claim& claim);
  bool fail(const Claim& claim, const std::string& reason);
  /// Gives an interrupted trial back; its folds stay.
  bool release(const Claim& claim);

  /// Trials of a study by rung and number with their folds and scores, and where asked for with the histories.
  [[nodiscard]] std::vector<TrialRecord> trials(Study study, bool with_history = false) const;
  /// Trials below `limit` in a rung that are waiting or running.
  [[nodiscard]] Index unfinished(Study study, Index rung, Index limit) const;

  /// The name of a file for the state of a fold's training, in a folder beside the store that is made where it is
  /// missing. The same in every rung, so that a later one can go on from there. Empty for a store in memory.
  [[nodiscard]] std::string checkpoint(const Claim& claim, Index fold) const;
  /// Removes those files of a trial's folds 0 ... folds − 1: nothing goes on from them.
  void forget_checkpoints(const Claim& claim, Index folds) const;
  [[nodiscard]] const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocca
