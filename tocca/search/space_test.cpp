#include "tocca/search/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tocca/core/error.h"
#include "tocca/methods/relevance.h"
#include "tocca/methods/resolve.h"
#include "tocca/search/space_file.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;

std::string value_in(const NamedTexts& settings, const std::string& name) {
  for (const auto& [key, value] : settings) {
    if (key == name) return value;
  }
  return "(absent)";
}

SearchSpace space_of(const std::string& lines) { return parse_space("[space]\n" + lines, "s.toml"); }

TEST(TrialSampler, DrawsFromRangesAsTheySay) {
  const TrialSampler sampler(space_of("learning_rate = { log_uniform = [1e-4, 1e-2] }\n"
                                      "dropout = { uniform = [0.1, 0.5] }\n"
                                      "hidden_layers = { integer = [0, 4] }\n"
                                      "hidden_size = { log_integer = [50, 500] }\n"),
                             3);
  EXPECT_EQ(sampler.size(), 0);
  constexpr int kDraws = 2000;
  int small_rate = 0, small_size = 0;
  double dropout = 0;
  std::vector<int> layers(5, 0);
  for (Index t = 0; t < kDraws; ++t) {
    const NamedTexts settings = sampler.draw(t);
    const double rate = std::stod(value_in(settings, "learning_rate"));
    const int size = std::stoi(value_in(settings, "hidden_size"));
    const double d = std::stod(value_in(settings, "dropout"));
    ASSERT_TRUE(rate >= 1e-4 && rate <= 1e-2 && size >= 50 && size <= 500 && d >= 0.1 && d <= 0.5);
    small_rate += rate < 1e-3 ? 1 : 0;
    small_size += size < 158 ? 1 : 0;  // √(50 · 501)
    dropout += d / kDraws;
    ++layers.at(std::stoul(value_in(settings, "hidden_layers")));
  }
  // Five standard errors of each figure.
  EXPECT_NEAR(small_rate, kDraws / 2, 5 * std::sqrt(kDraws * 0.25));
  EXPECT_NEAR(small_size, kDraws / 2, 5 * std::sqrt(kDraws * 0.25));
  EXPECT_NEAR(dropout, 0.3, 5 * 0.4 / std::sqrt(12.0 * kDraws));
  for (const int count : layers) EXPECT_NEAR(count, kDraws / 5, 5 * std::sqrt(kDraws * 0.16));
}

TEST(TrialSampler, OrComesInItsShare) {
  const TrialSampler sampler(space_of("weight_decay = { log_uniform = [1e-6, 1e-3], or = 0, share = 0.3 }\n"), 1);
  int zeros = 0;
  for (Index t = 0; t < 1000; ++t) zeros += value_in(sampler.draw(t), "weight_decay") == "0" ? 1 : 0;
  EXPECT_NEAR(zeros, 300, 5 * std::sqrt(1000 * 0.21));
}

TEST(TrialSampler, DependsOnSeedAndTrialAndOwnOptionAlone) {
  const std::string rate = "learning_rate = { log_uniform = [1e-4, 1e-2] }\n";
  const TrialSampler one(space_of(rate), 7), two(space_of("dropout = { uniform = [0, 0.5] }\n" + rate), 7);
  std::set<std::string> rates;
  std::set<std::uint64_t> seeds;
  for (Index t = 0; t < 20; ++t) {
    EXPECT_EQ(value_in(one.draw(t), "learning_rate"), value_in(two.draw(t), "learning_rate"));
    rates.insert(value_in(one.draw(t), "learning_rate"));
    seeds.insert(one.seed_of(t));
  }
  EXPECT_EQ(rates.size(), 20U);
  EXPECT_EQ(seeds.size(), 20U);
  EXPECT_NE(TrialSampler(space_of(rate), 8).draw(0), one.draw(0));
}

TEST(TrialSampler, GoesThroughASmallSpaceOnce) {
  const SearchSpace space = space_of("batch_size = [16, 32]\nhidden_layers = { integer = [1, 3] }\n");
  const TrialSampler sampler(space, 2);
  ASSERT_EQ(sampler.size(), 6);
  std::set<NamedTexts> seen;
  for (Index t = 0; t < 6; ++t) seen.insert(sampler.draw(t));
  EXPECT_EQ(seen.size(), 6U);
  const TrialSampler ordered(space, 2, true);
  EXPECT_EQ(value_in(ordered.draw(0), "batch_size") + value_in(ordered.draw(0), "hidden_layers"), "161");
  EXPECT_EQ(value_in(ordered.draw(5), "batch_size") + value_in(ordered.draw(5), "hidden_layers"), "323");
}

TEST(SpaceFile, ItsTextReadsBack) {
  for (const SpacePreset& preset : space_presets()) {
    const SearchSpace space = parse_space(std::string(preset.toml), std::string(preset.name));
    const SearchSpace again = parse_space(space.text(), "again");
    EXPECT_EQ(again.text(), space.text()) << preset.name;
    EXPECT_EQ(TrialSampler(again, 4).draw(3), TrialSampler(space, 4).draw(3)) << preset.name;
  }
}

TEST(SpaceFile, SaysWhereAndWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return error_message<InputError>([&] { parse_space(text, "s.toml"); });
  };
  EXPECT_THAT(message("[space]\nlearning_rat = [1]\n"), HasSubstr("[s.toml:2] unknown option 'learning_rat'"));
  EXPECT_THAT(message("[space]\nlearning_rate = { log_uniform = [0, 1] }\n"), HasSubstr("or = 0"));
  EXPECT_THAT(message("[space]\nlearning_rate = { log_uniform = [1e-2, 1e-4] }\n"), HasSubstr("0.01 to 0.0001"));
  EXPECT_THAT(message("[space]\ndropout = { uniform = [0, 1] }\n"), HasSubstr("s.toml:2] dropout: got 1"));
  EXPECT_THAT(message("[space]\nhidden_layers = { uniform = [0, 4] }\n"), HasSubstr("whole number"));
  EXPECT_THAT(message("[space]\nhidden_layers = { integer = [0.5, 4] }\n"), HasSubstr("two whole numbers"));
  EXPECT_THAT(message("[space]\nmethod = { uniform = [0, 4] }\n"), HasSubstr("choice"));
  EXPECT_THAT(message("[space]\nmethod = [\"tocca-x\"]\n"), HasSubstr("tocca-w"));
  EXPECT_THAT(message("[space]\nbatch_size = []\n"), HasSubstr("no values"));
  EXPECT_THAT(message("[space]\nseed = [1, 2]\n"), HasSubstr("no place in a space"));
  EXPECT_THAT(message("[space]\ndropout = { unifrom = [0, 0.5] }\n"), HasSubstr("uniform"));
  EXPECT_THAT(message("[space]\ndropout = { share = 0.5, uniform = [0, 0.5] }\n"), HasSubstr("`or`"));
  EXPECT_THAT(message("[space]\ndropout = 0.5\n"), HasSubstr("list of values"));
  EXPECT_THAT(message("[space]\n"), HasSubstr("nothing in [space]"));
  EXPECT_THAT(message("[spaces]\n"), HasSubstr("space"));
  EXPECT_THAT(message("epochs = 3\n"), HasSubstr("[options] and [space]"));
  EXPECT_THAT(message("[options]\nepochs = 3\n[space]\nepochs = [1, 2]\n"), HasSubstr("given twice"));
  EXPECT_THAT(message("[options]\nepochs = 0\n[space]\nseed = [1]\n"), HasSubstr("[s.toml:2] epochs: got 0"));
  EXPECT_THAT(message("[options]\nseed = 3\n[space]\nepochs = [1, 2]\n"), HasSubstr("give --seed"));
  EXPECT_THAT(message("[space\n"), HasSubstr("[s.toml:1]"));
}

TEST(Space, IsCutToWhatHasAnEffect) {
  const SearchSpace space = parse_space(std::string(find_space_preset("default").toml), "default");
  const auto left = [&](const char* method) {
    Options options;
    options.method = method;
    std::vector<std::string> names;
    for (const Parameter& parameter : restrict_space(space, resolve(options, 2)).parameters) {
      names.push_back(parameter.option);
    }
    return names;
  };
  EXPECT_THAT(left("rcca"), ::testing::ElementsAre("ridge"));
  EXPECT_THAT(left("cca"), ::testing::IsEmpty());
  EXPECT_THAT(left("tocca-w"), ::testing::IsSupersetOf({"whitening_epsilon", "agreement_weight", "dropout"}));
  EXPECT_THAT(left("tocca-w"), ::testing::Not(::testing::Contains("decorrelation_weight")));
  EXPECT_THAT(left("tocca-sd"), ::testing::Contains("decorrelation_weight"));
  EXPECT_THAT(left("nn"), ::testing::Not(::testing::Contains("agreement_weight")));
}

// What one of the methods has no use for another may have.
TEST(Space, ThatVariesTheMethodIsNotCut) {
  const SearchSpace space = space_of("method = [\"tocca-w\", \"rcca\"]\nridge = [0.1, 1]\ndropout = [0, 0.2]\n");
  EXPECT_TRUE(varies_recipe(space));
  EXPECT_EQ(restrict_space(space, find_method("tocca-w")).parameters.size(), 3U);
  EXPECT_FALSE(varies_recipe(space_of("ridge = [0.1, 1]\n")));
}

TEST(Relevance, KnowsOnlyOptionsThatExist) {
  for (const OptionField& field : option_fields()) {
    const bool of_some_method = std::any_of(methods().begin(), methods().end(),
                                            [&](const Method& method) { return has_effect(method, field.name); });
    // Parts that only options bring in.
    if (field.name == "clusters") continue;
    EXPECT_TRUE(of_some_method) << field.name;
  }
}

}  // namespace
}  // namespace tocca
