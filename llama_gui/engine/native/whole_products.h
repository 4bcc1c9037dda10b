/* Products of rows of eight bits with weights of eight and of four. */

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

#define INT8_TILE(PLACES, ROWS)                                                                                     \
    TILE int8_##PLACES##_##ROWS(const int8_t *x, const int8_t *w, ptrdiff_t apart, ptrdiff_t width, int32_t *sums) {    \
        int8_channels(x, w, apart, PLACES, width, ROWS, sums);                                                      \
    }
INT8_TILE(4, 1) INT8_TILE(4, 2) INT8_TILE(3, 3) INT8_TILE(2, 4)
INT8_TILE(1, 1) INT8_TILE(1, 2) INT8_TILE(1, 3) INT8_TILE(1, 4)
INT8_TILE(1, 5) INT8_TILE(1, 6) INT8_TILE(1, 7) INT8_TILE(1, 8)
#undef INT8_TILE

typedef void Int8Tile(const int8_t *, const int8_t *, ptrdiff_t, ptrdiff_t, int32_t *);
static const int8_t int8_places[FEW] = {4, 4, 3, 2};
static Int8Tile *const int8_tiles[4][8] = { /* [places - 1][rows - 1] */
    {int8_1_1, int8_1_2, int8_1_3, int8_1_4, int8_1_5, int8_1_6, int8_1_7, int8_1_8},
    {[3] = int8_2_4}, {[2] = int8_3_3}, {int8_4_1, int8_4_2},
};

static void multiply_int8(const Product *of, Tile at, Share channels, int places, ptrdiff_t apart) {
    const ptrdiff_t row = at.row;
    const int rows = at.rows;
    Int8Tile *const tile = int8_tiles[places - 1][rows - 1];
    const ptrdiff_t width = of->width;
    int32_t sums[MOST_SUMS];
    for (ptrdiff_t c = channels.begin; c < channels.end; c++) {
        tile(of->x + row * width, (const int8_t *)of->weight + c * width, apart * width, width, sums);
        for (int i = 0; i < places * rows; i++) put(&of->to, row + i % rows, c + i / rows * apart, (float)sums[i]);
    }
}

/* --- four bits. TOGETHER channels lie side by side, a lane of 32 bits for each, and inputs in pairs of groups: levels
 * are [channels / 8][width / 64][8][8 channels][4 inputs], those of the first group in the lower bits; steps and lows are
 * [channels / 8][width / 64][8 channels][2 groups]. llama.cpp repacks its own kinds in this way, too. */

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

/* Steps and lows of two groups that lie together, in 16 bits, for a vector of channels. */
typedef struct {
    __m256i first_steps, second_steps, lows;
} PairScales;

/* Both in 16 bits, those of a channel's two groups side by side. */
INLINE PairScales pair_of(__m256i steps, __m256i lows) {
    /* The bytes of the first of two groups' 16 bits, in both halves of each lane; and of the second. */
    const __m256i first_of_two = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13));
    const __m256i second_of_two = _mm256_add_epi8(first_of_two, _mm256_set1_epi8(2));
    return (PairScales){_mm256_shuffle_epi8(steps, first_of_two), _mm256_shuffle_epi8(steps, second_of_two), lows};
}

INLINE __m256i pair_steps(const uint8_t *at) { return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)at)); }

/* 16 bytes each. */
INLINE PairScales pair_scales(const uint8_t *steps, const void *lows) {
    return pair_of(pair_steps(steps), _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)lows)));
}

/* One of the two groups at `levels` of each of `count` weights, times all rows: the products of the first weight's rows, then
 * of the next one's. A pair is at most 2 * 15 * 127, so eight fit in 16 bits. */
INLINE void group_products(Adding how, const int8_t *x, const uint8_t *const *levels, int count, ptrdiff_t width, int rows,
                           int is_second, __m256i *products) {
    const __m256i low_bits = _mm256_set1_epi8(15);
    UNROLL for (int r = 0; r < count * rows; r++) products[r] = _mm256_setzero_si256();
    AS_A_LOOP for (int j = 0; j < GROUP; j += 4) { /* unrolled, it would need more registers than there are */
        __m256i level[4];
        UNROLL for (int i = 0; i < count; i++) {
            __m256i both = _mm256_loadu_si256((const __m256i *)(levels[i] + j * TOGETHER));
            level[i] = _mm256_and_si256(is_second ? _mm256_srli_epi16(both, 4) : both, low_bits);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const __m256i four = _mm256_set1_epi32(four_bytes(x + r * width + is_second * GROUP + j));
            UNROLL for (int i = 0; i < count; i++)
                add_products(how, &products[i * rows + r], level[i], four);
        }
    }
}

/* Both groups' sums of x. */
INLINE __m256i two_sums(const int16_t *x_sums, ptrdiff_t row, ptrdiff_t width, ptrdiff_t k) {
    return _mm256_set1_epi32(four_bytes(x_sums + (row * width + k) / GROUP));
}

/* A group's sum is step * (levels times x) + low * (sum of x); `x_sums` are those of all groups, row by row. Each of
 * `streams` weights with all rows; `sums` are those of the first one's rows, then of the next one's. */
INLINE void int4_channels(Adding how, const int8_t *x, const int16_t *x_sums, const Int4 *streams, int count, ptrdiff_t width,
                          int rows, __m256i *sums) {
    __m256i total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_si256();
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        __m256i products[MOST_SUMS];
        const uint8_t *levels[4];
        PairScales of[4];
        UNROLL for (int i = 0; i < count; i++) {
            levels[i] = streams[i].levels + k * 4;
            of[i] = pair_scales(streams[i].steps + k / 4, streams[i].lows + k / 4);
            UNROLL for (int r = 0; r < rows; r++) {
                __m256i low = _mm256_madd_epi16(of[i].lows, two_sums(x_sums, r, width, k));
                total[i * rows + r] = _mm256_add_epi32(total[i * rows + r], low);
            }
        }
        UNROLL for (int is_second = 0; is_second < 2; is_second++) {
            group_products(how, x + k, levels, count, width, rows, is_second, products);
            UNROLL for (int r = 0; r < count * rows; r++) {
                const __m256i steps = is_second ? of[r / rows].second_steps : of[r / rows].first_steps;
                total[r] = _mm256_add_epi32(total[r], stepped_sums(how, products[r], steps));
            }
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) sums[r] = total[r];
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
            /* Products are below 256, so two are computed at a time: those of the even and of the odd bytes. */
            __m256i values = _mm256_or_si256(_mm256_mullo_epi16(_mm256_and_si256(levels, even), step),
                                             _mm256_slli_epi16(_mm256_mullo_epi16(_mm256_srli_epi16(levels, 8), step), 8));
            _mm256_storeu_si256((__m256i *)(to + k + half * GROUP), _mm256_add_epi8(values, low));
        }
    }
}

static void sum_groups(const int8_t *x, ptrdiff_t groups, int16_t *sums) {
    for (ptrdiff_t g = 0; g < groups; g++) {
        int sum = 0;
        for (int j = 0; j < GROUP; j++) sum += x[g * GROUP + j];
        sums[g] = (int16_t)sum;
    }
}

#define INT4_TILE_IN(HOW, PLACES, ROWS)                                                                             \
    TILE int4_##PLACES##_##ROWS##_##HOW(const int8_t *x, const int16_t *x_sums, const Int4 *w, ptrdiff_t width,     \
                                        __m256i *sums) {                                                            \
        int4_channels(HOW, x, x_sums, w, PLACES, width, ROWS, sums);                                                \
    }
#define INT4_TILE(PLACES, ROWS)                                                                                     \
    INT4_TILE_IN(IN_PAIRS, PLACES, ROWS) INT4_TILE_IN(IN_FOURS, PLACES, ROWS) INT4_TILE_IN(IN_FOURS_512, PLACES, ROWS)
INT4_TILE(4, 1) INT4_TILE(3, 2)
INT4_TILE(1, 1) INT4_TILE(1, 2) INT4_TILE(1, 3) INT4_TILE(1, 4) INT4_TILE(1, 5)
INT4_TILE(2, 1) INT4_TILE(2, 2) INT4_TILE(2, 3) INT4_TILE(2, 4) INT4_TILE(2, 5)

typedef void Int4Tile(const int8_t *, const int16_t *, const Int4 *, ptrdiff_t, __m256i *);
static const int8_t int4_places[FEW] = {4, 3, 1, 1};
#define MANY_IN(HOW, PLACES)                                                                                        \
    {int4_##PLACES##_1_##HOW, int4_##PLACES##_2_##HOW, int4_##PLACES##_3_##HOW, int4_##PLACES##_4_##HOW,            \
     int4_##PLACES##_5_##HOW}
#define INT4_TILES_IN(HOW) {MANY_IN(HOW, 1), MANY_IN(HOW, 2), {[1] = int4_3_2_##HOW}, {int4_4_1_##HOW}}
static Int4Tile *const int4_tiles[WAYS][4][MANY] = { /* [how][places - 1][rows - 1] */
    INT4_TILES_IN(IN_PAIRS), INT4_TILES_IN(IN_FOURS), INT4_TILES_IN(IN_FOURS_512),
};
#undef INT4_TILE_IN
#undef INT4_TILE
#undef MANY_IN
#undef INT4_TILES_IN

static void multiply_int4(const Product *of, Tile at, Share channels, int places, ptrdiff_t apart) {
    const ptrdiff_t row = at.row;
    const int rows = at.rows;
    __m256i sums[MOST_SUMS];
    for (ptrdiff_t c = channels.begin; c < channels.end; c += TOGETHER) {
        Int4 from[4];
        for (int i = 0; i < places; i++) from[i] = channels_of(*(const Int4 *)of->weight, c + i * apart, of->width);
        int4_tiles[adding][places - 1][rows - 1](of->x + row * of->width, of->x_sums + row * of->sums, from, of->width, sums);
        for (int i = 0; i < places * rows; i++) {
            const ptrdiff_t channel = c + i / rows * apart;
            put_eight(&of->to, row + i % rows, channel, of->to.channels - channel, _mm256_cvtepi32_ps(sums[i]));
        }
    }
}

/* Expands some channels from four bits to eight: [channels][width]. All values must fit in eight bits. */
EXPORT int llama_gui_int4_expand(const uint8_t *levels, const uint8_t *steps, const int8_t *lows, ptrdiff_t width,
                                      ptrdiff_t first, ptrdiff_t channels, int8_t *to) {
    const Int4 w = {levels, steps, lows};
#pragma omp parallel for
    for (ptrdiff_t i = 0; i < channels; i++) {
        const int channel = (int)((first + i) % TOGETHER);
        expand_int4(channels_of(w, first + i - channel, width), channel, width, to + i * width);
    }
    return 0;
}
