#include "cli/paper.h"

namespace tocca::cli {
namespace {

constexpr Published kPublished[] = {
    // Figure 2, right: left half to right half.
    {"mnist", "n = 1000", "best other method", 0.783},
    {"mnist", "n = 1000", "tocca-sd", 0.867},
    // Table 1, on the authors' own cohort: Basal-like or not from images, grade from genes.
    {"breast", "basal (paper: from images)", "svm", 0.777},
    {"breast", "basal (paper: from images)", "nn", 0.808},
    {"breast", "basal (paper: from images)", "ccal-ce", 0.807},
    {"breast", "basal (paper: from images)", "tocca-w", 0.830},
    {"breast", "basal (paper: from images)", "tocca-sd", 0.818},
    {"breast", "basal (paper: from images)", "tocca-nd", 0.816},
    {"breast", "grade (paper: from genes)", "svm", 0.832},
    {"breast", "grade (paper: from genes)", "nn", 0.830},
    {"breast", "grade (paper: from genes)", "ccal-ce", 0.804},
    {"breast", "grade (paper: from genes)", "tocca-w", 0.862},
    {"breast", "grade (paper: from genes)", "tocca-sd", 0.856},
    {"breast", "grade (paper: from genes)", "tocca-nd", 0.856},
    // Table 2.
    {"xrmb", "LDA of columns and projections", "lda", 0.591},
    {"xrmb", "LDA of columns and projections", "cca", 0.589},
    {"xrmb", "LDA of columns and projections", "rcca", 0.588},
    {"xrmb", "LDA of columns and projections", "dcca", 0.620},
    {"xrmb", "LDA of columns and projections", "softcca", 0.635},
    {"xrmb", "LDA of columns and projections", "dcca-deeplda", 0.633},
    {"xrmb", "LDA of columns and projections", "ccal-ce", 0.642},
    {"xrmb", "LDA of columns and projections", "tocca-w", 0.710},
    {"xrmb", "LDA of columns and projections", "tocca-sd", 0.677},
    {"xrmb", "LDA of columns and projections", "tocca-nd", 0.677},
    {"xrmb", "softmax", "tocca-w", 0.795},
    {"xrmb", "softmax", "tocca-sd", 0.785},
    {"xrmb", "softmax", "tocca-nd", 0.785},
    // Table 3: TOCCA-W with a share of the labels.
    {"xrmb", "100 % of the labels", "tocca-w", 0.795},
    {"xrmb", "30 % of the labels", "tocca-w", 0.762},
    {"xrmb", "10 % of the labels", "tocca-w", 0.745},
    {"xrmb", "3 % of the labels", "tocca-w", 0.684},
    {"xrmb", "1 % of the labels", "tocca-w", 0.637},
    // Table S3: seconds of training on a GTX 1080 Ti with Keras and Theano.
    {"runtime", "MNIST, batch 100, 200 epochs", "tocca-w", 488},
    {"runtime", "MNIST, batch 100, 200 epochs", "tocca-sd", 418},
    {"runtime", "MNIST, batch 30, 200 epochs", "tocca-w", 1071},
    {"runtime", "MNIST, batch 30, 200 epochs", "tocca-sd", 1036},
    {"runtime", "breast cancer, batch 100, 400 epochs", "tocca-w", 103},
    {"runtime", "breast cancer, batch 100, 400 epochs", "tocca-sd", 104},
    {"runtime", "XRMB, batch 50,000, 100 epochs", "tocca-w", 3056},
    {"runtime", "XRMB, batch 50,000, 100 epochs", "tocca-sd", 3446},
};

}  // namespace

std::span<const Published> published() { return kPublished; }

std::optional<double> published(std::string_view experiment, std::string_view cell, std::string_view method) {
  for (const Published& figure : kPublished) {
    if (figure.experiment == experiment && figure.cell == cell && figure.method == method) return figure.value;
  }
  return std::nullopt;
}

}  // namespace tocca::cli
