/* Products of rows of eight bits with weights of eight and of four. */

enum { FEW = 8 };             /* rows that are multiplied together, at most */
enum { NEAR = 16 };           /* channels that all rows are multiplied with before the next */
enum { CACHE = 1 << 18 };     /* bytes of rows that stay in the second-level cache */
enum { MOST_SUMS = 9 };       /* of rows, times places of a weight that they are multiplied with at once: few rows are
                               * multiplied in several places, because memory is read faster so */

/* --- eight bits: |w| times x with the sign of w, in pairs (at most 2 * 127 * 128, which fits in 16 bits) */

/* Each of `count` channels, which lie `apart` bytes from each other, with all rows; the sums are those of the first one's
 * rows, then of the next one's. */
INLINE void int8_channels(const int8_t *x, const int8_t *w, ptrdiff_t apart, int count, ptrdiff_t width, int rows,
                          int32_t *sums) {
    __m256i total[MOST_SUMS];
    const __m256i ones = _mm256_set1_epi16(1);
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_si256();
    ptrdiff_t k = 0;
    for (; k + 32 <= width; k += 32) {
        UNROLL for (int i = 0; i < count; i++) {
            __m256i weight = _mm256_loadu_si256((const __m256i *)(w + i * apart + k)), size = _mm256_abs_epi8(weight);
            UNROLL for (int r = 0; r < rows; r++) {
                __m256i level = _mm256_loadu_si256((const __m256i *)(x + r * width + k));
                __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(level, weight));
                total[i * rows + r] = _mm256_add_epi32(total[i * rows + r], _mm256_madd_epi16(pairs, ones));
            }
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) {
        sums[r] = sum_of_whole(total[r]);
        for (ptrdiff_t j = k; j < width; j++) sums[r] += (int32_t)x[r % rows * width + j] * w[r / rows * apart + j];
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

/* What a vector of each channel needs to know of two groups that lie together: their steps and lows, in 16 bits. */
typedef struct {
    __m256i first_steps, second_steps, lows;
} PairScales;

/* 16 bytes each. */
INLINE PairScales pair_scales(const uint8_t *steps_at, const void *lows_at) {
    /* The bytes of the first of two groups' 16 bits, in both halves of each lane; and of the second. */
    const __m256i first_of_two = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13));
    const __m256i second_of_two = _mm256_add_epi8(first_of_two, _mm256_set1_epi8(2));
    __m256i steps = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)steps_at));
    __m256i lows = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)lows_at));
    return (PairScales){_mm256_shuffle_epi8(steps, first_of_two), _mm256_shuffle_epi8(steps, second_of_two), lows};
}

/* Two groups from input `k` on, of all rows: the levels times x, in pairs of products. */
INLINE void pair_products(const int8_t *x, const uint8_t *levels, ptrdiff_t width, ptrdiff_t k, int rows,
                          __m256i *first, __m256i *second) {
    const __m256i low_bits = _mm256_set1_epi8(15);
    UNROLL for (int r = 0; r < rows; r++) first[r] = second[r] = _mm256_setzero_si256();
    for (int j = 0; j < GROUP; j += 4) {
        __m256i both = _mm256_loadu_si256((const __m256i *)(levels + k * 4 + j * TOGETHER));
        __m256i level = _mm256_and_si256(both, low_bits);
        UNROLL for (int r = 0; r < rows; r++) first[r] = add_four(first[r], level, x + r * width + k + j);
        level = _mm256_and_si256(_mm256_srli_epi16(both, 4), low_bits);
        UNROLL for (int r = 0; r < rows; r++) second[r] = add_four(second[r], level, x + r * width + k + GROUP + j);
    }
}

/* Both groups' sums of x. */
INLINE __m256i two_sums(const int16_t *x_sums, ptrdiff_t row, ptrdiff_t width, ptrdiff_t k) {
    return _mm256_set1_epi32(four_bytes(x_sums + (row * width + k) / GROUP));
}

/* A group's sum is step * (levels times x) + low * (sum of x); `x_sums` are those of all groups, row by row. Each of
 * `streams` weights with all rows; the sums are those of the first one's rows, then of the next one's. */
INLINE void int4_channels(const int8_t *x, const int16_t *x_sums, const Int4 *streams, int count, ptrdiff_t width,
                          int rows, int32_t sums[][TOGETHER]) {
    __m256i total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_si256();
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        UNROLL for (int i = 0; i < count; i++) {
            __m256i first[4], second[4];
            pair_products(x, streams[i].levels, width, k, rows, first, second);
            const PairScales of = pair_scales(streams[i].steps + k / 4, streams[i].lows + k / 4);
            UNROLL for (int r = 0; r < rows; r++) {
                __m256i low = _mm256_madd_epi16(of.lows, two_sums(x_sums, r, width, k));
                __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(first[r], of.first_steps), low);
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(second[r], of.second_steps));
                total[i * rows + r] = _mm256_add_epi32(total[i * rows + r], sum);
            }
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) _mm256_storeu_si256((__m256i *)sums[r], total[r]);
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

/* Rows are taken so many at a time that sums stay in registers, and few channels at a time, so that the weights are
 * read from memory once. */
#define BY_ROWS(MOST, CASES)                                                                                        \
    for (ptrdiff_t c = all.begin; c < all.end; c += NEAR) {                                                         \
        const Share share = {c, c + NEAR < all.end ? c + NEAR : all.end};                                           \
        for (ptrdiff_t row = begin, some; row < end; row += some) {                                                 \
            some = end - row < MOST ? end - row : MOST;                                                             \
            switch (some) { CASES }                                                                                 \
        }                                                                                                           \
    }
/* A loop for each number of rows: it is known where it is compiled. */
#define TO_FOUR                                                                                                     \
    case 1: CALL(1); break;                                                                                         \
    case 2: CALL(2); break;                                                                                         \
    case 3: CALL(3); break;                                                                                         \
    case 4: CALL(4); break;
#define TO_EIGHT                                                                                                    \
    TO_FOUR                                                                                                         \
    case 5: CALL(5); break;                                                                                         \
    case 6: CALL(6); break;                                                                                         \
    case 7: CALL(7); break;                                                                                         \
    case 8: CALL(8); break;

/* So few rows that the memory is waited for: COUNT parts of the channels side by side, of UNIT at a time. What does not
 * fit is left to BY_ROWS. */
#define IN_STREAMS(ROWS, COUNT, UNIT)                                                                               \
    if (end - begin == (ROWS)) {                                                                                    \
        const ptrdiff_t part = (all.end - all.begin) / ((COUNT) * (UNIT)) * (UNIT);                                 \
        for (ptrdiff_t i = all.begin; i < all.begin + part; i += UNIT) CALL_STREAMS(ROWS, COUNT);                   \
        all.begin += (COUNT) * part;                                                                                \
    }

/* How many rows of `bytes` each stay in the second-level cache. */
static ptrdiff_t stretch_of(ptrdiff_t bytes) {
    ptrdiff_t rows = CACHE / bytes;
    return rows < FEW ? FEW : rows / FEW * FEW;
}

#define CALL(R)                                                                                                     \
    for (ptrdiff_t i = share.begin; i < share.end; i++) {                                                           \
        int8_channels(x + row * width, w + i * width, 0, 1, width, R, sums);                                        \
        for (int r = 0; r < R; r++) put(to, row + r, i, (float)sums[r]);                                            \
    }
#define CALL_STREAMS(R, COUNT)                                                                                      \
    {                                                                                                               \
        int8_channels(x + begin * width, w + i * width, part * width, COUNT, width, R, sums);                       \
        for (int j = 0; j < (COUNT) * (R); j++) put(to, begin + j % (R), i + j / (R) * part, (float)sums[j]);       \
    }
FAST static void int8_share(const int8_t *x, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t width, const int8_t *w, Share all,
                            const Result *to) {
    int32_t sums[MOST_SUMS];
    IN_STREAMS(1, 4, 1)
    IN_STREAMS(2, 4, 1)
    IN_STREAMS(3, 3, 1)
    IN_STREAMS(4, 2, 1)
    BY_ROWS(FEW, TO_EIGHT)
}
#undef CALL
#undef CALL_STREAMS

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
        const Int4 from = channels_of(w, i, width);                                                                 \
        int4_channels(x + row * width, x_sums + row * groups, &from, 1, width, R, sums);                            \
        for (int r = 0; r < R; r++)                                                                                 \
            for (int j = 0; j < some; j++) put(to, row + r, i + j, (float)sums[r][j]);                              \
    }
#define CALL_STREAMS(R, COUNT)                                                                                      \
    {                                                                                                               \
        Int4 streams[COUNT];                                                                                      \
        for (int j = 0; j < (COUNT); j++) streams[j] = channels_of(w, i + j * part, width);                         \
        int4_channels(x + begin * width, x_sums + begin * groups, streams, COUNT, width, R, sums);                  \
        for (int j = 0; j < (COUNT) * (R) * TOGETHER; j++)                                                          \
            put(to, begin + j / TOGETHER % (R), i + j / TOGETHER / (R) * part + j % TOGETHER,                       \
                (float)sums[j / TOGETHER][j % TOGETHER]);                                                           \
    }
FAST static void int4_share(const int8_t *x, const int16_t *x_sums, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t width,
                            Int4 w, Share all, const Result *to) {
    const ptrdiff_t groups = width / GROUP;
    int32_t sums[MOST_SUMS][TOGETHER];
    IN_STREAMS(1, 4, TOGETHER)
    IN_STREAMS(2, 3, TOGETHER)
    BY_ROWS(4, TO_FOUR)
}
#undef CALL
#undef CALL_STREAMS

/* Of each group of each row; NULL: there is no room. */
static int16_t *sums_of_groups(const int8_t *x, ptrdiff_t groups) {
    int16_t *sums = aligned(groups * sizeof *sums);
    for (ptrdiff_t g = 0; sums && g < groups; g++) {
        int sum = 0;
        for (int j = 0; j < GROUP; j++) sum += x[g * GROUP + j];
        sums[g] = (int16_t)sum;
    }
    return sums;
}

EXPORT int llama_gui_int4(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const uint8_t *levels, const uint8_t *steps,
                          const int8_t *lows, ptrdiff_t channels, const float *scales, const float *row_scales, void *y,
                          int kind) {
    const Result to = {y, channels, scales, NULL, row_scales, (Kind)kind};
    const Int4 w = {levels, steps, lows};
    const ptrdiff_t stretch = stretch_of(width);
    int16_t *x_sums = sums_of_groups(x, rows * (width / GROUP));
    if (x_sums == NULL) return 1;
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
