#include "cli/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/testing.h"

namespace tocca::cli {
namespace {

using testing::Files;
using testing::tocca;

pid_t start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TOCCA_COMMAND);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(TOCCA_COMMAND, pointers.data());
    _exit(127);
  }
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Interrupt, TheFirstSetsTheFlag) {
  const InterruptScope scope;
  EXPECT_FALSE(InterruptScope::flag()->load());
  raise(SIGINT);
  EXPECT_TRUE(InterruptScope::flag()->load());
}

TEST(Interrupt, FitSavesTheModelSoFar) {
  using namespace std::chrono_literals;
  const Files files;
  std::vector<std::string> arguments{"fit", "--quiet", "--labels", files.labels(), "--model", files.model()};
  for (const std::string& view : files.both()) arguments.push_back(view);
  const std::string folder = files.dir.file("report");
  const pid_t child =
      start(testing::with(arguments, {"--set", "epochs=1000000", "--set", "patience=0", "--report", folder}));
  ASSERT_GT(child, 0);
  // The folder is made just before training starts.
  for (int i = 0; i < 600 && !std::filesystem::exists(folder); ++i) std::this_thread::sleep_for(100ms);
  std::this_thread::sleep_for(500ms);
  kill(child, SIGINT);
  EXPECT_EQ(exit_code(child), kInterrupted);
  EXPECT_EQ(tocca({"inspect", files.model(), "--json"}).json()["provenance"]["status"], "interrupted");
}

TEST(Interrupt, AnOldModelStaysWhenNoEpochWasFinished) {
  using namespace std::chrono_literals;
  const Files files;
  files.dir.write("model.safetensors", "was here before");
  std::vector<std::string> arguments{"fit", "--quiet", "--labels", files.labels(), "--model", files.model()};
  for (const std::string& view : files.both()) arguments.push_back(view);
  const std::string folder = files.dir.file("report");
  const pid_t child =
      start(testing::with(arguments, {"--method", "ccal-ce", "--set", "pretrain_epochs=1000000", "--report", folder}));
  ASSERT_GT(child, 0);
  for (int i = 0; i < 600 && !std::filesystem::exists(folder); ++i) std::this_thread::sleep_for(100ms);
  std::this_thread::sleep_for(500ms);
  kill(child, SIGINT);
  EXPECT_EQ(exit_code(child), kInterrupted);
  EXPECT_EQ(testing::content(files.model()), "was here before");
}

TEST(Interrupt, WithACheckpointTheSameCommandGoesOnToTheSameModel) {
  using namespace std::chrono_literals;
  const Files files;
  const auto arguments = [&](const std::string& model) {
    std::vector<std::string> words{"fit", "--quiet", "--labels", files.labels(), "--model", files.dir.file(model)};
    for (const std::string& view : files.both()) words.push_back(view);
    return testing::with(words, {"--set", "epochs=400", "--set", "patience=0", "--set", "hidden_size=64"});
  };
  EXPECT_EQ(tocca(arguments("whole")).code, kSuccess);
  const std::string state = files.dir.file("state");
  const auto resumable = testing::with(arguments("resumed"), {"--checkpoint", state, "--report", files.dir.file("r")});
  const pid_t child = start(resumable);
  ASSERT_GT(child, 0);
  for (int i = 0; i < 600 && !std::filesystem::exists(files.dir.file("r")); ++i) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(60ms);
  kill(child, SIGINT);
  const int code = exit_code(child);
  if (code == kInterrupted) {
    EXPECT_TRUE(std::filesystem::exists(state));
  }
  EXPECT_EQ(tocca(resumable).code, kSuccess);
  EXPECT_FALSE(std::filesystem::exists(state));
  EXPECT_EQ(testing::content(files.dir.file("resumed")), testing::content(files.dir.file("whole")));
}

}  // namespace
}  // namespace tocca::cli
