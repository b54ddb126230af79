// A sketch whose distribution is chosen at run time.
#pragma once

#include <concepts>
#include <croquis/sketch/sketch.hpp>
#include <memory>
#include <utility>

namespace croquis {

/// Holds any sketch for matrices of T behind one type, and is itself a Sketch. Copies share the wrapped sketch, which
/// never changes.
/// Cost: one virtual call for each product.
/// Throws: as the wrapped sketch.
template <typename T>
class AnySketch {
 public:
  template <typename S>
  requires(!std::same_as<S, AnySketch> && Sketch<S, T>) AnySketch(S sketch)  // NOLINT: as any Sketch
      : self_(std::make_shared<const Wrapped<S>>(std::move(sketch))) {}

  arma::uword rows() const { return self_->rows(); }
  arma::uword cols() const { return self_->cols(); }
  arma::Mat<T> left(const arma::Mat<T>& m) const { return self_->left(m); }
  arma::Mat<T> right(const arma::Mat<T>& m) const { return self_->right(m); }
  arma::Mat<T> expand(const arma::Mat<T>& m) const { return self_->expand(m); }
  template <std::same_as<T> U = T>
  arma::Mat<U> dense() const {
    return self_->dense();
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual arma::uword rows() const = 0;
    virtual arma::uword cols() const = 0;
    virtual arma::Mat<T> left(const arma::Mat<T>& m) const = 0;
    virtual arma::Mat<T> right(const arma::Mat<T>& m) const = 0;
    virtual arma::Mat<T> expand(const arma::Mat<T>& m) const = 0;
    virtual arma::Mat<T> dense() const = 0;
  };
  template <typename S>
  struct Wrapped final : Interface {
    explicit Wrapped(S s) : sketch(std::move(s)) {}
    arma::uword rows() const override { return sketch.rows(); }
    arma::uword cols() const override { return sketch.cols(); }
    arma::Mat<T> left(const arma::Mat<T>& m) const override { return sketch.left(m); }
    arma::Mat<T> right(const arma::Mat<T>& m) const override { return sketch.right(m); }
    arma::Mat<T> expand(const arma::Mat<T>& m) const override { return sketch.expand(m); }
    arma::Mat<T> dense() const override { return sketch.template dense<T>(); }
    S sketch;
  };

  std::shared_ptr<const Interface> self_;
};

static_assert(Sketch<AnySketch<float>, float> && Sketch<AnySketch<double>, double>);

}  // namespace croquis
