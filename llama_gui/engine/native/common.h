/* Shared by all kernels: compiler attributes, sizes, results, sums, memory, conversion of all kinds of numbers to float32. */

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
#define AS_A_LOOP _Pragma("GCC unroll 1")
/* Adds up at this point: gcc would postpone additions until it runs out of registers. */
#define IN_ORDER(sum) __asm__("" : "+x"(sum))
/* sum += more, of 16 bits, in place: with IN_ORDER gcc would copy the sum in a loop. */
#define ADD_16_BITS(sum, more) __asm__("vpaddw %1, %0, %0" : "+x"(sum) : "x"(more))
#define ADD_32_BITS(sum, more) __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(more))

enum { GROUP = 32 };          /* four-bit weights that share a step and a low */
enum { WORTH_SHARING = 1 << 15 }; /* numbers; fewer are done by one thread */
enum { ALIGNMENT = 64 };

typedef enum { FLOAT32 = 0, BFLOAT16 = 1, FLOAT16 = 2, INT8 = 3 } Kind; /* the last of keys and values only */

/* Prefetches the line at `at` into the first-level cache, or (`_early`) only into the second. A core can have fewer fetches in
 * flight for the first level than for the second, and one that finds no free slot blocks those behind it: so where much is
 * computed meanwhile the second is better. (Measured on Zen 4.) */
INLINE void fetch_line(const void *at) { _mm_prefetch((const char *)at, _MM_HINT_T0); }
INLINE void fetch_line_early(const void *at) { _mm_prefetch((const char *)at, _MM_HINT_T1); }

/* --- results */

typedef struct {
    void *y;
    ptrdiff_t channels, stride; /* of the product, and from row to row of y */
    const float *scales, *bias, *row_scales;
    Kind kind;
    int adds; /* to what is there; it is of float32 then */
} Result;

INLINE void put(const Result *to, ptrdiff_t row, ptrdiff_t channel, float sum) {
    float value = to->scales ? sum * to->scales[channel] : sum;
    if (to->row_scales) value *= to->row_scales[row];
    if (to->bias) value += to->bias[channel];
    ptrdiff_t at = row * to->stride + channel;
    if (to->kind == FLOAT32) {
        ((float *)to->y)[at] = to->adds ? ((const float *)to->y)[at] + value : value;
    } else if (to->kind == FLOAT16) {
        ((uint16_t *)to->y)[at] = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
    } else { /* to the nearest, halves to even; not a number stays one */
        uint32_t bits;
        memcpy(&bits, &value, 4);
        bits = value != value ? 0x7FC00000u : bits + 0x7FFFu + ((bits >> 16) & 1u);
        ((uint16_t *)to->y)[at] = (uint16_t)(bits >> 16);
    }
}

INLINE int32_t sum_of_whole(__m256i v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
}

INLINE float sum_of_floats(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* --- which channels a thread takes */

typedef struct {
    ptrdiff_t begin, end;
} Share;

static Share share_of(ptrdiff_t channels, int granule) {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    ptrdiff_t blocks = (channels + granule - 1) / granule;
    Share share = {blocks * thread / threads * granule, blocks * (thread + 1) / threads * granule};
    if (share.end > channels) share.end = channels;
    return share;
}

static ptrdiff_t up_to(ptrdiff_t count, ptrdiff_t granule) { return (count + granule - 1) / granule * granule; }

/* Memory that begins at a cache line, NULL if there is none; handed back by `release`. */
static void *aligned(size_t bytes) {
#if defined(_WIN32)
    return _aligned_malloc(bytes, ALIGNMENT);
#else
    return aligned_alloc(ALIGNMENT, up_to((ptrdiff_t)bytes, ALIGNMENT));
#endif
}

static void release(void *memory) {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

/* Cuts memory into pieces that begin at a cache line; with none, only says how much is needed. */
typedef struct {
    char *at;
    size_t taken;
} Stock;

static void *take(Stock *from, size_t bytes) {
    void *piece = from->at ? from->at + from->taken : NULL;
    from->taken += up_to((ptrdiff_t)bytes, ALIGNMENT);
    return piece;
}

INLINE float largest_of(__m256 v) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

#define LEAST 1.17549435e-38f /* of what float32 holds without a loss */

INLINE __m256 size_of(__m256 v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v); }

/* Eight whole numbers in eight bits, in the lower half. */
INLINE __m128i in_bytes(__m256i whole) {
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    return _mm_packs_epi16(words, words);
}

INLINE size_t bytes_of(Kind kind) { return kind == FLOAT32 ? 4 : kind == INT8 ? 1 : 2; }

INLINE __m256 eight_of(const void *from, Kind kind) {
    if (kind == FLOAT32) return _mm256_loadu_ps(from);
    __m128i bits = _mm_loadu_si128(from);
    return kind == FLOAT16 ? _mm256_cvtph_ps(bits)
                           : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

INLINE void widen_as(const char *from, Kind kind, ptrdiff_t width, float *to) {
    const size_t bytes = bytes_of(kind);
    ptrdiff_t k = 0;
    for (; k + 8 <= width; k += 8) _mm256_store_ps(to + k, eight_of(from + k * bytes, kind));
    if (k < width) {
        float last[8] = {0};
        memcpy(last, from + k * bytes, (width - k) * bytes);
        _mm256_store_ps(to + k, eight_of(last, kind));
    }
}

/* A row in float32, with zeros up to the next multiple of eight. */
INLINE void widen(const char *from, Kind kind, ptrdiff_t width, float *to) {
    /* A call for each, so that the kind is a constant in the compiled loop. */
    if (kind == BFLOAT16) widen_as(from, BFLOAT16, width, to);
    else if (kind == FLOAT16) widen_as(from, FLOAT16, width, to);
    else widen_as(from, FLOAT32, width, to);
}

/* Numbers of float32, `count` of them, a multiple of eight, to the nearest of `kind`, halves to even. */
INLINE void narrow(const float *from, Kind kind, ptrdiff_t count, char *to) {
    if (kind == FLOAT32) {
        memcpy(to, from, count * sizeof *from);
        return;
    }
    for (ptrdiff_t k = 0; k < count; k += 8) {
        __m256 value = _mm256_loadu_ps(from + k);
        __m128i found;
        if (kind == FLOAT16) {
            found = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
        } else {
            __m256i bits = _mm256_castps_si256(value);
            __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
            bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
            __m256 is_none = _mm256_cmp_ps(value, value, _CMP_UNORD_Q); /* not a number stays one */
            bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32(0x7FC00000), _mm256_castps_si256(is_none));
            bits = _mm256_srli_epi32(bits, 16);
            found = _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
        }
        _mm_storeu_si128((__m128i *)(to + k * 2), found);
    }
}

/* A row as bfloat16. */
static void narrow_row(const float *x, ptrdiff_t width, uint16_t *to) {
    const ptrdiff_t whole = width / 8 * 8;
    narrow(x, BFLOAT16, whole, (char *)to);
    if (whole == width) return;
    float last[8] = {0};
    uint16_t bits[8];
    memcpy(last, x + whole, (width - whole) * sizeof *x);
    narrow(last, BFLOAT16, 8, (char *)bits);
    memcpy(to + whole, bits, (width - whole) * sizeof *bits);
}

/* Eight channels of a row, or the first `count` of them; the bits are those of `put`. */
INLINE void put_eight(const Result *to, ptrdiff_t row, ptrdiff_t channel, ptrdiff_t count, __m256 sums) {
    float each[8];
    if (count < 8) {
        _mm256_storeu_ps(each, sums);
        for (ptrdiff_t i = 0; i < count; i++) put(to, row, channel + i, each[i]);
        return;
    }
    if (to->scales) sums = _mm256_mul_ps(sums, _mm256_loadu_ps(to->scales + channel));
    if (to->row_scales) sums = _mm256_mul_ps(sums, _mm256_set1_ps(to->row_scales[row]));
    if (to->bias) sums = _mm256_add_ps(sums, _mm256_loadu_ps(to->bias + channel));
    char *const at = (char *)to->y + (row * to->stride + channel) * bytes_of(to->kind);
    if (to->adds) sums = _mm256_add_ps(_mm256_loadu_ps((const float *)at), sums);
    _mm256_storeu_ps(each, sums);
    narrow(each, to->kind, 8, at);
}
