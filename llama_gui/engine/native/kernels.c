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
/* As omp.h has them, which not every compiler brings. */
extern int omp_get_thread_num(void), omp_get_num_threads(void), omp_get_max_threads(void);

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__GNUC__)
#include <cpuid.h>

#include "common.h"

#include "products.h"
#include "whole_products.h"
#include "block_products.h"
#include "half_products.h"
#include "rows.h"
#include "rounding.h"
#include "gguf_blocks.h"
#include "attention.h"
#include "layer.h"

/* Whether this CPU has what the rest needs, and the system keeps its registers. Not every compiler's own question for
 * this is answered: __builtin_cpu_supports says no to all with Zig's. */
EXPORT int llama_gui_can_run(void) {
    unsigned a, b, c, d, kept, high;
    const unsigned needed = bit_FMA | bit_F16C | bit_AVX | bit_OSXSAVE;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    return (kept & 6) == 6; /* those of 128 and of 256 bits */
}

#else

EXPORT int llama_gui_can_run(void) { return 0; }

#endif
