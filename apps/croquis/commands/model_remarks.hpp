// croquis model: what one may not expect of the replacements, on standard error.
#pragma once

#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/model_loss.hpp>
#include <string>
#include <vector>

/// Whether the choice was made for another model than this one, or by errors against another target.
void remark_on_choice(const std::vector<croquis::SavedChoice>& saved, const std::string& model);

/// Which of the model's heads a choice replaces, and what methods approximate that is not what the model computes.
/// `fewest`: the tokens of the shortest sequence.
void remark_on_replacements(const std::vector<croquis::Replacement>& replacements, std::size_t heads_of_model,
                            arma::uword fewest);
