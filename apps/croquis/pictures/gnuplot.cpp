#include "pictures/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <croquis/io/utf8.hpp>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "files/escape.hpp"
#include "files/whole_file.hpp"

namespace {

// How gnuplot draws a kind of file; lengths in its own unit.
struct Terminal {
  const char *extension, *name, *rest;
  double width, height;  // of one panel
  int font;
  double line, letter, around;  // of a legend: a line, a letter, and what a plot has above and below
};

constexpr Terminal kTerminals[] = {
    {".svg", "svg", "dynamic background '#ffffff' ", 860, 560, 14, 21, 8.7, 165},
    {".png", "pngcairo", "", 1290, 840, 18, 28, 13, 250},
    {".pdf", "pdfcairo", "", 482, 312, 11, 14.7, 6.6, 130},  // in points
};

const Terminal& terminal_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const Terminal& terminal : kTerminals) {
    if (extension == terminal.extension) return terminal;
  }
  throw std::invalid_argument(fmt::format("{}: a plot ends in .svg, .png or .pdf", path));
}

// Whether an svg, png or pdf has its end: gnuplot does not say that there was no room for it.
bool is_whole(std::string_view picture) {
  constexpr std::size_t tail = 16;
  if (picture.size() < tail) return false;
  const std::string_view end = picture.substr(picture.size() - tail);
  for (const std::string_view mark : {"</svg>", "IEND", "%%EOF"}) {
    if (end.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {}) : descriptor_(::memfd_create("gnuplot", MFD_CLOEXEC)) {
    while (descriptor_ >= 0 && !text.empty()) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    complete_ = descriptor_ >= 0 && text.empty();
    if (descriptor_ >= 0) ::lseek(descriptor_, 0, SEEK_SET);
  }
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool complete() const { return complete_; }
  /// What is in it now.
  std::string text() const {
    std::string all;
    std::array<char, 1 << 16> part{};
    for (ssize_t count = 0;
         (count = ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(all.size()))) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int descriptor_;
  bool complete_ = false;
};

// The exit status of gnuplot, reading `input` and writing `output`; -1 when it cannot be started. -d: no start-up file
// of the user or of the folder is run.
int status_of_gnuplot(int input, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = "gnuplot", defaults = "-d";
  std::array<char*, 3> arguments = {name.data(), defaults.data(), nullptr};
  pid_t id = -1;
  const int failure = ::posix_spawnp(&id, name.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return -1;
  int status = -1;
  while (::waitpid(id, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

// gnuplot names every .svg "Gnuplot", and what it has in place of a description is its own version.
std::string with_words(std::string svg, const PlotWords& words) {
  const std::size_t begin = svg.find("<title>Gnuplot</title>");
  constexpr std::string_view last = "</desc>";
  const std::size_t end = begin == std::string::npos ? begin : svg.find(last, begin);
  if (end == std::string::npos) return svg;
  std::string description = words.shown;
  for (const std::string& line : words.lines) description += (description.empty() ? "" : "; ") + line;
  return svg.replace(begin, end + last.size() - begin,
                     fmt::format("<title>{}</title>\n<desc>{}</desc>", html(words.title), html(description)));
}

// Letters, digits and what means nothing in a gnuplot string.
bool is_plain(unsigned char c) {
  return std::isalnum(c) != 0 ||
         std::string_view(" .,:=_-+/()[]|").find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

void check_plot_name(const std::string& path) {
  terminal_of(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw std::invalid_argument(fmt::format("{}: there is no folder {}", path, folder.string()));
  }
  const WholeFile there(path);
}

std::string plot_header(const Picture& picture, double panels, const PlotLegend& legend) {
  const Terminal& terminal = terminal_of(picture.path);
  constexpr double beside = 0.75;  // of the usual width, the least for a plot without the letters of its legend
  const double lines = terminal.line * static_cast<double>(legend.lines),
               letters = terminal.letter * static_cast<double>(legend.letters);
  double width = std::max(terminal.width, beside * terminal.width + letters),
         height = std::max(panels * terminal.height, terminal.around + lines), scale = 1, shrunk = 1;
  if (picture.size) {
    width = picture.size->width;
    height = picture.size->height;
    scale = std::min(width / terminal.width, height / (panels * terminal.height));
    if (lines > 0) shrunk = std::min(1.0, (height / scale - terminal.around) / lines);
    if (letters > 0) shrunk = std::min(shrunk, (1 - beside / 2) * width / scale / letters);
  }
  const bool in_points = terminal.extension == std::string_view(".pdf");
  constexpr double inch = 72;
  const std::string size = in_points ? fmt::format("{:.3f}in,{:.3f}in", width / inch, height / inch)
                                     : fmt::format("{:.0f},{:.0f}", width, height);
  constexpr double least = 4;  // nobody reads less
  const double font = std::max(least, scale * terminal.font);
  std::string header = fmt::format("set terminal {} size {} {}font 'sans,{:.3g}'\nset encoding utf8\n", terminal.name,
                                   size, terminal.rest, font);
  if (shrunk < 1) header += fmt::format("set key font ',{:.3g}'\n", std::max(least, shrunk * font));
  return header;
}

PlotWords::PlotWords(const Picture& picture, const std::string& measured, const std::vector<std::string>& below,
                     std::string axes)
    : title(picture.title.empty() ? measured : picture.title), shown(std::move(axes)) {
  std::copy_if(below.begin(), below.end(), std::back_inserter(lines),
               [](const std::string& line) { return !line.empty(); });
}

std::string title_text(const PlotWords& words) {
  std::string title = gnuplot_string(words.title);
  for (const std::string& line : words.lines) title += fmt::format(".\"\\n\".{}", gnuplot_string(line));
  return title;
}

std::string plot_title(const PlotWords& words) {
  return fmt::format("set title {} noenhanced\n", title_text(words));
}

std::string picture_title(const PlotWords& words) {
  return fmt::format("set label 1 {} at screen 0.5, screen 1 center offset 0, -1.2 noenhanced\nset tmargin {}\n",
                     title_text(words), 2.5 + static_cast<double>(words.lines.size()));
}

PictureSize parse_picture_size(const std::string& text) {
  constexpr int least = 100, most = 10'000;
  PictureSize size;
  const char *at = text.data(), *end = at + text.size();
  const auto width = std::from_chars(at, end, size.width);
  if (width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, size.height);
    const bool fits = std::min(size.width, size.height) >= least && std::max(size.width, size.height) <= most;
    if (height.ec == std::errc{} && height.ptr == end && fits) return size;
  }
  throw std::invalid_argument(
      fmt::format("--size: '{}' is not WIDTHxHEIGHT, two numbers from {} to {}; give 860x560", text, least, most));
}

PlotStyle plot_style(std::size_t i) {
  constexpr std::size_t colours = 8, markers = 6, dashes = 5;  // each colour once solid, then once with each dash
  return {plot_colour(i), static_cast<int>(5 + 2 * ((i + i / colours) % markers)),
          static_cast<int>(1 + (i / colours) % dashes)};
}

std::string gnuplot_string(const std::string& text) {
  std::string out = "\"";
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t begin = place;
    const std::optional<char32_t> character = croquis::next_character(text, place);
    constexpr char32_t no_character = 0xFFFF;  // and the one before it: no part of XML
    const bool shown = character && (*character | 1) != no_character &&
                       utf8proc_category(static_cast<utf8proc_int32_t>(*character)) != UTF8PROC_CATEGORY_CC &&
                       !(*character == '>' && std::string_view(text).substr(0, begin).ends_with("]]"));
    for (std::size_t i = begin; shown && i < place; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      out += is_plain(byte) ? fmt::format("{:c}", byte) : fmt::format("\\{:03o}", byte);
    }
    if (!shown) out += '?';
  }
  return out + '"';
}

std::string plot_colour(std::size_t i) {
  static constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#aa2266",
                                            "#8a6640", "#3a9bd6", "#2a10b4", "#4a4a00"};
  return colours[i % std::size(colours)];
}

bool is_drawable(double value) {
  constexpr double smallest = 1e-300, largest = 1e300;
  return value >= smallest && value <= largest;
}

void run_gnuplot(const std::string& script, const std::string& path, const PlotWords& words) {
  const MemoryFile input(script), output;
  WholeFile file(path);
  const bool ready = input.complete() && output.complete();
  const int status = ready ? status_of_gnuplot(input.descriptor(), output.descriptor()) : -1;
  const std::string picture = output.text();
  if (status != 0 || !is_whole(picture)) {
    throw std::runtime_error(fmt::format(
        "{}: not drawn; is gnuplot installed (Debian: gnuplot-nox), the folder writable and the disk not full?", path));
  }
  file.write(with_words(picture, words));
  file.publish();
}
