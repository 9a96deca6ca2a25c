/// The state of a training in a file, from which it goes on as if it had never stopped.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tocca/core/error.h"
#include "tocca/model/safetensors.h"

namespace tocca {

/// Example:
///     Checkpoint checkpoint({"run.checkpoint", "what data and settings this is of"});
///     if (auto state = checkpoint.load()) restore(*state);
///     ... if (checkpoint.due()) checkpoint.keep(state_after_this_epoch); ...
///     finished ? checkpoint.remove() : checkpoint.write();
/// A state could not be written: not the training's fault.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

struct CheckpointOptions {
  std::string path = {};         ///< empty: nothing is kept
  std::string fingerprint = {};  ///< of data and settings: another one's file is refused
  double seconds = 30;           ///< between two writes
};

class Checkpoint {
 public:
  explicit Checkpoint(CheckpointOptions options);

  [[nodiscard]] bool wanted() const { return !options_.path.empty(); }
  /// The state in the file; nothing where there is no file. Throws InputError for a file of another kind or of another
  /// fingerprint, which stays as it is.
  [[nodiscard]] std::optional<TensorFile> load() const;
  /// Whether to make a state to keep: not so often that making states takes more than a twentieth of the time, unless
  /// one `must` be kept. An interrupted training then repeats a few epochs.
  [[nodiscard]] bool due(bool must = false);
  /// Takes a state; writes it if the last write was long enough ago.
  void keep(TensorFile state);
  /// Writes the state taken last, if it is not yet written. Throws CheckpointError.
  void write();
  /// Removes the file: there is nothing left to go on with.
  void remove();

 private:
  CheckpointOptions options_;
  std::optional<TensorFile> latest_;  // not yet written
  using Time = std::chrono::steady_clock::time_point;
  Time written_, begun_, next_;  // the last write; when the last state was begun; when the next is due
};

}  // namespace tocca
