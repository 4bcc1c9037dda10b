/* Products with weights of four bits in registers of 512 bits, two blocks of TOGETHER channels at a time. The sums are the same
 * whole numbers as those of whole_products.h, so every result has the same bits. */

enum { WIDE_FOURS = 8 }; /* rows of a tile */

/* Neighbours, or two places of the weight. */
typedef struct {
    Int4 first, second;
} WideInt4;

/* Steps of both groups. Those of later groups are prefetched, a line at a time. */
INLINE_512 __m512i wide_int4_steps(const WideInt4 *of, Fetched ahead, ptrdiff_t k) {
    if (k % 256 == 0 && ahead.count) {
        const ptrdiff_t at = k / 4 + ahead.bytes / 16;
        fetch_line_early(of->first.steps + at);
        fetch_line_early(of->second.steps + at);
        fetch_line_early(of->first.lows + at);
        fetch_line_early(of->second.lows + at);
    }
    return _mm512_cvtepu8_epi16(both_quarters(of->first.steps + k / 4, of->second.steps + k / 4));
}

/* See `int4_channels`. Sixteen products of a group are at most 16 * 15 * 127, which fits in 16 bits: so those are multiplied
 * with steps of 16 bits, and the upper half of each sum, its sign, with zero. */
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
                if (j % 8 == 0 && ahead.count) fetch_stream(ahead, 0, a), fetch_stream(ahead, 1, b);
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

/* The blocks of TOGETHER channels that begin at each of these. If the second is beyond the last, it is the first again. */
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
    const Fetched ahead = places == 1 ? next_near(at, NEAR * width / 2) : further(places);
    __m512 sums[WIDE_FOURS];
    for (ptrdiff_t c = channels.begin; c < channels.end; c += places == 1 ? NEAR : TOGETHER) {
        const ptrdiff_t second = second_block(c, places, apart);
        const WideInt4 from = wide_int4_at(of, c, second);
        wide_int4_tiles[at.rows - 1](of->x + at.row * width, of->x_sums + at.row * of->sums, &from, ahead, width, sums);
        put_wide(&of->to, at, c, second, sums);
    }
}
