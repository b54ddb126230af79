// NumPy's .npz files: zip archives of .npy files.
#pragma once

#include <armadillo>
#include <croquis/io/npy.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The array that is a member of an .npz file, stored or deflated. "q" means the member q.npy, or Q.npy if there is no
/// q.npy. The member is read once completely, to check its checksum.
/// Throws: std::invalid_argument as parse_npy, with the name of the member; if the file is not a zip archive or has no
///   such member (the message lists its members); and if the member is damaged: its checksum or size differs from that
///   in the archive, or it claims more bytes than deflate could have compressed into its size.
StoredArray npz_array(const SharedBytes& source, const std::string& member);

/// The names of the arrays in an .npz file, in its order. Throws std::invalid_argument if it is not a zip archive.
std::vector<std::string> npz_names(const SharedBytes& source);

/// The matrices of such an array, one for each head.
std::vector<arma::mat> read_npz(const std::string& path, const std::string& member);

/// The same from the bytes of a file. `name` is used in messages.
std::vector<arma::mat> parse_npz(std::string_view bytes, const std::string& name, const std::string& member);

}  // namespace croquis
