/* Matrix products of rows with weights that are held in few bits, and what else takes long on x86-64 CPUs with AVX2.
 * Where there are AVX-512 and VNNI, too, the products go through registers of 512 bits: see the files wide_*.h.
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

#ifndef SOURCES
#define SOURCES ""
#endif
/* What it was compiled from, see sources.py; "": nobody said. */
EXPORT const char *llama_gui_sources(void) { return SOURCES; }

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__GNUC__)
#include <cpuid.h>

#include "common.h"

#include "products.h"
#include "whole_products.h"
#include "wide.h"
#include "wide_int4.h"
#include "coded_panels.h"
#include "wide_panels.h"
#include "whole_calls.h"
#include "blocks.h"
#include "block_products.h"
#include "wide_blocks.h"
#include "tile_blocks.h"
#include "block_calls.h"
#include "half_products.h"
#include "coded_products.h"
#include "coded_calls.h"
#include "rows.h"
#include "dots.h"
#include "logits.h"
#include "rounding.h"
#include "gguf_blocks.h"
#include "gguf_grids.h"
#include "attention.h"
#include "wide_attention.h"
#include "wide_half_attention.h"
#include "tile_attention.h"
#include "whole_attention.h"
#include "attention_calls.h"
#include "gated_delta.h"
#include "mamba.h"
#include "short_conv.h"
#include "layer.h"
#include "experts.h"

/* What this CPU has and the system keeps the registers of: a bit for each name in `library/processor.py`, in its order.
 * Not every compiler's own question for this is answered: __builtin_cpu_supports says no to all with Zig's. */
EXPORT int llama_gui_cpu(void) {
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_AVX) || !(c & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if ((kept & 6) != 6) return 0; /* those of 128 and of 256 bits */
    const int keeps_wide = (kept & 0xe6) == 0xe6, keeps_tiles = (kept >> 17 & 3) == 3;
    int found = (c >> 12 & 1) << 1 | (c >> 29 & 1) << 2; /* FMA, F16C */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
    found |= b >> 5 & 1; /* AVX2 */
    if (keeps_wide) found |= (c >> 11 & 1) << 3; /* VNNI */
    if (keeps_tiles && d >> 22 & 1) found |= (d >> 24 & 3) << 6; /* AMX: tiles, products of eight bits, and of bfloat16 */
    if (a < 1 || !__get_cpuid_count(7, 1, &a, &b, &c, &d)) return found;
    return found | (a >> 4 & 1) << 4 | (keeps_wide ? (a >> 5 & 1) << 5 : 0); /* VNNI of 256 bits; bfloat16 */
}

/* How products are computed from now on, as far as the CPU can: in registers of 256 bits, added up in pairs (0) or in fours (1),
 * or in registers of 512 bits (2), but for weights in seven bits, or with tiles, too (3). Says how: 1 of few bits are wide, 2 of
 * bfloat16 are, 4 in fours, 8 in tiles. */
EXPORT int llama_gui_use(int most) {
    const int found = llama_gui_cpu();
    adding = IN_PAIRS;
#if !defined(OLD_ASSEMBLER)
    if (most >= 1 && found >> 4 & 1) adding = IN_FOURS;
#endif
    if (most >= 1 && adding == IN_PAIRS && found >> 3 & 1) adding = IN_FOURS_512;
    has_wide = most >= 2 && found >> 3 & 1;
    has_wide_halves = has_wide && found >> 5 & 1;
    has_tiles = most >= 3 && has_wide_halves && (found >> 6 & 3) == 3 && may_use_tiles();
    return has_wide | has_wide_halves << 1 | (adding != IN_PAIRS) << 2 | has_tiles << 3;
}

/* Whether this CPU has what the rest needs. To be asked first. */
EXPORT int llama_gui_can_run(void) {
    llama_gui_use(3);
    return (llama_gui_cpu() & 7) == 7;
}

#else

EXPORT int llama_gui_cpu(void) { return 0; }

EXPORT int llama_gui_use(int most) { return most & 0; }

EXPORT int llama_gui_can_run(void) { return 0; }

#endif
