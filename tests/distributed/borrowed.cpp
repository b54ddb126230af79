// Croquis in a program that has MPI of its own: mpirun starts two to four ranks, which run every test together.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <croquis/attention/exact.hpp>
#include <croquis/distributed/communicator_mpi.hpp>
#include <croquis/distributed/split_methods.hpp>
#include <croquis/distributed/split_scores.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// Even and odd ranks of the host.
class Halves {
 public:
  Halves() : side_(rank_in(MPI_COMM_WORLD) % 2) { MPI_Comm_split(MPI_COMM_WORLD, side_, 0, &comm_); }
  ~Halves() { MPI_Comm_free(&comm_); }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;
  int side() const { return side_; }
  MPI_Comm comm() const { return comm_; }

 private:
  int side_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

SplitHead part_of(const Problem<double>& problem, const Communicator& ranks) {
  const RowRange range = rows_of_rank(problem.n(), ranks.rank(), ranks.size());
  const auto part = [&](const arma::mat& m) -> arma::mat { return m.rows(range.first, range.first + range.count - 1); };
  return {part(problem.Q()), part(problem.K()), part(problem.V()), range.first, problem.n()};
}

int sum_over_world(int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

}  // namespace

// Between finding a message and receiving it Croquis asks for its size. MPI lets a program put a function of its own in
// the place of any of MPI's: this one gives other threads the time to find the same message, where they can.
extern "C" int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return PMPI_Get_count(status, type, count);
}

TEST_CASE("borrowed: halves of the host's ranks work on heads of their own at once") {
  const Halves halves;
  const arma::uword n = halves.side() == 0 ? 61 : 94;  // so that the halves are not in step
  const Problem<double> problem = gaussian_input(Key(1).child(halves.side()), {.n = n, .p = 6, .norm = 2});
  {
    const Communicator ranks = communicator_of(halves.comm());
    CHECK(ranks.rank() == rank_in(halves.comm()));
    CHECK(ranks.size() == size_of(halves.comm()));
    const SplitHead head = part_of(problem, ranks);
    const arma::uvec rows = arma::regspace<arma::uvec>(0, n - 1);
    const arma::mat exact = exact_attention(problem, Target::softmax).output;
    CHECK(arma::approx_equal(split_exact_rows(head, Target::softmax, rows, ranks).output, exact, "absdiff", 1e-13));
    const auto method = split_method("v-mean", {});
    const arma::mat mean = arma::mean(problem.V(), 0);
    for (int i = 0; i < 20 + 30 * halves.side(); ++i) {
      CHECK(arma::approx_equal(method(head, 4, Key(1), ranks).output.row(0), mean, "absdiff", 1e-14));
    }
  }
  CHECK(sum_over_world(1) == size_of(MPI_COMM_WORLD));  // MPI of the host goes on
}

TEST_CASE("borrowed: scores keep the ranks beyond the Communicator that they were made with") {
  const Problem<double> problem = gaussian_input(Key(2), {.n = 40, .p = 4, .norm = 2});
  std::unique_ptr<const SplitScores> scores;
  arma::uword first = 0;
  {
    const Communicator ranks = communicator_of(MPI_COMM_WORLD);
    SplitHead head = part_of(problem, ranks);
    first = head.first;
    scores = std::make_unique<const SplitScores>(std::move(head), Target::softmax, ranks);
  }
  const arma::uword last = first + scores->row_sums().sums.n_elem - 1;
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  const arma::mat own = scores->apply(problem.V().rows(first, last));
  CHECK(arma::approx_equal(own, exact.rows(first, last), "absdiff", 1e-13));
}

TEST_CASE("borrowed: two Communicators of one MPI_Comm and the host itself have messages of their own") {
  const Communicator one = communicator_of(MPI_COMM_WORLD), other = communicator_of(MPI_COMM_WORLD);
  if (one.rank() == 0) {
    for (int to = 1; to < one.size(); ++to) {
      for (int tag = 0; tag < 3; ++tag) MPI_Send("h", 1, MPI_CHAR, to, tag, MPI_COMM_WORLD);
      one.send(to, "of one");
      other.send(to, "of the other");
    }
  } else {
    CHECK(other.receive(0) == "of the other");
    CHECK(!other.poll());
    CHECK(one.receive(0) == "of one");
    CHECK(!one.poll());
    for (int tag = 0; tag < 3; ++tag) {
      char text = ' ';
      MPI_Recv(&text, 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(text == 'h');
    }
  }
}

TEST_CASE("borrowed: threads that poll at once receive every message whole and once") {
  int level = 0;
  MPI_Query_thread(&level);
  REQUIRE(level == MPI_THREAD_MULTIPLE);
  constexpr int messages = 300;
  const Communicator ranks = communicator_of(MPI_COMM_WORLD);
  // Neighbours differ in length: of what one thread has found and another one received, part is missing or too much.
  const auto text_of = [](int i) { return fmt::format("{}{}", i, std::string(i % 7 * 100, '.')); };
  if (ranks.rank() == 0) {
    for (int i = 0; i < messages; ++i) {
      for (int to = 1; to < ranks.size(); ++to) ranks.send(to, text_of(i));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);  // so that there is always a next message while the threads look for one
  if (ranks.rank() == 0) return;
  std::vector<std::atomic<int>> times(messages);
  std::atomic<int> left{messages}, damaged{0};
  const auto take = [&] {
    const auto message = ranks.poll();
    if (!message) return;
    --left;
    const int i = std::atoi(message->second.c_str());
    if (i >= 0 && i < messages && message->second == text_of(i)) {
      ++times[static_cast<std::size_t>(i)];
    } else {
      ++damaged;
    }
  };
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&] {
      try {
        while (left > 0 && damaged == 0) take();
      } catch (const std::exception&) {
        ++damaged;  // cut off
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  CHECK(damaged == 0);
  int once = 0;
  for (const auto& count : times) once += count == 1 ? 1 : 0;
  CHECK(once == messages);
}

TEST_CASE("borrowed: a failed call throws, though the host's handler would end all ranks; the ranks can go on") {
  const Communicator ranks = communicator_of(MPI_COMM_WORLD);
  const int nobody = ranks.size() + 5;
  CHECK(contains(refusal<CommunicatorError>([&] { ranks.send(nobody, "x"); }), "Communicator: MPI_Send failed: "));
  arma::mat one(1, 1, arma::fill::ones);
  ranks.sum(one);
  CHECK(one(0) == ranks.size());
  CHECK(contains(refusal([] { communicator_of(MPI_COMM_NULL); }), "not MPI_COMM_NULL"));
}

TEST_CASE("borrowed: the program's world is that of the host, where the host has initialised MPI") {
  const Communicator& world = Communicator::world();
  CHECK(world.rank() == rank_in(MPI_COMM_WORLD));
  CHECK(world.size() == size_of(MPI_COMM_WORLD));
  arma::mat one(1, 1, arma::fill::ones);
  world.sum(one);
  CHECK(one(0) == world.size());
}

TEST_CASE("a Communicator of nothing is this process alone") {
  const Communicator alone;
  CHECK(alone.rank() == 0);
  CHECK(alone.size() == 1);
  arma::mat x(2, 2, arma::fill::ones);
  alone.sum(x);
  CHECK(x(1, 1) == 1);
  CHECK(!alone.poll());
}

// MPI belongs to this program: what Croquis did to it would show here and in the status of mpirun.
int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int status = doctest::Context(argc, argv).run();
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0 || sum_over_world(1) != size_of(MPI_COMM_WORLD)) status = 1;
  MPI_Finalize();  // Communicator::world() still lives, and finds nothing left to do
  return status;
}
