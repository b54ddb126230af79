// Times RandBLAS on the sketches of docs/performance.md: 256 x 65536 applied to 65536 x k, column-major, operator drawn
// in every call. Prints kind, precision, k and the median seconds of a call. Build and use: README.md.
#include <RandBLAS.hh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

constexpr std::int64_t kSketchRows = 256, kRows = 65536, kNonzeros = 8;

template <typename T, typename Dist, typename Operator>
void time(const char* kind, const char* precision, const Dist& dist, std::int64_t k) {
  std::vector<T> a(static_cast<std::size_t>(kRows * k)), b(static_cast<std::size_t>(kSketchRows * k));
  RandBLAS::RNGState<> state(1);
  RandBLAS::fill_dense(RandBLAS::DenseDist(kRows, k), a.data(), state);
  const auto call = [&] {
    Operator s(dist, state);
    RandBLAS::sketch_general(blas::Layout::ColMajor, blas::Op::NoTrans, blas::Op::NoTrans, kSketchRows, k, kRows, T(1),
                             s, a.data(), kRows, T(0), b.data(), kSketchRows);
    state = s.next_state;
  };
  call();
  std::vector<double> seconds;
  for (double sum = 0; sum < 0.3 || seconds.size() < 3; sum += seconds.back()) {
    const auto start = std::chrono::steady_clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  std::printf("%s %s %lld %.4g\n", kind, precision, static_cast<long long>(k), seconds[seconds.size() / 2]);
}

template <typename T>
void time_all(const char* precision) {
  for (const std::int64_t k : {64, 512}) {
    time<T, RandBLAS::DenseDist, RandBLAS::DenseSkOp<T>>("gaussian", precision, {kSketchRows, kRows}, k);
    time<T, RandBLAS::SparseDist, RandBLAS::SparseSkOp<T>>("sjlt", precision,
                                                           {kSketchRows, kRows, kNonzeros, RandBLAS::Axis::Short}, k);
  }
}

}  // namespace

int main() {
  time_all<float>("float");
  time_all<double>("double");
}
