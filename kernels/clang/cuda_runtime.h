/* cuda_runtime.h - for kernels that name it, for clang without the CUDA toolkit. */
#include "cuda_basics.h"
