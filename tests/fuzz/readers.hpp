// One function a reader.
#pragma once

#include <string>

void read_as_npy(const std::string& bytes);
void read_as_matrix_market(const std::string& bytes);
void read_as_npz(const std::string& bytes);
void read_as_safetensors(const std::string& bytes);
void read_as_torch(const std::string& bytes);
void read_as_torch_pickle(const std::string& bytes);
void read_as_vocabulary(const std::string& bytes);
void read_as_model_config(const std::string& bytes);
void read_as_tokenizer(const std::string& bytes);
void read_as_integers(const std::string& bytes);
void read_as_choice(const std::string& bytes);
