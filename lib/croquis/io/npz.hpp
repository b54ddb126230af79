// NumPy's .npz files: zip archives of .npy files.
#pragma once

#include <armadillo>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The matrices of a member of an .npz, stored or deflated: "q" is the member q.npy, or Q.npy where there is no q.npy.
/// Throws std::invalid_argument as parse_npy, with the member's name, and when the file is no zip archive, has no such
/// member (the message has those there are), or the member is damaged: its checksum or its size is not what the archive
/// states, or it claims more bytes than deflate could have compressed into its size.
std::vector<arma::mat> read_npz(const std::string& path, const std::string& member);

/// The same from the bytes of a file; `name` stands in the messages.
std::vector<arma::mat> parse_npz(std::string_view bytes, const std::string& name, const std::string& member);

}  // namespace croquis
