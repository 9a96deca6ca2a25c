/// Views and labels as they are given on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/session.h"
#include "tocca/data/readers.h"
#include "tocca/data/targets.h"
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
  std::string column;  ///< empty: the only one; with commas: several
};
/// "labels.csv:digit", "labels.csv:time,event" or "labels.csv". The text after the last ':' is a column, unless the
/// whole names a file. Errors name the option.
LabelSource parse_labels(const std::string& text, const std::string& option = "--labels");

/// What --view, --labels, --groups and --id say.
struct DataRequest {
  std::vector<std::string> views;
  std::string labels;
  std::string groups;  ///< FILE[:COLUMN]
  std::string id_column;
};
/// The paths of all files in a request, without what they name within a file.
std::vector<std::string> input_files(const DataRequest& request);
enum class LabelUse { none, optional, required };
void add_data_options(CLI::App& app, DataRequest& request, LabelUse labels);
/// --groups, for commands that hold samples out.
void add_groups_option(CLI::App& app, DataRequest& request);

/// A target and the columns of the label file that hold it.
struct TargetSource {
  TargetKind kind = TargetKind::classification;
  std::vector<std::string> columns;  ///< a single empty name: the only column
};

struct LoadedData {
  Views views;
  std::vector<std::string> paths;  ///< (V) with the array in it, where a file holds several
  std::string label_path;          ///< empty: none were asked for
  bool by_id = false;
};
/// Reads and joins the views; what joining has to say goes to the session. Throws InputError.
LoadedData load(const DataRequest& request, Session& session);

/// One column of the label file for each sample.
struct LabelTexts {
  std::string column;
  std::vector<std::string> text;  ///< (n) empty where there is none
};
/// Reads columns of the label file and joins them with the views, in order. Throws InputError, also when one of them is
/// among the columns of a view of the same file.
std::vector<LabelTexts> load_labels(const DataRequest& request, const LoadedData& data,
                                    const std::vector<std::string>& columns, Session& session);
/// The same for a column or columns of another file, given as FILE[:COLUMN,...] to `option`; without names all of them.
std::vector<LabelTexts> load_columns(const std::string& option, const std::string& given, const DataRequest& request,
                                     const LoadedData& data, Session& session);

/// "a,b" → a, b; "" → one empty name.
std::vector<std::string> split_columns(const std::string& text);

/// Views with the labels and targets of the request (the first classification becomes the labels) and the groups.
struct LabelledData {
  Dataset dataset;
  std::string label_column;  ///< of the labels
};
LabelledData load_dataset(const DataRequest& request, const LoadedData& data, const std::vector<TargetSource>& sources,
                          Session& session);

}  // namespace tocca::cli
