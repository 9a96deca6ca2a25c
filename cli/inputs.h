/// Views and labels as they are given on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/session.h"
#include "tocca/data/readers.h"
#include "tocca/data/views.h"

namespace CLI {
class App;
}

namespace tocca::cli {

struct NamedPath {
  std::string name;
  std::string path;
};
/// "left=left.csv". Throws InputError unless both parts are there.
NamedPath parse_view(std::string_view text);

struct LabelSource {
  std::string path;
  std::string column;  ///< empty: the only one
};
/// "labels.csv:digit" or "labels.csv". The text after the last ':' is a column, unless the whole names a file.
LabelSource parse_labels(const std::string& text);

/// What --view, --labels and --id say.
struct DataRequest {
  std::vector<std::string> views;
  std::string labels;
  std::string id_column;
};
/// The paths of all files in a request.
std::vector<std::string> input_files(const DataRequest& request);
enum class LabelUse { none, optional, required };
void add_data_options(CLI::App& app, DataRequest& request, LabelUse labels);

struct LoadedData {
  Views views;
  std::vector<std::string> paths;        ///< (V)
  LabelColumn labels;                    ///< as read; an empty path: none were asked for
  std::vector<std::string> label_texts;  ///< (n) joined; empty: none were asked for
  bool by_id = false;
};
/// Reads and joins; what joining has to say goes to the session. Throws InputError.
LoadedData load(const DataRequest& request, Session& session);

}  // namespace tocca::cli
