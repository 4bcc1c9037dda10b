/* Matrix products of rows with weights that are held in few bits, for x86-64 CPUs with AVX2.
 *
 * Each product is y[row][channel] = scale[channel] * sum_k x[row][k] * w[channel][k], for 1 to any number of rows.
 * What is summed up, and in which order, never depends on the number of rows: sums of whole numbers are exact, and those
 * of float32 go through one chain of eight lanes for each BLOCK inputs, whose results are added in order. So a row has
 * the same bits in calls of any size.
 *
 * The weights are read in order, and multiplied as they come: with few rows the memory bus is what limits that, with many
 * the cache asks for the next ones while these are multiplied.
 * `native_kernels.py` says what the arguments are, and tries them all when it loads this.
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
#include <immintrin.h>

#define FAST __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) FAST
#define UNROLL _Pragma("GCC unroll 16")
/* Add this up now: gcc would gather what is to be added, and have no registers for it. */
#define IN_ORDER(sum) __asm__("" : "+x"(sum))

enum { BLOCK = 1024 };        /* inputs whose float32 products are added up in one chain */
enum { STEP = 16 };           /* weights of half precision that are read at once */
enum { NEAR_HALF = 24 };      /* channels of half precision that all rows are multiplied with before the next */
enum { FEW = 8 };             /* rows that are multiplied together, at most */
enum { NEAR = 16 };           /* channels that all rows are multiplied with before the next */
enum { CACHE = 1 << 18 };     /* bytes of rows that stay in the second-level cache */
enum { GROUP = 32 };          /* four-bit weights that share a step and a low */
enum { WORTH_SHARING = 1 << 15 }; /* numbers, below which one thread does them */
enum { ALIGNMENT = 64 };

typedef enum { FLOAT32 = 0, BFLOAT16 = 1, FLOAT16 = 2 } Kind;

/* --- results */

typedef struct {
    void *y;
    ptrdiff_t channels; /* of the whole product: the length of a row of y */
    const float *scales, *bias, *row_scales;
    Kind kind;
} Result;

INLINE void put(const Result *to, ptrdiff_t row, ptrdiff_t channel, float sum) {
    float value = to->scales ? sum * to->scales[channel] : sum;
    if (to->row_scales) value *= to->row_scales[row];
    if (to->bias) value += to->bias[channel];
    ptrdiff_t at = row * to->channels + channel;
    if (to->kind == FLOAT32) {
        ((float *)to->y)[at] = value;
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

/* --- eight bits: |w| times x with the sign of w, in pairs (at most 2 * 127 * 128, which fits in 16 bits) */

INLINE void int8_channel(const int8_t *x, const int8_t *w, ptrdiff_t width, int rows, int32_t *sums) {
    __m256i total[FEW];
    const __m256i ones = _mm256_set1_epi16(1);
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm256_setzero_si256();
    ptrdiff_t k = 0;
    for (; k + 32 <= width; k += 32) {
        __m256i weight = _mm256_loadu_si256((const __m256i *)(w + k)), size = _mm256_abs_epi8(weight);
        UNROLL for (int r = 0; r < rows; r++) {
            __m256i level = _mm256_loadu_si256((const __m256i *)(x + r * width + k));
            __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(level, weight));
            total[r] = _mm256_add_epi32(total[r], _mm256_madd_epi16(pairs, ones));
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        sums[r] = sum_of_whole(total[r]);
        for (ptrdiff_t j = k; j < width; j++) sums[r] += (int32_t)x[r * width + j] * w[j];
    }
}

/* --- four bits. TOGETHER channels lie side by side, a lane of 32 bits for each, and inputs in pairs of groups: levels
 * are [channels / 8][width / 64][8][8 channels][4 inputs], those of the first group in the lower bits; steps and lows are
 * [channels / 8][width / 64][8 channels][2 groups]. llama.cpp repacks its own kinds in this way, too. */

enum { TOGETHER = 8 };
enum { PAIR = 2 * GROUP };

typedef struct {
    const uint8_t *levels, *steps;
    const int8_t *lows;
} Int4;

/* The channels from `channel` on, a multiple of TOGETHER. */
INLINE Int4 channels_of(Int4 w, ptrdiff_t channel, ptrdiff_t width) {
    const ptrdiff_t groups = width / GROUP;
    return (Int4){w.levels + channel * (width / 2), w.steps + channel * groups, w.lows + channel * groups};
}

INLINE int32_t four_bytes(const void *at) {
    int32_t bytes;
    memcpy(&bytes, at, 4);
    return bytes;
}

/* Four inputs times four levels of each channel; pairs of products are at most 2 * 15 * 127, so eight fit in 16 bits. */
INLINE __m256i add_four(__m256i sum, __m256i levels, const int8_t *x) {
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(levels, _mm256_set1_epi32(four_bytes(x))));
    IN_ORDER(sum);
    return sum;
}

/* A group's sum is step * (levels times x) + low * (sum of x); `x_sums` are those of all groups, row by row. */
INLINE void int4_channels(const int8_t *x, const int16_t *x_sums, Int4 w, ptrdiff_t width, int rows,
                          int32_t sums[][TOGETHER]) {
    __m256i total[4];
    const __m256i low_bits = _mm256_set1_epi8(15);
    /* The bytes of the first of two groups' 16 bits, in both halves of each lane; and of the second. */
    const __m256i first_of_two = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13));
    const __m256i second_of_two = _mm256_add_epi8(first_of_two, _mm256_set1_epi8(2));
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm256_setzero_si256();
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        __m256i first[4], second[4];
        UNROLL for (int r = 0; r < rows; r++) first[r] = second[r] = _mm256_setzero_si256();
        for (int j = 0; j < GROUP; j += 4) {
            __m256i both = _mm256_loadu_si256((const __m256i *)(w.levels + k * 4 + j * TOGETHER));
            __m256i level = _mm256_and_si256(both, low_bits);
            UNROLL for (int r = 0; r < rows; r++) first[r] = add_four(first[r], level, x + r * width + k + j);
            level = _mm256_and_si256(_mm256_srli_epi16(both, 4), low_bits);
            UNROLL for (int r = 0; r < rows; r++) second[r] = add_four(second[r], level, x + r * width + k + GROUP + j);
        }
        __m256i steps = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(w.steps + k / 4)));
        __m256i lows = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(w.lows + k / 4)));
        __m256i first_steps = _mm256_shuffle_epi8(steps, first_of_two);
        __m256i second_steps = _mm256_shuffle_epi8(steps, second_of_two);
        UNROLL for (int r = 0; r < rows; r++) {
            __m256i x_sum = _mm256_set1_epi32(four_bytes(x_sums + (r * width + k) / GROUP));
            __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(first[r], first_steps), _mm256_madd_epi16(lows, x_sum));
            total[r] = _mm256_add_epi32(total[r], _mm256_add_epi32(sum, _mm256_madd_epi16(second[r], second_steps)));
        }
    }
    UNROLL for (int r = 0; r < rows; r++) _mm256_storeu_si256((__m256i *)sums[r], total[r]);
}

/* One of the channels at `w`. */
INLINE void expand_int4(Int4 w, int channel, ptrdiff_t width, int8_t *to) {
    const __m256i low_bits = _mm256_set1_epi8(15), even = _mm256_set1_epi16(255);
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        const uint8_t *fours = w.levels + k * 4 + channel * 4; /* each 4 * TOGETHER bytes behind the one before */
        __m256i both = _mm256_setr_epi32(four_bytes(fours), four_bytes(fours + 32), four_bytes(fours + 64),
                                         four_bytes(fours + 96), four_bytes(fours + 128), four_bytes(fours + 160),
                                         four_bytes(fours + 192), four_bytes(fours + 224));
        for (int half = 0; half < 2; half++) {
            __m256i levels = _mm256_and_si256(half ? _mm256_srli_epi16(both, 4) : both, low_bits);
            const ptrdiff_t group = k / 4 + 2 * channel + half;
            const __m256i step = _mm256_set1_epi16(w.steps[group]), low = _mm256_set1_epi8(w.lows[group]);
            /* Products are below 256, so that they can be had two at a time: those of the even and of the odd bytes. */
            __m256i values = _mm256_or_si256(_mm256_mullo_epi16(_mm256_and_si256(levels, even), step),
                                             _mm256_slli_epi16(_mm256_mullo_epi16(_mm256_srli_epi16(levels, 8), step), 8));
            _mm256_storeu_si256((__m256i *)(to + k + half * GROUP), _mm256_add_epi8(values, low));
        }
    }
}

static ptrdiff_t up_to(ptrdiff_t count, ptrdiff_t granule) { return (count + granule - 1) / granule * granule; }

static void *aligned(size_t bytes) { return aligned_alloc(ALIGNMENT, up_to((ptrdiff_t)bytes, ALIGNMENT)); }

/* --- weights in half precision, rows in float32 */

/* Sixteen weights as twice eight numbers; bfloat16 as the even and the odd ones, because that takes least. */
INLINE void load_halves(const uint16_t *w, Kind kind, __m256 *first, __m256 *second) {
    __m256i bits = _mm256_loadu_si256((const __m256i *)w);
    if (kind == FLOAT16) {
        *first = _mm256_cvtph_ps(_mm256_castsi256_si128(bits));
        *second = _mm256_cvtph_ps(_mm256_extracti128_si256(bits, 1));
    } else {
        *first = _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
        *second = _mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_set1_epi32((int)0xFFFF0000)));
    }
}

/* Sixteen inputs in the order of their weights. */
INLINE void arrange(const float *x, Kind kind, float *to) {
    __m256 low = _mm256_loadu_ps(x), high = _mm256_loadu_ps(x + 8);
    if (kind == BFLOAT16) {
        __m256 even = _mm256_shuffle_ps(low, high, 0x88), odd = _mm256_shuffle_ps(low, high, 0xDD);
        low = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even), 0xD8));
        high = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(odd), 0xD8));
    }
    _mm256_store_ps(to, low);
    _mm256_store_ps(to + 8, high);
}

/* Rows as blocks of BLOCK inputs, [blocks][rows][BLOCK]; zeros stand behind the last input of each row. */
FAST static void arrange_rows(const float *x, ptrdiff_t rows, ptrdiff_t width, Kind kind, float *to) {
#pragma omp parallel for if (rows * width > WORTH_SHARING)
    for (ptrdiff_t r = 0; r < rows; r++)
        for (ptrdiff_t start = 0; start < width; start += BLOCK) {
            const ptrdiff_t count = width - start < BLOCK ? width - start : BLOCK;
            float *row = to + start * rows + r * up_to(count, STEP);
            ptrdiff_t k = 0;
            for (; k + STEP <= count; k += STEP) arrange(x + r * width + start + k, kind, row + k);
            if (k < count) {
                float last[STEP] = {0};
                memcpy(last, x + r * width + start + k, (count - k) * sizeof *x);
                arrange(last, kind, row + k);
            }
        }
}

/* Sixteen weights of a channel times some rows. */
INLINE void half_step(const float *x, ptrdiff_t stride, const uint16_t *w, int rows, Kind kind, __m256 *total) {
    __m256 first, second;
    load_halves(w, kind, &first, &second);
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm256_fmadd_ps(first, _mm256_load_ps(x + r * stride), total[r]);
    UNROLL for (int r = 0; r < rows; r++)
        total[r] = _mm256_fmadd_ps(second, _mm256_load_ps(x + r * stride + 8), total[r]);
}

/* Adds one block of some rows times some channels to `sums` [rows][NEAR_HALF]. */
INLINE void half_tile(const float *x, const uint16_t *w, ptrdiff_t width, ptrdiff_t count, int rows, int channels,
                      Kind kind, float *sums) {
    const ptrdiff_t stride = up_to(count, STEP);
    __m256 total[9];
    UNROLL for (int i = 0; i < rows * channels; i++) total[i] = _mm256_setzero_ps();
    ptrdiff_t k = 0;
    for (; k + STEP <= count; k += STEP)
        UNROLL for (int c = 0; c < channels; c++)
            half_step(x + k, stride, w + c * width + k, rows, kind, total + c * rows);
    if (k < count)
        UNROLL for (int c = 0; c < channels; c++) {
            uint16_t last[STEP] = {0};
            memcpy(last, w + c * width + k, (count - k) * sizeof *w);
            half_step(x + k, stride, last, rows, kind, total + c * rows);
        }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < channels; c++) sums[r * NEAR_HALF + c] += sum_of_floats(total[c * rows + r]);
}

/* Weights that are wanted soon: a stretch of some channels. */
typedef struct {
    const char *at;
    ptrdiff_t channels, stride;      /* bytes from channel to channel */
    ptrdiff_t lines, line, together; /* cache lines of a channel, fetched so far, and to be fetched together */
} Ahead;

INLINE void fetch_some(Ahead *ahead) {
    for (ptrdiff_t i = 0; i < ahead->together && ahead->channels; i++) {
        _mm_prefetch(ahead->at + ahead->line * ALIGNMENT, _MM_HINT_T0);
        if (++ahead->line == ahead->lines) ahead->line = 0, ahead->at += ahead->stride, ahead->channels--;
    }
}

/* One block of all rows times some channels. */
typedef struct {
    const float *x;
    const uint16_t *w;
    ptrdiff_t width, count, channels; /* of a row, of the block, of the channels */
    float *sums;
    Ahead ahead;
} HalfBlock;

INLINE void half_tiles(HalfBlock *of, ptrdiff_t row, ptrdiff_t end, int rows, int channels, Kind kind) {
    const ptrdiff_t stride = up_to(of->count, STEP);
    ptrdiff_t c = 0;
    for (; c + channels <= of->channels; c += channels)
        for (ptrdiff_t r = row; r < end; r += rows) {
            fetch_some(&of->ahead);
            half_tile(of->x + r * stride, of->w + c * of->width, of->width, of->count, rows, channels, kind,
                      of->sums + r * NEAR_HALF + c);
        }
    for (; c < of->channels; c++)
        for (ptrdiff_t r = row; r < end; r += rows)
            half_tile(of->x + r * stride, of->w + c * of->width, of->width, of->count, rows, 1, kind,
                      of->sums + r * NEAR_HALF + c);
}

INLINE void half_share(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, Kind kind, Share all,
                       const Result *to, float *sums) {
    /* Few rows are multiplied as fast as the weights come, and those come fastest in few streams; whole tiles of them. */
    const int few = rows <= 4;
    const ptrdiff_t near = rows == 1 ? 8 : rows == 3 ? 6 : few ? 4 : NEAR_HALF;
    const ptrdiff_t in_threes = rows % 3 == 1 ? rows - 4 : rows / 3 * 3; /* the rest are pairs */
    for (ptrdiff_t c = all.begin; c < all.end; c += near) {
        HalfBlock block = {.width = width, .channels = all.end - c < near ? all.end - c : near, .sums = sums};
        memset(sums, 0, rows * NEAR_HALF * sizeof *sums);
        for (ptrdiff_t k = 0; k < width; k += BLOCK) {
            block.x = x + k * rows, block.w = w + c * width + k;
            block.count = width - k < BLOCK ? width - k : BLOCK;
            const int is_last = k + BLOCK >= width;
            const ptrdiff_t left = all.end - c - (is_last ? near : 0);
            if (!few)
                block.ahead = (Ahead){
                    .at = (const char *)(is_last ? w + (c + near) * width : block.w + BLOCK),
                    .channels = left < 0 ? 0 : left < near ? left : near,
                    .stride = width * sizeof *w,
                    .lines = BLOCK * sizeof *w / ALIGNMENT,
                    .together = BLOCK * sizeof *w / ALIGNMENT * 9 / rows + 1, /* nine sums in a tile */
                };
            if (rows == 1) {
                half_tiles(&block, 0, 1, 1, 8, kind);
            } else {
                half_tiles(&block, 0, in_threes, 3, 3, kind);
                half_tiles(&block, in_threes, rows, 2, 4, kind);
            }
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            for (ptrdiff_t i = 0; i < block.channels; i++) put(to, r, c + i, sums[r * NEAR_HALF + i]);
    }
}

/* --- exponentials, rounding to eight bits, the gate of the feed-forward part */

/* e^x (Cephes' expf: a polynomial around zero, times a power of two); 0 below -87, infinity above 88; NaN stays NaN. */
INLINE __m256 exponential(__m256 x) {
    const __m256 lowest = _mm256_set1_ps(-87.3f);
    const __m256 highest = _mm256_set1_ps(88.3f), endless = _mm256_set1_ps(__builtin_inff());
    const __m256 vanishes = _mm256_cmp_ps(x, lowest, _CMP_LT_OQ), exceeds = _mm256_cmp_ps(x, highest, _CMP_GT_OQ);
    x = _mm256_max_ps(lowest, _mm256_min_ps(highest, x)); /* the second operand where one is NaN */
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9875691500e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
    p = _mm256_add_ps(_mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r), _mm256_set1_ps(1.0f));
    __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    x = _mm256_blendv_ps(_mm256_mul_ps(p, _mm256_castsi256_ps(power)), endless, exceeds);
    return _mm256_andnot_ps(vanishes, x);
}

INLINE __m256 silu(__m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f);
    return _mm256_div_ps(x, _mm256_add_ps(one, exponential(_mm256_sub_ps(_mm256_setzero_ps(), x))));
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

/* The scale of a row is its largest number / 127; NaN where that is none or infinite. `width` is a multiple of eight. */
INLINE float quantise_row(const float *x, ptrdiff_t width, int8_t *levels) {
    __m256 largest = _mm256_setzero_ps(), unordered = _mm256_setzero_ps();
    for (ptrdiff_t k = 0; k < width; k += 8) {
        __m256 value = _mm256_loadu_ps(x + k);
        largest = _mm256_max_ps(largest, size_of(value));
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    }
    float scale = largest_of(largest) * (1.0f / 127) + LEAST;
    if (_mm256_movemask_ps(unordered) || !(scale <= 3.402823466e38f)) scale = __builtin_nanf("");
    const __m256 divisor = _mm256_set1_ps(scale);
    for (ptrdiff_t k = 0; k < width; k += 8) {
        __m256i whole = _mm256_cvtps_epi32(_mm256_div_ps(_mm256_loadu_ps(x + k), divisor)); /* halves to even */
        __m128i bytes = _mm_max_epi8(in_bytes(whole), _mm_set1_epi8(-127)); /* what is no number, too */
        _mm_storel_epi64((__m128i *)(levels + k), bytes);
    }
    return scale;
}

INLINE size_t bytes_of(Kind kind) { return kind == FLOAT32 ? 4 : 2; }

INLINE __m256 eight_of(const void *from, Kind kind) {
    if (kind == FLOAT32) return _mm256_loadu_ps(from);
    __m128i bits = _mm_loadu_si128(from);
    return kind == FLOAT16 ? _mm256_cvtph_ps(bits)
                           : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

/* A row in float32, with zeros up to the next multiple of eight. */
INLINE void widen(const char *from, Kind kind, ptrdiff_t width, float *to) {
    const size_t bytes = bytes_of(kind);
    ptrdiff_t k = 0;
    for (; k + 8 <= width; k += 8) _mm256_store_ps(to + k, eight_of(from + k * bytes, kind));
    if (k < width) {
        float last[8] = {0};
        memcpy(last, from + k * bytes, (width - k) * bytes);
        _mm256_store_ps(to + k, eight_of(last, kind));
    }
}

EXPORT FAST int llama_gui_quantise(const char *x, int kind, ptrdiff_t rows, ptrdiff_t width, int8_t *levels, float *scales) {
    const ptrdiff_t whole = up_to(width, 8);
    const int is_ready = kind == FLOAT32 && whole == width;
    int failed = 0;
#pragma omp parallel if (rows * width > WORTH_SHARING)
    {
        float *wide = is_ready ? NULL : aligned(whole * (sizeof *wide + 1));
        if (!is_ready && wide == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for
        for (ptrdiff_t r = 0; r < rows; r++) {
            const char *row = x + r * width * bytes_of((Kind)kind);
            if (is_ready) {
                scales[r] = quantise_row((const float *)row, width, levels + r * width);
            } else if (wide) {
                int8_t *found = (int8_t *)(wide + whole);
                widen(row, (Kind)kind, width, wide);
                scales[r] = quantise_row(wide, whole, found);
                memcpy(levels + r * width, found, width);
            }
        }
        free(wide);
    }
    return failed;
}

/* --- weights rounded to four bits: `int4_levels.py` says how, and has the same results */

enum { MOST = (1 << 24) / 127 };  /* what the whole numbers of a part of a channel may add up to */
enum { LONGEST = 4096 };          /* inputs of a part */

INLINE double sum_of_doubles(__m256d v) {
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/* Of a channel: the scale with which no number needs more than eight bits, and no product more than 24. */
INLINE float first_scale(const float *w, ptrdiff_t width) {
    const ptrdiff_t groups = width / GROUP, parts = (width + LONGEST - 1) / LONGEST;
    __m256 largest = _mm256_setzero_ps();
    double heaviest = 0;
    for (ptrdiff_t part = 0; part < parts; part++) {
        __m256d even = _mm256_setzero_pd(), odd = _mm256_setzero_pd();
        for (ptrdiff_t k = part * groups / parts * GROUP; k < (part + 1) * groups / parts * GROUP; k += 8) {
            __m256 size = size_of(_mm256_load_ps(w + k));
            largest = _mm256_max_ps(largest, size);
            even = _mm256_add_pd(even, _mm256_cvtps_pd(_mm256_castps256_ps128(size)));
            odd = _mm256_add_pd(odd, _mm256_cvtps_pd(_mm256_extractf128_ps(size, 1)));
        }
        const double sum = sum_of_doubles(_mm256_add_pd(even, odd));
        if (sum > heaviest) heaviest = sum;
    }
    float scale = largest_of(largest) / 127, of_sum = (float)(heaviest / MOST);
    if (of_sum > scale) scale = of_sum;
    return scale > LEAST ? scale : LEAST;
}

/* One group with a given scale: its step and low, the levels, and the sum of the sizes of the whole numbers. */
INLINE int32_t round_group(const float *w, float scale, uint8_t *levels, uint8_t *step, int8_t *low) {
    const __m256 divisor = _mm256_set1_ps(scale), top = _mm256_set1_ps(15);
    __m256 v[4], least, most;
    UNROLL for (int i = 0; i < 4; i++) v[i] = _mm256_div_ps(_mm256_load_ps(w + i * 8), divisor);
    least = _mm256_min_ps(_mm256_min_ps(v[0], v[1]), _mm256_min_ps(v[2], v[3]));
    most = _mm256_max_ps(_mm256_max_ps(v[0], v[1]), _mm256_max_ps(v[2], v[3]));
    const float from = -largest_of(_mm256_sub_ps(_mm256_setzero_ps(), least)), to = largest_of(most);
    float width = __builtin_ceilf((to - from) / 15 - 0.5f);
    width = width < 1 ? 1 : width > 17 ? 17 : width;
    float start = __builtin_rintf((from + to) / 2 - 7.5f * width);
    start = start < -128 ? -128 : start;
    start = start > 127 - 15 * width ? 127 - 15 * width : start;
    *step = (uint8_t)width, *low = (int8_t)start;
    const __m256 steps = _mm256_set1_ps(width), lows = _mm256_set1_ps(start);
    __m256 sizes = _mm256_setzero_ps();
    UNROLL for (int i = 0; i < 4; i++) {
        __m256 level = _mm256_round_ps(_mm256_div_ps(_mm256_sub_ps(v[i], lows), steps),
                                       _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        level = _mm256_max_ps(_mm256_setzero_ps(), _mm256_min_ps(top, level));
        sizes = _mm256_add_ps(sizes, size_of(_mm256_add_ps(_mm256_mul_ps(level, steps), lows))); /* whole, exact */
        _mm_storel_epi64((__m128i *)(levels + i * 8), in_bytes(_mm256_cvtps_epi32(level)));
    }
    return (int32_t)sum_of_floats(sizes);
}

/* One of the channels at `to`; `levels` has room for a channel. */
INLINE float round_channel(const float *w, ptrdiff_t width, int channel, uint8_t *levels, uint8_t *to, uint8_t *steps,
                           int8_t *lows) {
    const ptrdiff_t groups = width / GROUP, parts = (width + LONGEST - 1) / LONGEST;
    float scale = first_scale(w, width);
    for (int is_sound = 0; !is_sound;) {
        is_sound = 1;
        for (ptrdiff_t part = 0; part < parts && is_sound; part++) {
            int32_t sum = 0;
            for (ptrdiff_t g = part * groups / parts; g < (part + 1) * groups / parts; g++) {
                const ptrdiff_t at = g / 2 * 2 * TOGETHER + 2 * channel + g % 2;
                sum += round_group(w + g * GROUP, scale, levels + g * GROUP, steps + at, lows + at);
            }
            is_sound = sum <= MOST;
        }
        if (!is_sound) scale *= 1.125f;
    }
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        __m256i first = _mm256_loadu_si256((const __m256i *)(levels + k));
        __m256i second = _mm256_loadu_si256((const __m256i *)(levels + k + GROUP));
        uint8_t both[GROUP];
        _mm256_storeu_si256((__m256i *)both, _mm256_or_si256(first, _mm256_slli_epi16(second, 4)));
        for (int j = 0; j < GROUP; j += 4) memcpy(to + k * 4 + j * TOGETHER + channel * 4, both + j, 4);
    }
    return scale;
}

/* Channels of a weight, the first of them a multiple of TOGETHER; what is left of their last block is filled with zeros. */
EXPORT FAST int llama_gui_int4_round(const char *w, int kind, ptrdiff_t channels, ptrdiff_t width, uint8_t *levels,
                                     uint8_t *steps, int8_t *lows, float *scales) {
    int failed = 0;
#pragma omp parallel if (channels * width > WORTH_SHARING)
    {
        float *wide = aligned(width * (sizeof *wide + 1));
        if (wide == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for
        for (ptrdiff_t block = 0; block < channels; block += TOGETHER) {
            uint8_t *to = levels + block * (width / 2), *its_steps = steps + block * (width / GROUP);
            int8_t *its_lows = lows + block * (width / GROUP);
            if (wide == NULL) continue;
            if (channels - block < TOGETHER) {
                memset(to, 0, TOGETHER * width / 2);
                memset(its_steps, 0, TOGETHER * width / GROUP);
                memset(its_lows, 0, TOGETHER * width / GROUP);
            }
            for (int i = 0; i < TOGETHER && block + i < channels; i++) {
                widen(w + (block + i) * width * bytes_of((Kind)kind), (Kind)kind, width, wide);
                scales[block + i] = round_channel(wide, width, i, (uint8_t *)(wide + width), to, its_steps, its_lows);
            }
        }
        free(wide);
    }
    return failed;
}

/* silu(gate * factor) * up, gate and up side by side in each row; rounded to eight bits where `levels` is given. */
EXPORT FAST int llama_gui_gate(const float *x, ptrdiff_t rows, ptrdiff_t width, const float *factors, int8_t *levels,
                               float *scales, float *y) {
    int failed = 0;
#pragma omp parallel if (rows * width > WORTH_SHARING / 4)
    {
        float *inner = levels ? aligned(width * sizeof *inner) : NULL;
        if (levels && inner == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for
        for (ptrdiff_t r = 0; r < rows; r++) {
            const float *gate = x + r * 2 * width, *up = gate + width;
            const __m256 factor = _mm256_set1_ps(factors ? factors[r] : 1.0f);
            float *to = levels ? inner : y + r * width;
            if (to == NULL) continue;
            for (ptrdiff_t k = 0; k < width; k += 8) {
                __m256 opened = silu(_mm256_mul_ps(_mm256_loadu_ps(gate + k), factor));
                _mm256_storeu_ps(to + k, _mm256_mul_ps(opened, _mm256_loadu_ps(up + k)));
            }
            if (levels) scales[r] = quantise_row(inner, width, levels + r * width);
        }
        free(inner);
    }
    return failed;
}

/* --- attention. A query sees the keys of its conversation up to its own place, KEYS at a time from the first on: what
 * is computed for it does not depend on the other queries of the call. Softmax as it goes: Milakov and Gimelshein 2018. */

enum { KEYS = 256 };          /* whose scores are there at a time */
enum { QUERIES = 16 };        /* tokens of one conversation that one thread takes at a time */
enum { WIDEST = 256 };        /* numbers of a head */

typedef struct {
    int64_t row, length, start;     /* of the queries in the call; tokens before the first of them */
    float *keys, *values;           /* of the first layer: [layers][kv_heads][capacity][dim] */
    int64_t layer_stride, head_stride; /* in numbers */
} Span;

typedef struct {
    const float *q, *k, *v; /* rows of heads; rows lie `q_stride`, `k_stride` and `v_stride` numbers apart */
    ptrdiff_t q_stride, k_stride, v_stride;
    ptrdiff_t heads, kv_heads, dim, window; /* window: how many tokens are seen at most, or 0 for all */
    float scale;
    float *y; /* [rows][heads][dim] */
} Attention;

/* Scores of two queries for all keys of a block; four keys at a time. */
INLINE void scores_of(const float *const q[2], const float *keys, ptrdiff_t count, ptrdiff_t dim, float scale,
                      float scores[2][KEYS]) {
    ptrdiff_t j = 0;
    for (; j < count; j += 4) {
        __m256 total[8];
        UNROLL for (int i = 0; i < 8; i++) total[i] = _mm256_setzero_ps();
        const float *key[4];
        UNROLL for (int i = 0; i < 4; i++) key[i] = keys + (j + i < count ? j + i : count - 1) * dim;
        for (ptrdiff_t d = 0; d < dim; d += 8) {
            __m256 first = _mm256_loadu_ps(q[0] + d), second = _mm256_loadu_ps(q[1] + d);
            UNROLL for (int i = 0; i < 4; i++) {
                __m256 number = _mm256_loadu_ps(key[i] + d);
                total[i] = _mm256_fmadd_ps(first, number, total[i]);
                total[4 + i] = _mm256_fmadd_ps(second, number, total[4 + i]);
            }
        }
        UNROLL for (int i = 0; i < 4; i++) {
            scores[0][j + i] = sum_of_floats(total[i]) * scale;
            scores[1][j + i] = sum_of_floats(total[4 + i]) * scale;
        }
    }
}

typedef struct {
    float largest, sum;
    float values[WIDEST];
} Seen;

/* The weights of the keys `from` to `to` of a block, in the place of their scores; others get 0. */
INLINE void soften(float *scores, ptrdiff_t from, ptrdiff_t to, ptrdiff_t dim, Seen *seen) {
    const ptrdiff_t end = up_to(to, 8);
    for (ptrdiff_t j = 0; j < from; j++) scores[j] = -__builtin_inff();
    for (ptrdiff_t j = to; j < end; j++) scores[j] = -__builtin_inff();
    __m256 most = _mm256_set1_ps(seen->largest);
    for (ptrdiff_t j = 0; j < end; j += 8) most = _mm256_max_ps(_mm256_loadu_ps(scores + j), most);
    const float largest = largest_of(most);
    const __m256 shift = _mm256_set1_ps(largest);
    __m256 sum = _mm256_setzero_ps();
    for (ptrdiff_t j = 0; j < end; j += 8) {
        __m256 weight = exponential(_mm256_sub_ps(_mm256_loadu_ps(scores + j), shift));
        sum = _mm256_add_ps(sum, weight);
        _mm256_storeu_ps(scores + j, weight);
    }
    if (largest != seen->largest) {
        const __m256 factor = exponential(_mm256_set1_ps(seen->largest - largest));
        seen->sum *= _mm256_cvtss_f32(factor);
        for (ptrdiff_t d = 0; d < dim; d += 8)
            _mm256_storeu_ps(seen->values + d, _mm256_mul_ps(_mm256_loadu_ps(seen->values + d), factor));
    }
    seen->largest = largest;
    seen->sum += sum_of_floats(sum);
}

/* Adds up values, `vectors` of eight numbers at a time. */
INLINE void add_values(const float *weights, const float *values, ptrdiff_t from, ptrdiff_t to, ptrdiff_t dim,
                       int vectors, float *sums) {
    __m256 total[8];
    UNROLL for (int i = 0; i < vectors; i++) total[i] = _mm256_loadu_ps(sums + 8 * i);
    for (ptrdiff_t j = from; j < to; j++) {
        __m256 weight = _mm256_broadcast_ss(weights + j);
        UNROLL for (int i = 0; i < vectors; i++)
            total[i] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(values + j * dim + 8 * i), total[i]);
    }
    UNROLL for (int i = 0; i < vectors; i++) _mm256_storeu_ps(sums + 8 * i, total[i]);
}

/* Some queries of one conversation and one key head: `count` tokens from `first` on. */
FAST static void attend_some(const Attention *a, const Span *span, const float *keys, const float *values,
                             ptrdiff_t head, ptrdiff_t first, ptrdiff_t count, Seen *seen) {
    const ptrdiff_t group = a->heads / a->kv_heads, queries = count * group, dim = a->dim;
    const ptrdiff_t last = span->start + first + count - 1;
    for (ptrdiff_t i = 0; i < queries; i++) {
        seen[i].largest = -__builtin_inff(), seen[i].sum = 0;
        memset(seen[i].values, 0, dim * sizeof(float));
    }
    ptrdiff_t begin = a->window && span->start + first + 1 > a->window ? span->start + first + 1 - a->window : 0;
    for (ptrdiff_t block = begin / KEYS * KEYS; block <= last; block += KEYS) {
        const ptrdiff_t there = last + 1 - block < KEYS ? last + 1 - block : KEYS;
        for (ptrdiff_t i = 0; i < queries; i += 2) {
            float scores[2][KEYS];
            const float *q[2];
            for (int n = 0; n < 2; n++) {
                const ptrdiff_t query = i + n < queries ? i + n : i;
                q[n] = a->q + (span->row + first + query / group) * a->q_stride + (head * group + query % group) * dim;
            }
            scores_of(q, keys + block * dim, there, dim, a->scale, scores);
            for (int n = 0; n < 2 && i + n < queries; n++) {
                const ptrdiff_t place = span->start + first + (i + n) / group;
                ptrdiff_t from = a->window && place + 1 > a->window ? place + 1 - a->window - block : 0;
                ptrdiff_t to = place + 1 - block < KEYS ? place + 1 - block : KEYS;
                if (from < 0) from = 0;
                if (to <= from) continue;
                soften(scores[n], from, to, dim, &seen[i + n]);
                ptrdiff_t d = 0;
                for (; d + 64 <= dim; d += 64)
                    add_values(scores[n], values + block * dim + d, from, to, dim, 8, seen[i + n].values + d);
                for (; d < dim; d += 8)
                    add_values(scores[n], values + block * dim + d, from, to, dim, 1, seen[i + n].values + d);
            }
        }
    }
    for (ptrdiff_t i = 0; i < queries; i++) {
        float *y = a->y + ((span->row + first + i / group) * a->heads + head * group + i % group) * dim;
        for (ptrdiff_t d = 0; d < dim; d++) y[d] = seen[i].values[d] / seen[i].sum;
    }
}

/* Writes the new keys and values of all spans, and attends to them and those before. */
EXPORT FAST int llama_gui_attend(const float *q, ptrdiff_t q_stride, const float *k, ptrdiff_t k_stride, const float *v,
                                 ptrdiff_t v_stride, ptrdiff_t heads, ptrdiff_t kv_heads, ptrdiff_t dim, ptrdiff_t window,
                                 float scale, const Span *spans, ptrdiff_t count, ptrdiff_t layer, float *y) {
    const Attention a = {q, k, v, q_stride, k_stride, v_stride, heads, kv_heads, dim, window, scale, y};
    const ptrdiff_t group = heads / kv_heads;
    int failed = 0;
#pragma omp parallel
    {
        Seen *seen = aligned(QUERIES * group * sizeof *seen);
        if (seen == NULL) {
#pragma omp atomic write
            failed = 1;
        }
        for (ptrdiff_t s = 0; s < count; s++) {
            const Span *span = &spans[s];
            float *keys = span->keys + layer * span->layer_stride, *values = span->values + layer * span->layer_stride;
#pragma omp for nowait
            for (ptrdiff_t head = 0; head < kv_heads; head++)
                for (ptrdiff_t t = 0; t < span->length; t++) {
                    const ptrdiff_t to = head * span->head_stride + (span->start + t) * dim;
                    memcpy(keys + to, k + (span->row + t) * k_stride + head * dim, dim * sizeof *k);
                    memcpy(values + to, v + (span->row + t) * v_stride + head * dim, dim * sizeof *v);
                }
        }
#pragma omp barrier
        for (ptrdiff_t s = 0; s < count; s++) {
            const Span *span = &spans[s];
            const float *keys = span->keys + layer * span->layer_stride;
            const float *values = span->values + layer * span->layer_stride;
            const ptrdiff_t pieces = (span->length + QUERIES - 1) / QUERIES;
#pragma omp for schedule(dynamic) nowait
            for (ptrdiff_t item = 0; item < pieces * kv_heads; item++) {
                const ptrdiff_t head = item % kv_heads, first = (pieces - 1 - item / kv_heads) * QUERIES;
                const ptrdiff_t left = span->length - first;
                if (!failed)
                    attend_some(&a, span, keys + head * span->head_stride, values + head * span->head_stride, head, first,
                                left < QUERIES ? left : QUERIES, seen);
            }
        }
        free(seen);
    }
    return failed;
}

/* --- what is called from outside */

/* Whether this CPU has what the rest needs. */
EXPORT int llama_gui_can_run(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

/* Rows are taken so many at a time that sums stay in registers, and few channels at a time, so that the weights are
 * read from memory once. */
#define BY_ROWS(MOST)                                                                                               \
    for (ptrdiff_t c = all.begin; c < all.end; c += NEAR) {                                                         \
        const Share share = {c, c + NEAR < all.end ? c + NEAR : all.end};                                           \
        for (ptrdiff_t row = begin, some; row < end; row += some) {                                                 \
            const ptrdiff_t left = end - row;                                                                       \
            some = left >= 8 && MOST >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;                                  \
            switch (some) {                                                                                         \
            case 8: CALL(8); break;                                                                                 \
            case 4: CALL(4); break;                                                                                 \
            case 2: CALL(2); break;                                                                                 \
            default: CALL(1);                                                                                       \
            }                                                                                                       \
        }                                                                                                           \
    }

/* How many rows of `bytes` each stay in the second-level cache. */
static ptrdiff_t stretch_of(ptrdiff_t bytes) {
    ptrdiff_t rows = CACHE / bytes;
    return rows < FEW ? FEW : rows / FEW * FEW;
}

#define CALL(R)                                                                                                     \
    for (ptrdiff_t i = share.begin; i < share.end; i++) {                                                           \
        int8_channel(x + row * width, w + i * width, width, R, sums);                                               \
        for (int r = 0; r < R; r++) put(to, row + r, i, (float)sums[r]);                                            \
    }
FAST static void int8_share(const int8_t *x, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t width, const int8_t *w, Share all,
                            const Result *to) {
    int32_t sums[FEW];
    BY_ROWS(8)
}
#undef CALL

EXPORT int llama_gui_int8(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const int8_t *w, ptrdiff_t channels,
                          const float *scales, const float *row_scales, void *y, int kind) {
    const Result to = {y, channels, scales, NULL, row_scales, (Kind)kind};
    const ptrdiff_t stretch = stretch_of(width);
#pragma omp parallel
    {
        const Share share = share_of(channels, NEAR);
        for (ptrdiff_t row = 0; row < rows; row += stretch)
            int8_share(x, row, row + stretch < rows ? row + stretch : rows, width, w, share, &to);
    }
    return 0;
}

#define CALL(R)                                                                                                     \
    for (ptrdiff_t i = share.begin; i < share.end; i += TOGETHER) {                                                 \
        const ptrdiff_t some = share.end - i < TOGETHER ? share.end - i : TOGETHER;                                 \
        int4_channels(x + row * width, x_sums + row * groups, channels_of(w, i, width), width, R, sums);            \
        for (int r = 0; r < R; r++)                                                                                 \
            for (int j = 0; j < some; j++) put(to, row + r, i + j, (float)sums[r][j]);                              \
    }
FAST static void int4_share(const int8_t *x, const int16_t *x_sums, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t width,
                            Int4 w, Share all, const Result *to) {
    const ptrdiff_t groups = width / GROUP;
    int32_t sums[4][TOGETHER];
    BY_ROWS(4)
}
#undef CALL

EXPORT int llama_gui_int4(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const uint8_t *levels, const uint8_t *steps,
                          const int8_t *lows, ptrdiff_t channels, const float *scales, const float *row_scales, void *y,
                          int kind) {
    const Result to = {y, channels, scales, NULL, row_scales, (Kind)kind};
    const Int4 w = {levels, steps, lows};
    const ptrdiff_t groups = width / GROUP, stretch = stretch_of(width);
    int16_t *x_sums = aligned(rows * groups * sizeof *x_sums);
    if (x_sums == NULL) return 1;
    for (ptrdiff_t g = 0; g < rows * groups; g++) {
        int sum = 0;
        for (int j = 0; j < GROUP; j++) sum += x[g * GROUP + j];
        x_sums[g] = (int16_t)sum;
    }
#pragma omp parallel
    {
        const Share share = share_of(channels, NEAR);
        for (ptrdiff_t row = 0; row < rows; row += stretch)
            int4_share(x, x_sums, row, row + stretch < rows ? row + stretch : rows, width, w, share, &to);
    }
    free(x_sums);
    return 0;
}

/* Some channels of four bits written out in eight: [channels][width]. What does not fit in eight bits is not to be there. */
EXPORT FAST int llama_gui_int4_expand(const uint8_t *levels, const uint8_t *steps, const int8_t *lows, ptrdiff_t width,
                                      ptrdiff_t first, ptrdiff_t channels, int8_t *to) {
    const Int4 w = {levels, steps, lows};
#pragma omp parallel for
    for (ptrdiff_t i = 0; i < channels; i++) {
        const int channel = (int)((first + i) % TOGETHER);
        expand_int4(channels_of(w, first + i - channel, width), channel, width, to + i * width);
    }
    return 0;
}

EXPORT FAST int llama_gui_half(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, int weight_kind,
                               ptrdiff_t channels, const float *bias, float *y) {
    const Result to = {y, channels, NULL, bias, NULL, FLOAT32};
    const ptrdiff_t each = up_to(rows * NEAR_HALF * sizeof(float), ALIGNMENT) / sizeof(float);
    float *arranged = aligned(rows * up_to(width, STEP) * sizeof *x), *sums = aligned(omp_get_max_threads() * each * sizeof *x);
    if (arranged && sums) {
        arrange_rows(x, rows, width, (Kind)weight_kind, arranged);
#pragma omp parallel
        {
            const Share share = share_of(channels, NEAR_HALF);
            float *own = sums + omp_get_thread_num() * each;
            /* A loop for each: the kind is known where it is compiled. */
            if (weight_kind == FLOAT16) half_share(arranged, rows, width, w, FLOAT16, share, &to, own);
            else half_share(arranged, rows, width, w, BFLOAT16, share, &to, own);
        }
    }
    const int failed = !arranged || !sums;
    free(arranged);
    free(sums);
    return failed;
}

#else

EXPORT int llama_gui_can_run(void) { return 0; }

#endif
