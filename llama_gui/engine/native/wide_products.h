/* Products in registers of 512 bits, for CPUs with AVX-512 and VNNI: four products of eight bits are added to 32 bits in one
 * operation. The sums are the same whole numbers as those of whole_products.h, so every result has the same bits.
 * Where such a CPU multiplies bfloat16 itself, rows are rounded to that, too, as they are in a network of bfloat16, and pairs of
 * products are added to float32: the same chain for each row and channel, in calls of any size. */

#define TARGET_512 "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
/* Products of bfloat16 stand in assembly only: the compiler need not know of them. */
#define IN_512 __attribute__((target(TARGET_512)))
#define INLINE_512 static inline __attribute__((always_inline, target(TARGET_512)))
#define TILE_512 static __attribute__((noinline, target(TARGET_512))) void

/* sum += four products of eight bits, the first without a sign, and of two of 16 bits, in each lane; and of four bytes in memory
 * with each lane. gcc would copy the sums to and fro. */
#define ADD_PRODUCTS(sum, bytes, signed_bytes) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(signed_bytes))
#define ADD_HALVES(sum, halves, others) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(halves), "v"(others))
#define ADD_PRODUCTS_16(sum, words, others) __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(words), "v"(others))
#define ADD_PRODUCTS_OF(sum, bytes, at) \
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(bytes), "m"(*(const Four *)(at)))

typedef int32_t Four __attribute__((may_alias, aligned(1)));

enum { FURTHER = 1024 }; /* bytes */

/* What the memory is to fetch while something is multiplied: bytes from that on, and of which of its streams: `count` from
 * `first` on. The processor's own fetching reached half of what this does (measured on Zen 5). */
typedef struct {
    ptrdiff_t bytes;
    int first, count;
} Fetched;

/* `count` streams that run through the weight. */
INLINE Fetched further(int count) { return (Fetched){FURTHER, 0, count}; }

/* What is multiplied next, `bytes` further on: the first two tiles fetch half of it each. */
INLINE Fetched next_near(Tile tile, ptrdiff_t bytes, int count) {
    if (tile.of == 1) return (Fetched){bytes, 0, count};
    return (Fetched){bytes, tile.number ? count / 2 : 0, tile.number < 2 ? count / 2 : 0};
}

/* The line behind `at`, if `stream` is one of those. */
INLINE void fetch(Fetched ahead, int stream, const void *at) {
    if (stream >= ahead.first && stream < ahead.first + ahead.count)
        _mm_prefetch((const char *)at + ahead.bytes, _MM_HINT_T0);
}

/* --- eight bits and bfloat16, channel by channel. Weights of eight bits are moved up by 128, because one operand has no sign;
 * sums of x tell what that brings. Sums may pass 32 bits on their way, and come back. All widths are in bytes. */

enum { MOVED_BY = 128, WIDE_BYTES = 64, WIDE_ROWS = 6, WIDE_PLACES = 4 };

INLINE_512 __m128i four_sums(const __m512i *v) {
    __m512i first = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    __m512i second = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* The same of float32. */
INLINE_512 __m128 four_float_sums(const __m512i *of) {
    __m512 v[4];
    UNROLL for (int i = 0; i < 4; i++) v[i] = _mm512_castsi512_ps(of[i]);
    __m512 first = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
    __m512 second = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
    __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(first), _mm512_castps_pd(second));
    __m512d high = _mm512_unpackhi_pd(_mm512_castps_pd(first), _mm512_castps_pd(second));
    __m512 all = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* Four channels times some rows. */
typedef struct {
    const int8_t *x, *w;
    const int32_t *x_totals;      /* of rows of eight bits; NULL: of bfloat16 */
    ptrdiff_t width, stride, apart; /* of a row, from row to row, and from channel to channel */
    Fetched ahead;
} WideCall;

/* Sums [rows][4]. */
INLINE_512 void wide_rows(const WideCall *of, int rows, int are_halves, __m128 *sums) {
    const __m512i sign = _mm512_set1_epi8((char)MOVED_BY);
    const ptrdiff_t width = of->width, stride = of->stride, apart = of->apart;
    const int8_t *const x = of->x, *const w = of->w;
    const Fetched ahead = of->ahead;
    __m512i total[WIDE_ROWS * WIDE_PLACES];
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int i = 0; i < WIDE_PLACES; i++) total[r * WIDE_PLACES + i] = _mm512_setzero_si512();
    __mmask64 there = ~(__mmask64)0;
    AS_A_LOOP for (ptrdiff_t k = 0; k < width; k += WIDE_BYTES) {
        if (width - k < WIDE_BYTES) there = ((__mmask64)1 << (width - k)) - 1;
        __m512i weight[WIDE_PLACES];
        UNROLL for (int i = 0; i < WIDE_PLACES; i++) {
            weight[i] = _mm512_maskz_loadu_epi8(there, w + i * apart + k);
            if (!are_halves) weight[i] = _mm512_xor_si512(weight[i], sign);
        }
        if (ahead.count)
            UNROLL for (int i = 0; i < WIDE_PLACES; i++) fetch(ahead, i, w + i * apart + k);
        UNROLL for (int r = 0; r < rows; r++) {
            const __m512i level = _mm512_maskz_loadu_epi8(there, x + r * stride + k);
            UNROLL for (int i = 0; i < WIDE_PLACES; i++) {
                if (are_halves) ADD_HALVES(total[r * WIDE_PLACES + i], weight[i], level);
                else ADD_PRODUCTS(total[r * WIDE_PLACES + i], weight[i], level);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        if (are_halves) {
            sums[r] = four_float_sums(total + r * WIDE_PLACES);
        } else {
            const int32_t moved = (int32_t)((uint32_t)of->x_totals[r] * MOVED_BY);
            sums[r] = _mm_cvtepi32_ps(_mm_sub_epi32(four_sums(total + r * WIDE_PLACES), _mm_set1_epi32(moved)));
        }
    }
}

#define WIDE_ROWS_OF(KIND, ARE_HALVES, ROWS)                                                                        \
    TILE_512 wide_##KIND##_##ROWS(const WideCall *of, __m128 *sums) { wide_rows(of, ROWS, ARE_HALVES, sums); }
#define WIDE_ROWS_TILES(KIND, ARE_HALVES)                                                                           \
    WIDE_ROWS_OF(KIND, ARE_HALVES, 1) WIDE_ROWS_OF(KIND, ARE_HALVES, 2) WIDE_ROWS_OF(KIND, ARE_HALVES, 3)           \
    WIDE_ROWS_OF(KIND, ARE_HALVES, 4) WIDE_ROWS_OF(KIND, ARE_HALVES, 5) WIDE_ROWS_OF(KIND, ARE_HALVES, 6)
WIDE_ROWS_TILES(int8, 0) WIDE_ROWS_TILES(bfloat16, 1)
#undef WIDE_ROWS_OF
#undef WIDE_ROWS_TILES

typedef void WideRowsTile(const WideCall *, __m128 *);
static const int8_t wide_rows_places[FEW] = {4, 4, 4, 4};
static WideRowsTile *const wide_rows_tiles[2][WIDE_ROWS] = { /* [are_halves][rows - 1] */
    {wide_int8_1, wide_int8_2, wide_int8_3, wide_int8_4, wide_int8_5, wide_int8_6},
    {wide_bfloat16_1, wide_bfloat16_2, wide_bfloat16_3, wide_bfloat16_4, wide_bfloat16_5, wide_bfloat16_6},
};

INLINE WideRowsTile *wide_rows_tile(const Product *of, Tile at) { return wide_rows_tiles[of->x_totals == NULL][at.rows - 1]; }

/* Whole rows times the channel at `channel` and three that lie `apart` channels from each other. */
INLINE WideCall wide_call(const Product *of, Tile at, ptrdiff_t channel, ptrdiff_t apart) {
    return (WideCall){
        .x = of->x + at.row * of->stride, .stride = of->stride, .w = (const int8_t *)of->weight + channel * of->width,
        .x_totals = of->x_totals ? of->x_totals + at.row : NULL, .width = of->width, .apart = apart * of->width,
    };
}

/* One channel in each of four places. */
static IN_512 void wide_rows_streams(const Product *of, Tile at, Share channels, ptrdiff_t apart) {
    for (ptrdiff_t c = channels.begin; c < channels.end; c++) {
        WideCall call = wide_call(of, at, c, apart);
        call.ahead = further(WIDE_PLACES);
        __m128 sums[WIDE_ROWS];
        wide_rows_tile(of, at)(&call, sums);
        for (int r = 0; r < at.rows; r++) {
            float each[WIDE_PLACES];
            _mm_storeu_ps(each, sums[r]);
            for (int i = 0; i < WIDE_PLACES; i++) put(&of->to, at.row + r, c + i * apart, each[i]);
        }
    }
}

/* Up to four channels from `c` on, those before `end`. */
static IN_512 void wide_rows_four(const Product *of, Tile at, ptrdiff_t c, ptrdiff_t end, __m128 *sums) {
    WideRowsTile *const tile = wide_rows_tile(of, at);
    if (end - c >= WIDE_PLACES) {
        WideCall call = wide_call(of, at, c, 1);
        call.ahead = next_near(at, NEAR * of->width, WIDE_PLACES);
        tile(&call, sums);
        return;
    }
    float each[WIDE_ROWS][WIDE_PLACES] = {{0}};
    for (ptrdiff_t i = 0; i < end - c; i++) { /* four times the same */
        const WideCall call = wide_call(of, at, c + i, 0);
        tile(&call, sums);
        for (int r = 0; r < at.rows; r++) each[r][i] = _mm_cvtss_f32(sums[r]);
    }
    for (int r = 0; r < at.rows; r++) sums[r] = _mm_loadu_ps(each[r]);
}

static IN_512 void multiply_wide_rows(const Product *of, Tile at, Share channels, int places, ptrdiff_t apart) {
    if (places > 1) {
        wide_rows_streams(of, at, channels, apart);
        return;
    }
    for (ptrdiff_t c = channels.begin; c < channels.end; c += 2 * WIDE_PLACES) {
        __m128 low[WIDE_ROWS], high[WIDE_ROWS];
        wide_rows_four(of, at, c, channels.end, low);
        wide_rows_four(of, at, c + WIDE_PLACES, channels.end, high);
        for (int r = 0; r < at.rows; r++)
            put_eight(&of->to, at.row + r, c, channels.end - c, _mm256_set_m128(high[r], low[r]));
    }
}

/* --- four bits, two blocks of TOGETHER channels at a time */

enum { WIDE_FOURS = 8 }; /* rows of a tile */

/* Neighbours, or two places of the weight. */
typedef struct {
    Int4 first, second;
} WideInt4;

INLINE_512 __m512i both_halves(const void *first, const void *second) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(first)), _mm256_loadu_si256(second), 1);
}

INLINE_512 __m256i both_quarters(const void *first, const void *second) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)), _mm_loadu_si128(second), 1);
}

INLINE_512 __m512i broadcast(const void *at) { return _mm512_set1_epi32(four_bytes(at)); }

/* Steps of both groups. What later groups have is fetched, a line at a time. */
INLINE_512 __m512i wide_int4_steps(const WideInt4 *of, Fetched ahead, ptrdiff_t k) {
    if (k % 256 == 0 && ahead.count) {
        const ptrdiff_t at = k / 4 + ahead.bytes / 16;
        _mm_prefetch((const char *)of->first.steps + at, _MM_HINT_T0);
        _mm_prefetch((const char *)of->second.steps + at, _MM_HINT_T0);
        _mm_prefetch((const char *)of->first.lows + at, _MM_HINT_T0);
        _mm_prefetch((const char *)of->second.lows + at, _MM_HINT_T0);
    }
    return _mm512_cvtepu8_epi16(both_quarters(of->first.steps + k / 4, of->second.steps + k / 4));
}

/* See `int4_channels`. Sixteen products of a group are at most 16 * 15 * 127, which fits in 16 bits: so those are multiplied
 * with steps of 16 bits, and the upper half of each sum, its sign, with nothing. */
INLINE_512 void wide_int4(const int8_t *x, const int16_t *x_sums, const WideInt4 *of, Fetched ahead, ptrdiff_t width, int rows,
                          __m512 *sums) {
    const __m512i low_bits = _mm512_set1_epi8(15);
    __m512i total[WIDE_FOURS];
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm512_setzero_si512();
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        const __m512i lows = _mm512_cvtepi8_epi16(both_quarters(of->first.lows + k / 4, of->second.lows + k / 4));
        const __m512i steps = wide_int4_steps(of, ahead, k), second_steps = _mm512_srli_epi32(steps, 16);
        const __m512i first_steps = _mm512_and_si512(steps, _mm512_set1_epi32(0xFFFF));
        UNROLL for (int r = 0; r < rows; r++) ADD_PRODUCTS_16(total[r], lows, broadcast(x_sums + (r * width + k) / GROUP));
        AS_A_LOOP for (int half = 0; half < GROUP; half += GROUP / 2) {
            __m512i first[WIDE_FOURS], second[WIDE_FOURS];
            UNROLL for (int r = 0; r < rows; r++) first[r] = second[r] = _mm512_setzero_si512();
            UNROLL for (int j = 0; j < GROUP / 2; j += 4) {
                const ptrdiff_t at = k * 4 + (half + j) * TOGETHER;
                const uint8_t *a = of->first.levels + at, *b = of->second.levels + at;
                const __m512i both = both_halves(a, b), low = _mm512_and_si512(both, low_bits);
                const __m512i high = _mm512_and_si512(_mm512_srli_epi16(both, 4), low_bits);
                if (j % 8 == 0 && ahead.count) fetch(ahead, 0, a), fetch(ahead, 1, b);
                UNROLL for (int r = 0; r < rows; r++) {
                    const int8_t *inputs = x + r * width + k + half + j;
                    ADD_PRODUCTS_OF(first[r], low, inputs);
                    ADD_PRODUCTS_OF(second[r], high, inputs + GROUP);
                }
            }
            UNROLL for (int r = 0; r < rows; r++) {
                ADD_PRODUCTS_16(total[r], first[r], first_steps);
                ADD_PRODUCTS_16(total[r], second[r], second_steps);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++) sums[r] = _mm512_cvtepi32_ps(total[r]);
}

#define WIDE_INT4(ROWS)                                                                                             \
    TILE_512 wide_int4_##ROWS(const int8_t *x, const int16_t *x_sums, const WideInt4 *of, Fetched ahead,            \
                              ptrdiff_t width, __m512 *sums) {                                                      \
        wide_int4(x, x_sums, of, ahead, width, ROWS, sums);                                                         \
    }
WIDE_INT4(1) WIDE_INT4(2) WIDE_INT4(3) WIDE_INT4(4) WIDE_INT4(5) WIDE_INT4(6) WIDE_INT4(7) WIDE_INT4(8)
#undef WIDE_INT4

typedef void WideInt4Tile(const int8_t *, const int16_t *, const WideInt4 *, Fetched, ptrdiff_t, __m512 *);
static const int8_t wide_pair_places[FEW] = {2, 2, 1, 1}; /* more streams were slower (measured on Zen 5) */
static WideInt4Tile *const wide_int4_tiles[WIDE_FOURS] = {
    wide_int4_1, wide_int4_2, wide_int4_3, wide_int4_4, wide_int4_5, wide_int4_6, wide_int4_7, wide_int4_8,
};

/* The blocks of TOGETHER channels that begin at each of these. The second may be behind the last: the first again. */
INLINE WideInt4 wide_int4_at(const Product *of, ptrdiff_t first, ptrdiff_t second) {
    const Int4 all = *(const Int4 *)of->weight;
    if (second >= of->to.channels) second = first;
    return (WideInt4){channels_of(all, first, of->width), channels_of(all, second, of->width)};
}

static IN_512 void put_wide(const Result *to, Tile at, ptrdiff_t first, ptrdiff_t second, const __m512 *sums) {
    for (int r = 0; r < at.rows; r++) {
        put_eight(to, at.row + r, first, to->channels - first, _mm512_castps512_ps256(sums[r]));
        if (second < to->channels)
            put_eight(to, at.row + r, second, to->channels - second, _mm512_extractf32x8_ps(sums[r], 1));
    }
}

/* What a tile of two blocks of channels is multiplied with: those side by side, or in two places. */
INLINE ptrdiff_t second_block(ptrdiff_t channel, int places, ptrdiff_t apart) {
    return channel + (places == 1 ? TOGETHER : apart);
}

static IN_512 void multiply_wide_int4(const Product *of, Tile at, Share channels, int places, ptrdiff_t apart) {
    const ptrdiff_t width = of->width;
    const Fetched ahead = places == 1 ? next_near(at, NEAR * width / 2, 2) : further(places);
    __m512 sums[WIDE_FOURS];
    for (ptrdiff_t c = channels.begin; c < channels.end; c += places == 1 ? NEAR : TOGETHER) {
        const ptrdiff_t second = second_block(c, places, apart);
        const WideInt4 from = wide_int4_at(of, c, second);
        wide_int4_tiles[at.rows - 1](of->x + at.row * width, of->x_sums + at.row * of->sums, &from, ahead, width, sums);
        put_wide(&of->to, at, c, second, sums);
    }
}
