/* cuda_api.h - the CUDA driver API as Peakbound uses it: our own minimal
 * declarations, so that the host builds with a C compiler alone.
 *
 * CUDA_FUNCTIONS is the only list of functions. It is expanded into the table
 * struct cuda_api, into the dlsym loop over libcuda (cuda_open.c) and into the
 * simulator's table (sim_driver.c).
 *
 *     X(field, exported symbol, required, parameters)
 *
 * Values and signatures: CUDA Driver API reference, CUDA 12 and 13.
 */
#ifndef PEAKBOUND_CUDA_API_H
#define PEAKBOUND_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    CUDA_ERROR_UNKNOWN = 999
};

enum { /* CUdevice_attribute */
       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
       CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
       CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
       CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
       CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
       CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
       CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
       CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
       CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106
};

enum { /* CUfunction_attribute */
       CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
       CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
       CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
       CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
       CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
       CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
       CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum { CU_EVENT_DEFAULT = 0, CU_STREAM_DEFAULT = 0 };

#define CUDA_FUNCTIONS(X)                                                             \
    X(init, cuInit, 1, (unsigned flags))                                              \
    X(driver_version, cuDriverGetVersion, 1, (int *version))                          \
    X(error_name, cuGetErrorName, 1, (CUresult error, const char **text))             \
    X(error_string, cuGetErrorString, 1, (CUresult error, const char **text))         \
    X(device_count, cuDeviceGetCount, 1, (int *count))                                \
    X(device_get, cuDeviceGet, 1, (CUdevice * device, int ordinal))                   \
    X(device_name, cuDeviceGetName, 1, (char *name, int length, CUdevice device))     \
    X(device_memory, cuDeviceTotalMem_v2, 1, (size_t * bytes, CUdevice device))       \
    X(device_attribute, cuDeviceGetAttribute, 1,                                      \
      (int *value, int attribute, CUdevice device))                                   \
    X(context_retain, cuDevicePrimaryCtxRetain, 1,                                    \
      (CUcontext * context, CUdevice device))                                         \
    X(context_release, cuDevicePrimaryCtxRelease_v2, 1, (CUdevice device))            \
    X(context_set, cuCtxSetCurrent, 1, (CUcontext context))                           \
    X(context_sync, cuCtxSynchronize, 1, (void))                                      \
    X(memory_info, cuMemGetInfo_v2, 1, (size_t * free, size_t * total))               \
    X(memory_alloc, cuMemAlloc_v2, 1, (CUdeviceptr * pointer, size_t bytes))          \
    X(memory_free, cuMemFree_v2, 1, (CUdeviceptr pointer))                            \
    X(copy_to_device, cuMemcpyHtoD_v2, 1,                                             \
      (CUdeviceptr to, const void *from, size_t bytes))                               \
    X(copy_to_host, cuMemcpyDtoH_v2, 1, (void *to, CUdeviceptr from, size_t bytes))   \
    X(copy_on_device, cuMemcpyDtoD_v2, 1,                                             \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes))                               \
    X(fill_u8, cuMemsetD8_v2, 1, (CUdeviceptr to, unsigned char value, size_t count)) \
    X(fill_u32, cuMemsetD32_v2, 1, (CUdeviceptr to, unsigned value, size_t count))    \
    X(module_load, cuModuleLoadData, 1, (CUmodule * module, const void *image))       \
    X(module_unload, cuModuleUnload, 1, (CUmodule module))                            \
    X(module_function, cuModuleGetFunction, 1,                                        \
      (CUfunction * function, CUmodule module, const char *name))                     \
    X(module_global, cuModuleGetGlobal_v2, 1,                                         \
      (CUdeviceptr * pointer, size_t * bytes, CUmodule module, const char *name))     \
    X(function_attribute, cuFuncGetAttribute, 1,                                      \
      (int *value, int attribute, CUfunction function))                               \
    X(function_set_attribute, cuFuncSetAttribute, 1,                                  \
      (CUfunction function, int attribute, int value))                                \
    X(launch, cuLaunchKernel, 1,                                                      \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,        \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_smem,   \
       CUstream stream, void **parameters, void **extra))                             \
    X(launch_cooperative, cuLaunchCooperativeKernel, 0,                               \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,        \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_smem,   \
       CUstream stream, void **parameters))                                           \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, 1,                      \
      (int *blocks, CUfunction function, int threads, size_t dynamic_smem))           \
    X(stream_create, cuStreamCreate, 1, (CUstream * stream, unsigned flags))          \
    X(stream_destroy, cuStreamDestroy_v2, 1, (CUstream stream))                       \
    X(stream_sync, cuStreamSynchronize, 1, (CUstream stream))                         \
    X(event_create, cuEventCreate, 1, (CUevent * event, unsigned flags))              \
    X(event_destroy, cuEventDestroy_v2, 1, (CUevent event))                           \
    X(event_record, cuEventRecord, 1, (CUevent event, CUstream stream))               \
    X(event_sync, cuEventSynchronize, 1, (CUevent event))                             \
    X(event_elapsed, cuEventElapsedTime, 1, (float *ms, CUevent start, CUevent end))

struct cuda_api {
#define CUDA_FIELD(field, symbol, required, parameters) CUresult(*field) parameters;
    CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
};

#endif
