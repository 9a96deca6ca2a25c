/// Small pieces that HTML and SVG share.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tocca::detail {

/// Text as HTML or XML: & < > " ' become entities.
std::string escape_markup(std::string_view text);

/// Muted colours that keep their contrast on white and on near-black; used again from the first when they run out.
constexpr std::array<std::string_view, 10> kPalette{"#4e7fb5", "#d08345", "#4f9d76", "#c0606a", "#8b72b3",
                                                    "#3d9aa1", "#b0913c", "#a2725c", "#c2779f", "#93a04a"};
constexpr std::string_view palette(std::size_t i) { return kPalette[i % kPalette.size()]; }

}  // namespace tocca::detail
