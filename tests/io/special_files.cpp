// Paths at which there is no regular file: every reader refuses them in one line, and none waits.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <croquis/io/array_file.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npz.hpp>
#include <croquis/io/safetensors.hpp>
#include <croquis/io/torch_archive.hpp>
#include <croquis/models/model_config.hpp>
#include <croquis/models/wordpiece.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Reader = std::function<void(const std::string& path)>;

const std::vector<std::pair<const char*, Reader>> kReaders = {
    {"bytes", [](const std::string& path) { read_bytes(path); }},
    {"csv", [](const std::string& path) { read_csv(path); }},
    {"npy", [](const std::string& path) { read_npy(path); }},
    {"npy heads", [](const std::string& path) { read_npy_heads(path); }},
    {"npy size", [](const std::string& path) { npy_size(path); }},
    {"npy rows", [](const std::string& path) { read_npy_rows(path, 0, 1); }},
    {"npz", [](const std::string& path) { read_npz(path, "q"); }},
    {"safetensors", [](const std::string& path) { SafeTensors tensors(path); }},
    {"array", [](const std::string& path) { named_array(path, "q"); }},
    {"torch", [](const std::string& path) { TorchArchive archive(bytes_of_file(path)); }},
    {"configuration", [](const std::string& path) { read_model_config(path); }},
    {"vocabulary", [](const std::string& path) { WordPiece vocabulary(path); }},
};

void check_all(const std::string& path, const std::string& why) {
  for (const auto& reader : kReaders) {
    INFO("reader := ", std::string(reader.first));
    REQUIRE(refusal([&] { reader.second(path); }) == path + ": " + why);
  }
}

}  // namespace

TEST_CASE("special files: a FIFO is refused by every reader, with a writer and without") {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string(), link = (folder / "link").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE(symlink(pipe.c_str(), link.c_str()) == 0);
  const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(writer >= 0);
  REQUIRE(write(writer, "\x93NUMPY", 6) == 6);
  check_all(pipe, "is not a regular file");
  close(writer);
  check_all(pipe, "is not a regular file");
  check_all(link, "is not a regular file");
}

TEST_CASE("special files: folders, devices, sockets and paths that lead nowhere are refused by every reader") {
  const TemporaryFolder folder;
  const std::string loop = (folder / "loop").string(), socket_path = (folder / "s").string();
  check_all(folder.path().string(), "is a folder, not a file");
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/random"}) check_all(device, "is not a regular file");
  REQUIRE(symlink(loop.c_str(), loop.c_str()) == 0);
  check_all(loop, "cannot be opened: Too many levels of symbolic links");
  check_all((folder / "missing").string(), "cannot be opened: No such file or directory");
  check_all("", "cannot be opened: No such file or directory");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(socket_path.size() < sizeof address.sun_path);
  std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  check_all(socket_path, "is not a regular file");
  close(listener);
}

TEST_CASE("special files: a file that has more bytes than its size is not taken for an empty one") {
  CHECK(contains(refusal([] { read_bytes("/proc/self/status"); }), "has more than the 0 bytes that are its size"));
  const TemporaryFolder folder;
  write_text(folder / "empty", "");
  CHECK(read_bytes((folder / "empty").string()).empty());
}

TEST_CASE("special files: a name with a NUL is not taken for the name before it") {
  const TemporaryFolder folder;
  write_text(folder / "whole", "text");
  const std::string name = (folder / "whole").string() + std::string(1, '\0') + "else";
  CHECK(contains(refusal([&] { read_bytes(name); }), "whole?else: is no name of a file: it has a NUL"));
}

TEST_CASE("special files: readers leave no file open") {
  const TemporaryFolder folder;
  const auto lowest = [] {
    const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(descriptor);
    return descriptor;
  };
  const int before = lowest();
  const std::string path = (folder / "m.npy").string();
  write_text(path, npy_file("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1), }", std::string(16, '\0')));
  CHECK(npy_size(path).rows == 2);
  CHECK(read_npy_rows(path, 1, 1).n_elem == 1);
  for (const std::string& each : {path, folder.path().string(), std::string("/dev/null")}) {
    for (const auto& reader : kReaders) {
      try {
        reader.second(each);
      } catch (const std::invalid_argument&) {
      }
    }
  }
  CHECK(lowest() == before);
}

TEST_CASE("special files: one that is written to while it is open is refused, and one that is replaced is read on") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "heads.npy";
  const auto file = [](float x) {
    return npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 1), }",
                    bytes_of(std::vector<float>{x, x + 1}));
  };
  write_text(path, file(1));
  const StoredArray array = npy_array(bytes_of_file(path.string()));
  CHECK(array.matrix(0)(0) == 1);

  write_text(folder / "other.npy", file(3));
  std::filesystem::rename(folder / "other.npy", path);
  CHECK(array.matrix(1)(0) == 2);

  const StoredArray of_other = npy_array(bytes_of_file(path.string()));
  const auto opened = std::filesystem::last_write_time(path);
  write_text(path, file(5));
  std::filesystem::last_write_time(path, opened + std::chrono::milliseconds(1));  // a clock may tick less often
  CHECK(refusal([&] { of_other.matrix(1); }) ==
        path.string() + ": was written to while it was being read; start again when it is complete");
}
