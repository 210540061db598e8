// The name that a person knows of what XLA compiled. TensorFlow names a module
// after the function and all that it was compiled with:
// "a_inference_one_step_on_data_3323__XlaMustCompile_true_.15".
#ifndef OOM_FORENSICS_COLLECTOR_XLA_FUNCTION_NAME_H_
#define OOM_FORENSICS_COLLECTOR_XLA_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace oom_forensics::collector {

// "one_step_on_data"; of the pieces that tf.GradientTape makes of a function
// "train_step (forward)" and "train_step (backward)"; of a cluster that
// TensorFlow chose itself "cluster_0". A name of another form is given back
// without its number.
std::string FunctionNameOf(std::string_view module_name);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_FUNCTION_NAME_H_
