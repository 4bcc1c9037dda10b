/* Products with weights in blocks in the tile registers of AMX, for kinds whose numbers are a level times the step of its group.
 *
 * Such a product has up to 13 bits and a sign: its lower bits and its upper ones are two numbers of eight bits, with which a tile
 * multiplies a whole block. Together their sums are the whole numbers that wide_blocks.h gets from sums of groups times steps; they
 * are scaled and added up in the same order, so every result has the same bits.
 *
 * A block of sixteen channels is written out as a panel whose first half are lower bits, and whose second are upper ones. */

enum { LEAST_TILED_BLOCKS = 16 }; /* rows; fewer are not worth writing weights out */

INLINE int has_tiled_numbers(BlockKind kind) { return kind == Q4_K || kind == Q5_K || kind == Q6_K || kind == IQ4_XS; }

#if TILES
enum { LOWER_BITS = 7 };

/* Four inputs of sixteen channels times `steps`, which stand twice in 32 bits. */
INLINE_512 void put_numbers(__m512i levels, int zero, __m512i steps, int8_t *to) {
    const __m512i lower = _mm512_set1_epi16((1 << LOWER_BITS) - 1), byte = _mm512_set1_epi16(0xFF);
    const __m512i zeros = _mm512_set1_epi16((int16_t)zero);
    const __m512i even = _mm512_mullo_epi16(_mm512_sub_epi16(_mm512_and_si512(levels, byte), zeros), steps);
    const __m512i odd = _mm512_mullo_epi16(_mm512_sub_epi16(_mm512_srli_epi16(levels, 8), zeros), steps);
    const __m512i even_upper = _mm512_and_si512(_mm512_srai_epi16(even, LOWER_BITS), byte);
    const __m512i odd_upper = _mm512_slli_epi16(_mm512_srai_epi16(odd, LOWER_BITS), 8);
    const __m512i odd_lower = _mm512_slli_epi16(_mm512_and_si512(odd, lower), 8);
    _mm512_store_si512(to, _mm512_or_si512(_mm512_and_si512(even, lower), odd_lower));
    _mm512_store_si512(to + TILE_BYTES, _mm512_or_si512(even_upper, odd_upper));
}

INLINE_512 __m512i twice(__m512i words) {
    return _mm512_mullo_epi32(_mm512_and_si512(words, _mm512_set1_epi32(0xFFFF)), _mm512_set1_epi32(0x10001));
}

/* The steps of a pair of groups: of half `half` of the first, and of the second. */
typedef struct {
    __m512i first, second;
} PairSteps;

INLINE_512 PairSteps steps_of_pair(BlockKind kind, const WideBlocks *of, ptrdiff_t k, int half) {
    if (has_small_groups(kind)) {
        const __m512i steps = wide_bytes(of, 2, k / 2);
        return (PairSteps){twice(wide_steps(steps, half)), twice(wide_steps(steps, 2 + half))};
    }
    const __m512i words = kind == IQ4_XS
                              ? _mm512_cvtepi8_epi16(both_quarters(of->first.parts[2] + k / 4, of->second.parts[2] + k / 4))
                              : _mm512_cvtepu8_epi16(both_quarters(of->first.parts[2] + k / 2, of->second.parts[2] + k / 2));
    return (PairSteps){twice(words), twice(_mm512_srli_epi32(words, 16))};
}

INLINE_512 void write_numbers(BlockKind kind, const WideBlocks *of, ptrdiff_t block, int8_t *panel) {
    const int zero = kind == Q6_K ? 32 : group_zero(kind);
    AS_A_LOOP for (ptrdiff_t k = block; k < block + K_BLOCK; k += PAIR, panel += PAIR / 4 * PANEL_STEP) {
        UNROLL for (int half = 0; half < 2; half++) {
            const __m512i high = kind == Q5_K ? wide_bytes(of, 1, k + half * 32) : _mm512_setzero_si512();
            const PairSteps steps = steps_of_pair(kind, of, k, half);
            UNROLL for (int j = half * SMALL_GROUP; j < (half + 1) * SMALL_GROUP; j += 4) {
                __m512i low_levels, high_levels;
                wide_levels(kind, of, k, j, high, &low_levels, &high_levels);
                put_numbers(low_levels, zero, steps.first, panel + j / 4 * PANEL_STEP);
                put_numbers(high_levels, zero, steps.second, panel + (GROUP + j) / 4 * PANEL_STEP);
            }
        }
    }
}

/* What the lows of a block are multiplied with. */
typedef struct {
    __m512 factors;
    __m512i of_pairs[K_BLOCK / PAIR];
} BlockLows;

INLINE_512 BlockLows lows_of_block(const WideBlocks *of, ptrdiff_t block, ptrdiff_t factors_at) {
    BlockLows found = {.factors = wide_factors(of, factors_at + 2 * TOGETHER)};
    UNROLL for (int pair = 0; pair < K_BLOCK / PAIR; pair++) {
        const ptrdiff_t lows = (block + pair * PAIR) / 2 + 16;
        found.of_pairs[pair] = _mm512_cvtepi8_epi16(both_quarters(of->first.parts[2] + lows, of->second.parts[2] + lows));
    }
    return found;
}

/* Sums of a block of rows [rows][2][16 channels], scaled as `wide_scaled` does, added to `totals`. `row`: the first of them. */
INLINE_512 void add_scaled(BlockKind kind, const Product *of, const WideBlocks *from, ptrdiff_t block, const int8_t *sums,
                           ptrdiff_t row, ptrdiff_t rows, __m512 *totals) {
    const ptrdiff_t at = block / K_BLOCK * (has_lows(kind) ? 4 : 2) * TOGETHER;
    const __m512 factors = wide_factors(from, at);
    BlockLows lows;
    if (has_lows(kind)) lows = lows_of_block(from, block, at);
    AS_A_LOOP for (ptrdiff_t r = 0; r < rows; r++, row++, sums += PANEL * sizeof(float)) {
        const __m512i upper = _mm512_slli_epi32(_mm512_load_si512(sums + TILE_BYTES), LOWER_BITS);
        const __m512i stepped = _mm512_add_epi32(_mm512_load_si512(sums), upper);
        __m512 sum = _mm512_mul_ps(factors, _mm512_cvtepi32_ps(stepped));
        if (has_lows(kind)) {
            const int16_t *const of_groups = of->x_sums + (row * of->width + block) / GROUP;
            __m512i low = _mm512_setzero_si512();
            UNROLL for (int pair = 0; pair < K_BLOCK / PAIR; pair++)
                ADD_PRODUCTS_16_OF(low, lows.of_pairs[pair], of_groups + 2 * pair);
            sum = _mm512_sub_ps(sum, _mm512_mul_ps(lows.factors, _mm512_cvtepi32_ps(low)));
        }
        const __m512 scale = _mm512_set1_ps(of->x_scales[row * of->scales + block / K_BLOCK]);
        totals[r] = _mm512_add_ps(totals[r], _mm512_mul_ps(sum, scale));
    }
}

#define TILED_BLOCK(KIND)                                                                                           \
    TILE_512 write_##KIND##_out(const WideBlocks *of, ptrdiff_t block, int8_t *panel) {                             \
        write_numbers(KIND, of, block, panel);                                                                      \
    }                                                                                                               \
    TILE_512 add_##KIND(const Product *of, const WideBlocks *from, ptrdiff_t block, const int8_t *sums,             \
                        ptrdiff_t row, ptrdiff_t rows, __m512 *totals) {                                            \
        add_scaled(KIND, of, from, block, sums, row, rows, totals);                                                 \
    }
TILED_BLOCK(Q4_K) TILED_BLOCK(Q5_K) TILED_BLOCK(Q6_K) TILED_BLOCK(IQ4_XS)
#undef TILED_BLOCK

static void (*const block_writers[Q7_K])(const WideBlocks *, ptrdiff_t, int8_t *) = {
    [Q4_K] = write_Q4_K_out, [Q5_K] = write_Q5_K_out, [Q6_K] = write_Q6_K_out, [IQ4_XS] = write_IQ4_XS_out,
};
static void (*const block_adders[Q7_K])(const Product *, const WideBlocks *, ptrdiff_t, const int8_t *, ptrdiff_t, ptrdiff_t,
                                        __m512 *) = {
    [Q4_K] = add_Q4_K, [Q5_K] = add_Q5_K, [Q6_K] = add_Q6_K, [IQ4_XS] = add_IQ4_XS,
};

/* Rows, at most TILE_STRETCH of them, times sixteen channels from `channel` on. */
static IN_512 void multiply_blocks_in_tiles(const Product *of, Share rows, ptrdiff_t channel, ptrdiff_t *shaped) {
    int8_t panel[K_BLOCK / 4 * PANEL_STEP] __attribute__((aligned(ALIGNMENT)));
    int8_t sums[TILE_BLOCK * PANEL * sizeof(float)] __attribute__((aligned(ALIGNMENT)));
    __m512 totals[TILE_STRETCH];
    const ptrdiff_t count = rows.end - rows.begin;
    const BlockKind kind = ((const BlockWeight *)of->weight)->kind;
    const WideBlocks from = wide_blocks_at(of, channel, channel + TOGETHER);
    for (ptrdiff_t r = 0; r < count; r++) totals[r] = _mm512_setzero_ps();
    for (ptrdiff_t block = 0; block < of->width; block += K_BLOCK) {
        block_writers[kind](&from, block, panel);
        for (ptrdiff_t row = 0; row < count; row += TILE_BLOCK) {
            const ptrdiff_t left = count - row < TILE_BLOCK ? count - row : TILE_BLOCK, at = rows.begin + row;
            if (left != *shaped) shape_tiles(*shaped = left);
            const TileCall call = {.x = of->x + at * of->width + block, .panel = panel, .stride = of->width};
            tile_block(call, left, K_BLOCK / 4, 1, (Stretch){1, 1, 1}, sums);
            block_adders[kind](of, &from, block, sums, at, left, totals + row);
        }
    }
    put_wide(&of->to, (Tile){rows.begin, 0, 1, (int)count}, channel, channel + TOGETHER, totals);
}

static void blocks_in_tiles(const Product *of, ptrdiff_t rows) { IN_TILES(multiply_blocks_in_tiles, NEAR) }
#else
static void blocks_in_tiles(const Product *of, ptrdiff_t rows) { (void)of, (void)rows; }
#endif
