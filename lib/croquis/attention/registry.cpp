#include <croquis/attention/balancekv.hpp>
#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/bfloat16.hpp>
#include <croquis/attention/bigbird.hpp>
#include <croquis/attention/clustered.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/attention/informer.hpp>
#include <croquis/attention/kdeformer.hpp>
#include <croquis/attention/kriged_coreset.hpp>
#include <croquis/attention/linear.hpp>
#include <croquis/attention/linformer.hpp>
#include <croquis/attention/linformer_unreduced.hpp>
#include <croquis/attention/longformer.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/mra_2.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/nystromformer.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/prf_rpe.hpp>
#include <croquis/attention/reformer.hpp>
#include <croquis/attention/sampled_columns.hpp>
#include <croquis/attention/scatterbrain.hpp>
#include <croquis/attention/skeinformer.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/attention/streaming.hpp>
#include <croquis/attention/thinformer.hpp>
#include <croquis/attention/top_keys.hpp>
#include <croquis/attention/v_mean.hpp>
#include <croquis/attention/vattention.hpp>
#include <croquis/attention/vertical_slash.hpp>
#include <croquis/attention/wildcat.hpp>

namespace croquis {

template <typename T>
const std::vector<Method<T>>& methods() {
  static const std::vector<Method<T>> all = {
      v_mean_method<T>(),
      best_rank_method<T>(),
      top_keys_method<T>(),
      bfloat16_method<T>(),
      skyformer_method<T>(),
      skyformer_softmax_method<T>(),
      nystromformer_method<T>(),
      linformer_method<T>(),
      linformer_unreduced_method<T>(),
      informer_method<T>(),
      skeinformer_method<T>(),
      skeinformer_uniform_method<T>(),
      skeinformer_no_norm_method<T>(),
      skeinformer_simple_norm_method<T>(),
      skeinformer_no_reuse_method<T>(),
      sampled_columns_method<T>(),
      performer_method<T>(),
      nprf_method<T>(),
      prf_rpe_method<T>(),
      nprf_rpe_method<T>(),
      linear_method<T>(),
      reformer_method<T>(),
      bigbird_method<T>(),
      longformer_method<T>(),
      streaming_method<T>(),
      vertical_slash_method<T>(),
      mra_2_method<T>(),
      kriged_coreset_method<T>(),
      wildcat_method<T>(),
      thinformer_method<T>(),
      balancekv_method<T>(),
      vattention_method<T>(),
      scatterbrain_method<T>(),
      hyperattention_method<T>(),
      kdeformer_method<T>(),
      clustered_method<T>(),
      improved_clustered_method<T>(),
  };
  return all;
}

template const std::vector<Method<float>>& methods();
template const std::vector<Method<double>>& methods();

}  // namespace croquis
