// Seven of the ten commands that write rows (the others have tests of their own), at a size of a tenth of a second.
#pragma once

#include <croquis/io/csv.hpp>
#include <filesystem>
#include <string>
#include <vector>

inline const std::vector<std::string> kSmallRuns = {
    "error --n 64 --p 8 --methods v-mean,skyformer,performer,skeinformer --features 8,16 --trials 10",
    ("verify --claims sky.cond*,ske.unbiased,ske.jl,lin.thm1.*,lin.jl-norm --input gaussian --n 32 --p 4 --quick "
     "--trials 10"),
    "variance --maps prf,trf --projections iid,haar --norms 1,2 --features 4,16 --trials 9 --p 8 --keys 32",
    "cost --methods skyformer,linformer --n 64,128 --features 8,16 --repeats 2 --warmup 0 --p 8",
    "sketch --input gaussian --n 96 --p 8 --features 8,16 --trials 4 --sketches gaussian,srht,sjlt --landmarks uniform",
    "spectrum --input gaussian --n 64 --p 8",
    "dimension --input gaussian --n 32,64 --p 4 --trials 4",
};

/// A result without what a clock or the kernel measures, and without the number of threads that cost notes.
croquis::CsvTable fixed_table(const std::filesystem::path& file);

/// Its rows in an order of their own.
std::vector<std::vector<std::string>> sorted_rows(const std::filesystem::path& file);
