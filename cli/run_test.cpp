#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "cli/command.h"
#include "cli/testing.h"

namespace tocca::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::lines;
using testing::Outcome;
using ::testing::StartsWith;
using testing::tocca;

// One line that says what is wrong, and nothing on stdout.
void expect_refused(const Outcome& outcome, const std::string& what) {
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("tocca: "), HasSubstr(what)));
  EXPECT_EQ(lines(outcome.err).size(), 1U);
}

TEST(Run, HelpListsEveryCommand) {
  const Outcome help = tocca({"--help"});
  EXPECT_EQ(help.code, kSuccess);
  for (const Command& command : commands()) {
    EXPECT_THAT(help.out, HasSubstr("\n  " + std::string(command.name) + " ")) << command.name;
  }
}

TEST(Run, EveryCommandExplainsItselfWithAnExampleOfItself) {
  for (const Command& command : commands()) {
    const std::string name(command.name);
    EXPECT_THAT(std::string(command.example), StartsWith("tocca " + name + " "));
    const Outcome help = tocca({name, "--help"});
    EXPECT_EQ(help.code, kSuccess);
    EXPECT_THAT(help.out, AllOf(HasSubstr("Example:\n  tocca " + name), HasSubstr("--json"), HasSubstr("--quiet"),
                                HasSubstr("--threads")));
    EXPECT_EQ(tocca({"help", name}).out, help.out);
  }
}

TEST(Run, SaysItsVersion) { EXPECT_THAT(tocca({"--version"}).out, StartsWith("tocca ")); }

TEST(Run, NamesMistakesInTheEnvironment) {
  const std::string command = "TOCCA_MATRIX_UNIT=half '" TOCCA_COMMAND "' methods 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said(1000, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), pipe));
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 2);
  EXPECT_THAT(said, HasSubstr("TOCCA_MATRIX_UNIT: got 'half', need auto, off or emulated"));
}

TEST(Run, NothingToDoIsBadUsage) {
  EXPECT_EQ(tocca({}).code, kBadInput);
  EXPECT_THAT(tocca({}).err, HasSubstr("Usage"));
}

TEST(Run, OffersNearNames) {
  expect_refused(tocca({"transfrom"}), "did you mean transform");
  expect_refused(tocca({"inspect", "x.csv", "--jsn"}), "did you mean --json");
  expect_refused(tocca({"fit", "--vew", "a=b.csv"}), "did you mean --view");
}

TEST(Run, AnEmptyValueIsNotTheNextOption) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"fit", "--model=", "-q"}, {"fit", "--model", ""}, {"fit", "--model", "-q"}}) {
    const Outcome outcome = tocca(testing::with(arguments, {"--view", "a=a.csv"}));
    EXPECT_EQ(outcome.code, kBadInput);
    EXPECT_THAT(outcome.err,
                AnyOf(HasSubstr("[--model] got an empty text"), HasSubstr("[--model] got '-q', which is")));
  }
}

TEST(Run, RefusesBadUsage) {
  expect_refused(tocca({"--json", "methods"}), "after the command");
  expect_refused(tocca({"methods", "surplus"}), "unexpected argument 'surplus'");
  expect_refused(tocca({"fit", "--model", "m"}), "--view");
  expect_refused(tocca({"methods", "--verbose=maybe"}), "maybe");
  expect_refused(tocca({"methods", "--threads", "many"}), "threads: got 'many'");
  expect_refused(tocca({"inspect", "no-such-file.csv"}), "no-such-file.csv");
  expect_refused(tocca({"reproduce", "mnist", "--data", "no-such-folder"}), "train-images-idx3-ubyte.gz");
  expect_refused(tocca({"reproduce", "mnits", "--data", "."}), "unknown experiment 'mnits'");
}

}  // namespace
}  // namespace tocca::cli
