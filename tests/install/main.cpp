// A program as a user of the installed library writes it.
#include <tocca/core/error.h>
#include <tocca/core/rng.h>
#include <tocca/data/embedded.h>
#include <tocca/model/safetensors.h>

#include <iostream>

int main() {
  tocca::Rng rng(7);
  tocca::TensorFile file;
  file.add("numbers", tocca::Matrix<double>{{rng.uniform(), rng.normal()}});
  file.save("numbers.safetensors");
  const bool same = tocca::TensorFile::load("numbers.safetensors").matrix_d("numbers") == file.matrix_d("numbers");
  std::cout << tocca::embedded_digits().size() << " bytes of digits, numbers " << (same ? "kept" : "lost") << "\n";
  return same && !tocca::embedded_digits().empty() ? 0 : 1;
}
