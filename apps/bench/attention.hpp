#pragma once

/// The registry's methods are known only at run time.
template <typename T>
void register_methods();
