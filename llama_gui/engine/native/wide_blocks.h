/* The products of block_products.h in registers of 512 bits: two blocks of TOGETHER channels at a time. The sums of a block are
 * the same whole numbers, and are scaled and added up in the same order: so every result has the same bits. */

enum { WIDE_BLOCK_ROWS = 6 }; /* of a tile */

typedef struct {
    Blocks first, second;
} WideBlocks;

/* Sixteen channels' bytes at the same place of both. */
INLINE_512 __m512i wide_bytes(const WideBlocks *of, int part, ptrdiff_t at) {
    return both_halves(of->first.parts[part] + at, of->second.parts[part] + at);
}

INLINE_512 __m512 wide_factors(const WideBlocks *of, ptrdiff_t at) {
    return _mm512_cvtph_ps(both_quarters(of->first.parts[3] + at, of->second.parts[3] + at));
}

/* As `group_factors`, of Q4_0, too. */
INLINE_512 __m512 wide_group_factors(BlockKind kind, const WideBlocks *of, ptrdiff_t group) {
    if (kind != MXFP4) return wide_factors(of, group * 2 * TOGETHER);
    const ptrdiff_t at = group * TOGETHER;
    return both_floats(powers_at(of->first.parts[3] + at), powers_at(of->second.parts[3] + at));
}

/* As `moved_bits`. */
INLINE_512 __m512i wide_moved_bits(__m512i bytes, int from, int to, int bits) {
    const __m512i moved = from < to ? _mm512_slli_epi16(bytes, to - from) : _mm512_srli_epi16(bytes, from - to);
    return _mm512_and_si512(moved, _mm512_set1_epi8((char)bits));
}

/* Whether a block is a code that stands for a number; whether groups have no step but a factor. */
INLINE int has_codes_of_four(BlockKind kind) { return kind == IQ4_NL || kind == IQ4_XS || kind == MXFP4; }
INLINE int has_group_factors(BlockKind kind) { return kind == Q4_0 || kind == IQ4_NL || kind == MXFP4; }

/* Whether two bits of a level lie by themselves, or all that there are. */
INLINE int has_twos(BlockKind kind) { return kind == Q3_K || kind == Q2_K; }

/* What is to be taken from each level, where groups of 32 have the same. */
INLINE int group_zero(BlockKind kind) { return kind == Q4_0 ? 8 : has_codes_of_four(kind) ? zero_of_codes(kind) : 0; }

/* Levels of four inputs of a pair of groups, from `j` on in each of these; `high`: what Q5_K and Q3_K have of this half of them. */
INLINE_512 void wide_levels(BlockKind kind, const WideBlocks *of, ptrdiff_t k, int j, __m512i high, __m512i *low_levels,
                            __m512i *high_levels) {
    const int at = j % 8, single = j % SMALL_GROUP / 2; /* where two bits begin, and one */
    __m512i first, second;
    if (kind == Q3_K) {
        const __m512i twos = wide_bytes(of, 0, k * 2 + j / 8 * 32);
        first = _mm512_or_si512(wide_moved_bits(twos, at, 3, 24), wide_moved_bits(high, single, 5, 32));
        second = _mm512_or_si512(wide_moved_bits(twos, at + 2, 3, 24), wide_moved_bits(high, single + 1, 5, 32));
    } else if (kind == Q2_K) {
        const __m512i twos = wide_bytes(of, 0, k * 2 + j / 8 * 32);
        first = wide_moved_bits(twos, at, 0, 3), second = wide_moved_bits(twos, at, 0, 12); /* see `add_q2_k_pair` */
    } else {
        const __m512i both = wide_bytes(of, 0, k * 4 + j * TOGETHER);
        first = wide_moved_bits(both, 0, 0, 15), second = wide_moved_bits(both, 4, 0, 15);
    }
    if (kind == Q5_K) {
        first = _mm512_or_si512(first, wide_moved_bits(high, single, 4, 16));
        second = _mm512_or_si512(second, wide_moved_bits(high, single + 1, 4, 16));
    }
    if (kind == Q6_K) {
        const __m512i upper = wide_bytes(of, 1, k * 2 + j / 8 * 32);
        first = _mm512_or_si512(first, wide_moved_bits(upper, at, 4, 48));
        second = _mm512_or_si512(second, wide_moved_bits(upper, at + 2, 4, 48));
    }
    if (has_codes_of_four(kind)) {
        const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)levels_of_codes(kind)));
        first = _mm512_shuffle_epi8(table, first), second = _mm512_shuffle_epi8(table, second);
    }
    *low_levels = first, *high_levels = second;
}

/* Steps of small group `group` of four, with their signs. */
INLINE_512 __m512i wide_steps(__m512i steps, int group) {
    return _mm512_srai_epi32(_mm512_slli_epi32(steps, 24 - 8 * group), 24);
}

/* Two sums of 16 bits. */
INLINE int32_t both_sums(const int16_t *sums) { return (int32_t)sums[0] + sums[1]; }

/* Half of a pair of groups, sixteen inputs of each, times all rows, added to `first` and `second`. */
INLINE_512 void wide_half_pair(BlockKind kind, const int8_t *x, const WideBlocks *of, Fetched ahead,
                               ptrdiff_t width, ptrdiff_t k, int half, int rows, __m512i *first, __m512i *second) {
    const __m512i high = kind == Q5_K || kind == Q3_K ? wide_bytes(of, 1, k + half * 32) : _mm512_setzero_si512();
    UNROLL for (int i = 0; i < SMALL_GROUP; i += 4) {
        const int j = half * SMALL_GROUP + i;
        __m512i low_levels, high_levels;
        wide_levels(kind, of, k, j, high, &low_levels, &high_levels);
        if (i % (has_twos(kind) ? SMALL_GROUP : 8) == 0 && ahead.count) { /* once for each line of the cache */
            const ptrdiff_t at = has_twos(kind) ? k * 2 + j / 8 * 32 : k * 4 + j * TOGETHER;
            fetch_stream(ahead, 0, of->first.parts[0] + at), fetch_stream(ahead, 1, of->second.parts[0] + at);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const int8_t *inputs = x + r * width + k + j;
            ADD_PRODUCTS_OF(first[r], low_levels, inputs);
            ADD_PRODUCTS_OF(second[r], high_levels, inputs + GROUP);
        }
    }
}

/* A pair of groups times all rows: adds whole sums times steps to `stepped`, or times factors to `of_block`. */
INLINE_512 void wide_pair(BlockKind kind, const int8_t *x, const int16_t *x_sums, const WideBlocks *of, Fetched ahead,
                          ptrdiff_t width, ptrdiff_t k, int rows, __m512i *stepped, __m512 *of_block) {
    __m512i first[WIDE_BLOCK_ROWS], second[WIDE_BLOCK_ROWS], steps = _mm512_setzero_si512();
    if (has_small_groups(kind)) steps = wide_bytes(of, 2, k / 2);
    if (kind == Q4_K || kind == Q5_K)
        steps = _mm512_cvtepu8_epi16(both_quarters(of->first.parts[2] + k / 2, of->second.parts[2] + k / 2));
    const __m512i first_steps = _mm512_and_si512(steps, _mm512_set1_epi32(0xFFFF)), second_steps = _mm512_srli_epi32(steps, 16);
    UNROLL for (int half = 0; half < 2; half++) {
        UNROLL for (int r = 0; r < rows; r++) {
            if (has_small_groups(kind) && !has_lows(kind)) {
                const int16_t *offsets = x_sums + (r * width + k) / SMALL_GROUP * 2 + 2 * half;
                first[r] = _mm512_set1_epi32(both_sums(offsets)), second[r] = _mm512_set1_epi32(both_sums(offsets + 4));
            } else if (group_zero(kind) == 0) {
                first[r] = second[r] = _mm512_setzero_si512();
            } else if (half == 0) {
                const int16_t *sums = x_sums + (r * width + k) / GROUP;
                first[r] = _mm512_set1_epi32(-group_zero(kind) * sums[0]);
                second[r] = _mm512_set1_epi32(-group_zero(kind) * sums[1]);
            }
        }
        wide_half_pair(kind, x, of, ahead, width, k, half, rows, first, second);
        if (group_zero(kind)) continue;
        const __m512i larger = _mm512_and_si512(_mm512_srli_epi32(_mm512_slli_epi32(steps, 2), 8 * half), _mm512_set1_epi32(60));
        const __m512i others = _mm512_and_si512(_mm512_srli_epi32(steps, 16 + 8 * half), _mm512_set1_epi32(15));
        UNROLL for (int r = 0; r < rows; r++) {
            if (kind == Q2_K) { /* so are those of 16 inputs */
                ADD_PRODUCTS_16(stepped[r], first[r], larger);
                ADD_PRODUCTS_16(stepped[r], second[r], others);
            } else if (kind == Q4_K) { /* sixteen products are at most 16 * 15 * 127, which fits in 16 bits */
                ADD_PRODUCTS_16(stepped[r], first[r], first_steps);
                ADD_PRODUCTS_16(stepped[r], second[r], second_steps);
            } else {
                const __m512i a = has_small_groups(kind) ? wide_steps(steps, half) : first_steps;
                const __m512i b = has_small_groups(kind) ? wide_steps(steps, 2 + half) : second_steps;
                stepped[r] = _mm512_add_epi32(stepped[r], _mm512_mullo_epi32(first[r], a));
                stepped[r] = _mm512_add_epi32(stepped[r], _mm512_mullo_epi32(second[r], b));
            }
        }
    }
    if (kind == IQ4_XS) {
        const __m256i bytes = both_quarters(of->first.parts[2] + k / 4, of->second.parts[2] + k / 4);
        const __m512i words = _mm512_cvtepi8_epi16(bytes); /* two of each channel, with signs */
        const __m512i a = _mm512_srai_epi32(_mm512_slli_epi32(words, 16), 16), b = _mm512_srai_epi32(words, 16);
        UNROLL for (int r = 0; r < rows; r++) {
            stepped[r] = _mm512_add_epi32(stepped[r], _mm512_mullo_epi32(first[r], a));
            stepped[r] = _mm512_add_epi32(stepped[r], _mm512_mullo_epi32(second[r], b));
        }
    }
    if (!has_group_factors(kind)) return;
    const __m512 a = wide_group_factors(kind, of, k / GROUP), b = wide_group_factors(kind, of, k / GROUP + 1);
    UNROLL for (int r = 0; r < rows; r++) {
        of_block[r] = _mm512_add_ps(of_block[r], _mm512_mul_ps(a, _mm512_cvtepi32_ps(first[r])));
        of_block[r] = _mm512_add_ps(of_block[r], _mm512_mul_ps(b, _mm512_cvtepi32_ps(second[r])));
    }
}

/* Lows of a pair of groups of Q2_K times sums of x, which are those of a block. */
INLINE_512 void wide_q2_k_lows(const int16_t *small, const WideBlocks *of, ptrdiff_t k, int rows, __m512i *low) {
    const __m512i both = wide_bytes(of, 2, k / 2), nibbles = _mm512_set1_epi32(0xF000F);
    const __m512i lows = _mm512_and_si512(_mm512_srli_epi32(both, 4), nibbles);
    const __m512i others = _mm512_and_si512(_mm512_srli_epi32(both, 12), nibbles);
    UNROLL for (int r = 0; r < rows; r++) {
        const int16_t *four = small + r * (K_BLOCK / SMALL_GROUP) + k % K_BLOCK / SMALL_GROUP;
        ADD_PRODUCTS_16_OF(low[r], lows, four);
        ADD_PRODUCTS_16_OF(low[r], others, four + 2);
    }
}

/* A block's numbers: stepped sums times its factors. Lows are taken from them, of Q2_K `low`. */
INLINE_512 __m512 wide_scaled(BlockKind kind, const int16_t *x_sums, const WideBlocks *of, ptrdiff_t width, ptrdiff_t block,
                              int row, __m512i stepped, __m512i low) {
    const ptrdiff_t at = block / K_BLOCK * (has_lows(kind) ? 4 : 2) * TOGETHER;
    if (kind == Q3_K) stepped = _mm512_srai_epi32(stepped, 3); /* see `sixty_four_levels` */
    if (kind == Q2_K) stepped = _mm512_srai_epi32(stepped, 2);
    const __m512 sum = _mm512_mul_ps(wide_factors(of, at), _mm512_cvtepi32_ps(stepped));
    if (!has_lows(kind)) return sum;
    UNROLL for (int pair = 0; pair < K_BLOCK / PAIR && kind != Q2_K; pair++) {
        const ptrdiff_t k = block + pair * PAIR, lows = k / 2 + 16;
        const __m512i words = _mm512_cvtepi8_epi16(both_quarters(of->first.parts[2] + lows, of->second.parts[2] + lows));
        ADD_PRODUCTS_16(low, words, broadcast(x_sums + (row * width + k) / GROUP));
    }
    return _mm512_sub_ps(sum, _mm512_mul_ps(wide_factors(of, at + 2 * TOGETHER), _mm512_cvtepi32_ps(low)));
}

INLINE_512 void wide_blocks(BlockKind kind, const int8_t *x, const int16_t *x_sums, const float *x_scales,
                            const WideBlocks *of, Fetched ahead, ptrdiff_t width, int rows, __m512 *sums) {
    __m512 total[WIDE_BLOCK_ROWS];
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm512_setzero_ps();
    for (ptrdiff_t block = 0; block < width; block += K_BLOCK) {
        __m512i stepped[WIDE_BLOCK_ROWS], low[WIDE_BLOCK_ROWS];
        int16_t small[WIDE_BLOCK_ROWS * K_BLOCK / SMALL_GROUP];
        __m512 of_block[WIDE_BLOCK_ROWS];
        UNROLL for (int r = 0; r < rows; r++) {
            stepped[r] = low[r] = _mm512_setzero_si512(), of_block[r] = _mm512_setzero_ps();
            if (kind == Q2_K) small_sums(x_sums + (r * width + block) / SMALL_GROUP * 2, small + r * (K_BLOCK / SMALL_GROUP));
        }
        const ptrdiff_t inputs = kind == MXFP4 ? inputs_of(block, width) : K_BLOCK;
        AS_A_LOOP for (ptrdiff_t k = block; k < block + inputs; k += PAIR) {
            if (kind == Q2_K) wide_q2_k_lows(small, of, k, rows, low);
            wide_pair(kind, x, x_sums, of, ahead, width, k, rows, stepped, of_block);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const __m512 scale = _mm512_set1_ps(x_scales[r * blocks_of(width) + block / K_BLOCK]);
            if (!has_group_factors(kind)) of_block[r] = wide_scaled(kind, x_sums, of, width, block, r, stepped[r], low[r]);
            total[r] = _mm512_add_ps(total[r], _mm512_mul_ps(of_block[r], scale));
        }
    }
    UNROLL for (int r = 0; r < rows; r++) sums[r] = total[r];
}

#define WIDE_BLOCK(KIND, ROWS)                                                                                      \
    TILE_512 wide_##KIND##_##ROWS(const int8_t *x, const int16_t *x_sums, const float *x_scales,                    \
                                  const WideBlocks *of, Fetched ahead, ptrdiff_t width, __m512 *sums) {             \
        wide_blocks(KIND, x, x_sums, x_scales, of, ahead, width, ROWS, sums);                                       \
    }
#define WIDE_BLOCK_TILES(KIND)                                                                                      \
    WIDE_BLOCK(KIND, 1) WIDE_BLOCK(KIND, 2) WIDE_BLOCK(KIND, 3) WIDE_BLOCK(KIND, 4) WIDE_BLOCK(KIND, 5) WIDE_BLOCK(KIND, 6)
#define WIDE_TILES_OF(KIND)                                                                                         \
    {wide_##KIND##_1, wide_##KIND##_2, wide_##KIND##_3, wide_##KIND##_4, wide_##KIND##_5, wide_##KIND##_6}
WIDE_BLOCK_TILES(Q4_K) WIDE_BLOCK_TILES(Q5_K) WIDE_BLOCK_TILES(Q6_K) WIDE_BLOCK_TILES(Q4_0)
WIDE_BLOCK_TILES(Q3_K) WIDE_BLOCK_TILES(IQ4_NL) WIDE_BLOCK_TILES(IQ4_XS) WIDE_BLOCK_TILES(Q2_K)
WIDE_BLOCK_TILES(MXFP4)

typedef void WideBlockTile(const int8_t *, const int16_t *, const float *, const WideBlocks *, Fetched, ptrdiff_t, __m512 *);
static WideBlockTile *const wide_block_tiles[Q7_K][WIDE_BLOCK_ROWS] = { /* [kind][rows - 1] */
    WIDE_TILES_OF(Q4_K), WIDE_TILES_OF(Q5_K),   WIDE_TILES_OF(Q6_K),   WIDE_TILES_OF(Q4_0),
    WIDE_TILES_OF(Q3_K), WIDE_TILES_OF(IQ4_NL), WIDE_TILES_OF(IQ4_XS), WIDE_TILES_OF(Q2_K),
    WIDE_TILES_OF(MXFP4),
};
#undef WIDE_BLOCK
#undef WIDE_BLOCK_TILES
#undef WIDE_TILES_OF

/* The channels that begin at each of these. The second may be behind the last: the first again. */
INLINE WideBlocks wide_blocks_at(const Product *of, ptrdiff_t first, ptrdiff_t second) {
    const BlockWeight *weight = of->weight;
    if (second >= of->to.channels) second = first;
    return (WideBlocks){blocks_from(weight->blocks, weight->kind, first, of->width),
                        blocks_from(weight->blocks, weight->kind, second, of->width)};
}

static IN_512 void multiply_wide_blocks(const Product *of, Tile at, Share channels, int places, ptrdiff_t apart) {
    const ptrdiff_t width = of->width;
    const Fetched ahead = places == 1 ? next_near(at, NEAR * width / 2) : further(places);
    WideBlockTile *const tile = wide_block_tiles[((const BlockWeight *)of->weight)->kind][at.rows - 1];
    const int8_t *x = of->x + at.row * width;
    const int16_t *x_sums = of->x_sums + at.row * of->sums;
    __m512 sums[WIDE_BLOCK_ROWS];
    for (ptrdiff_t c = channels.begin; c < channels.end; c += places == 1 ? NEAR : TOGETHER) {
        const ptrdiff_t second = second_block(c, places, apart);
        const WideBlocks from = wide_blocks_at(of, c, second);
        tile(x, x_sums, of->x_scales + at.row * of->scales, &from, ahead, width, sums);
        put_wide(&of->to, at, c, second, sums);
    }
}
