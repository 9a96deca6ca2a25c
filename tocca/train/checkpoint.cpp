#include "tocca/train/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "tocca/core/error.h"

namespace tocca {
namespace {

constexpr const char* kFormatName = "tocca-checkpoint";

}  // namespace

Checkpoint::Checkpoint(CheckpointOptions options)
    : options_(std::move(options)), written_(std::chrono::steady_clock::now()) {}

std::optional<TensorFile> Checkpoint::load() const {
  std::error_code ignored;
  if (!wanted() || !std::filesystem::exists(options_.path, ignored)) return std::nullopt;
  TensorFile state = TensorFile::load(options_.path);
  const auto text = [&](const char* key) {
    const auto found = state.metadata.find(key);
    return found == state.metadata.end() ? std::string() : found->second;
  };
  if (text("format") != kFormatName) {
    throw InputError("checkpoint", fmt::format("{}: not a checkpoint of tocca; name another file", options_.path));
  }
  if (text("fingerprint") != options_.fingerprint) {
    throw InputError("checkpoint", fmt::format("{}: it is of a fit with other data or settings; repeat that fit, or "
                                               "name another file",
                                               options_.path));
  }
  return state;
}

bool Checkpoint::due(bool must) {
  if (!wanted()) return false;
  const Time now = std::chrono::steady_clock::now();
  if (now < next_ && !must) return false;
  begun_ = now;
  return true;
}

void Checkpoint::keep(TensorFile state) {
  constexpr int kTimesItsCost = 20;
  latest_ = std::move(state);
  const auto age = std::chrono::steady_clock::now() - written_;
  if (std::chrono::duration<double>(age).count() >= options_.seconds) write();
  const Time now = std::chrono::steady_clock::now();
  next_ = now + kTimesItsCost * (now - begun_);
}

void Checkpoint::write() {
  if (!latest_) return;
  latest_->metadata["format"] = kFormatName;
  latest_->metadata["fingerprint"] = options_.fingerprint;
  try {
    latest_->save(options_.path);
  } catch (const Error& error) {
    throw CheckpointError("checkpoint", error.what());
  }
  latest_.reset();
  written_ = std::chrono::steady_clock::now();
}

void Checkpoint::remove() {
  latest_.reset();
  std::error_code ignored;
  if (wanted()) std::filesystem::remove(options_.path, ignored);
}

}  // namespace tocca
