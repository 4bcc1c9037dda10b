/* Matrix products of rows with weights that are held in few bits, and what else takes long on x86-64 CPUs with AVX2.
 *
 * Each product is y[row][channel] = scale[channel] * sum_k x[row][k] * w[channel][k], for 1 to any number of rows.
 * What is summed up, and in which order, never depends on the number of rows: sums of whole numbers are exact, and those
 * of float32 go through one chain of eight lanes for each BLOCK inputs, whose results are added in order. So a row has
 * the same bits in calls of any size.
 *
 * With few rows the memory is what is waited for, and it is read faster in several streams: such rows are multiplied in
 * several places of a weight at once. With many, the cache is asked for the next weights while these are multiplied.
 * `native_kernels.py` says what the arguments are; `native_trials.py` tries them all when this is loaded.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_thread_num(void) { return 0; }
static int omp_get_num_threads(void) { return 1; }
static int omp_get_max_threads(void) { return 1; }
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include "common.h"

#include "products.h"
#include "whole_products.h"
#include "block_products.h"
#include "half_products.h"
#include "rows.h"
#include "rounding.h"
#include "gguf_blocks.h"
#include "attention.h"

/* Whether this CPU has what the rest needs. */
EXPORT int llama_gui_can_run(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

#else

EXPORT int llama_gui_can_run(void) { return 0; }

#endif
