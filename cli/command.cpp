#include "cli/command.h"

#include "tocca/core/error.h"
#include "tocca/core/text.h"

namespace tocca::cli {

std::span<const Command> commands() {
  static const Command table[] = {
      {"demo", "Compare all methods on the halves of small pictures of digits, in less than a minute",
       "tocca demo --out demo", set_up_demo, true},
      {"fit", "Learn from the views in files and write a model",
       "tocca fit --view genes=genes.csv --view image=image.npy --labels patients.csv:subtype --model "
       "model.safetensors",
       set_up_fit, true},
      {"transform", "Project views into the shared space of a model",
       "tocca transform --model model.safetensors --view genes=genes.csv --out projections.csv", set_up_transform},
      {"predict", "Predict classes from any of the views of a model",
       "tocca predict --model model.safetensors --view image=image.npy --out predictions.csv", set_up_predict},
      {"evaluate", "Score a model on samples with known labels",
       "tocca evaluate --model model.safetensors --view image=image.npy --labels patients.csv:subtype",
       set_up_evaluate},
      {"inspect", "Show what is in a model or in a data file", "tocca inspect model.safetensors", set_up_inspect},
      {"methods", "List methods, file formats and, with --verbose, all options", "tocca methods --verbose",
       set_up_methods},
      {"search", "Search for the settings of a method, resumable and with several processes at once",
       "tocca search --view genes=genes.csv --view image=image.npy --labels patients.csv:subtype --trials 50 --store "
       "search.db --best model.safetensors",
       set_up_search, true},
      {"compare", "Compare methods on the same splits of your data, with settings searched inside each training part",
       "tocca compare --view genes=genes.csv --view image=image.npy --labels patients.csv:subtype --methods "
       "rcca,svm,tocca-w --splits 8 --tune 20 --store compare.db",
       set_up_compare, true},
      {"reproduce", "Repeat an experiment of the paper and show its figures beside",
       "tocca reproduce mnist --data mnist --n 1000 --methods rcca,tocca-w,tocca-sd", set_up_reproduce, true},
      {"bench", "Time training steps against this machine's own matrix products", "tocca bench --case mnist",
       set_up_bench},
  };
  return table;
}

const Command& find_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  throw InputError("command line", unknown_name("command", name, names));
}

}  // namespace tocca::cli
