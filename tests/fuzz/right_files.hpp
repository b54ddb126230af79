// Small files that are right, of every form that the readers know.
#pragma once

#include <string>
#include <vector>

std::vector<std::string> right_npy();
std::vector<std::string> right_matrix_market();
std::vector<std::string> right_npz();
std::vector<std::string> right_safetensors();
std::vector<std::string> right_torch();
std::vector<std::string> right_torch_pickle();
std::vector<std::string> right_vocabulary();
std::vector<std::string> right_model_config();
/// An index with two files of Hugging Face's; see read_as_index.
std::vector<std::string> right_index();
/// A config.json, a NUL and a safetensors file.
std::vector<std::string> right_model();
std::vector<std::string> right_tokenizer();
std::vector<std::string> right_integers();
std::vector<std::string> right_choice();
std::vector<std::string> right_csv();
