/* Attention on keys and values of bfloat16 in the tiles of AMX, for heads of a multiple of 32 numbers.
 *
 * A cache lies as wide_half_attention.h has it, which is as tiles take it: sixteen pairs of numbers of sixteen keys, and sixteen
 * pairs of values of sixteen numbers. Sixteen queries go together. Each has a chain of its own, which is the same through every
 * block of keys, so it has the same bits beside any others; and so a single one goes through tiles, too. Keys that a query does
 * not see weigh nothing; see `sound_values`. */

enum { TILE_HEAD = TILE_BYTES / 2 }; /* numbers of a head that are multiplied at once */

#if TILES
/* Prefetches some bytes of what comes next, if anything is to be fetched, and goes on behind them. */
INLINE void fetch_bytes(const char **next, ptrdiff_t bytes) {
    if (*next == NULL) return;
    for (ptrdiff_t at = 0; at < bytes; at += ALIGNMENT) fetch_line_early(*next + at);
    *next += bytes;
}

/* Scores of as many queries, [queries][dim], as tiles are shaped for. */
static void tile_scores(const uint16_t *q, const uint32_t *keys, ptrdiff_t dim, const char *next, float (*scores)[KEYS]) {
    const ptrdiff_t stride = KEYS * sizeof *keys, from_query = dim * sizeof *q;
    zero_sums();
    AS_A_LOOP for (ptrdiff_t d = 0; d < dim; d += TILE_HEAD, keys += TILE_STEPS * KEYS) {
        LOAD_TILE(4, q + d, from_query);
        LOAD_TILE(6, keys, stride);
        MULTIPLY_TILES(0, 4, 6, 0);
        LOAD_TILE(7, keys + SIXTEEN, stride);
        MULTIPLY_TILES(0, 4, 7, 1);
        LOAD_TILE(6, keys + 2 * SIXTEEN, stride);
        MULTIPLY_TILES(0, 4, 6, 2);
        LOAD_TILE(7, keys + 3 * SIXTEEN, stride);
        MULTIPLY_TILES(0, 4, 7, 3);
        fetch_bytes(&next, TILE_STEPS * stride);
    }
    STORE_TILE(0, scores[0], stride);
    STORE_TILE(1, scores[0] + SIXTEEN, stride);
    STORE_TILE(2, scores[0] + 2 * SIXTEEN, stride);
    STORE_TILE(3, scores[0] + 3 * SIXTEEN, stride);
}

/* Some values, `vectors` of sixteen numbers of each, at most four: see `tile_values`. */
INLINE void tile_some_values(const uint32_t *weights, const uint32_t *values, ptrdiff_t dim, int vectors, const char *next,
                             float *sums) {
    const ptrdiff_t stride = dim * sizeof *values, from_query = KEY_PAIRS * sizeof *weights;
    LOAD_TILE(0, sums, sizeof(Seen));
    LOAD_TILE(1, sums + SIXTEEN, sizeof(Seen));
    if (vectors > 2) {
        LOAD_TILE(2, sums + 2 * SIXTEEN, sizeof(Seen));
        LOAD_TILE(3, sums + 3 * SIXTEEN, sizeof(Seen));
    }
    UNROLL for (int part = 0; part < KEY_PAIRS / TILE_STEPS; part++, values += TILE_STEPS * dim) {
        LOAD_TILE(4, weights + part * TILE_STEPS, from_query);
        LOAD_TILE(6, values, stride);
        MULTIPLY_TILES(0, 4, 6, 0);
        LOAD_TILE(7, values + SIXTEEN, stride);
        MULTIPLY_TILES(0, 4, 7, 1);
        if (vectors > 2) {
            LOAD_TILE(6, values + 2 * SIXTEEN, stride);
            MULTIPLY_TILES(0, 4, 6, 2);
            LOAD_TILE(7, values + 3 * SIXTEEN, stride);
            MULTIPLY_TILES(0, 4, 7, 3);
        }
        fetch_bytes(&next, vectors * TILE_STEPS * TILE_BYTES);
    }
    STORE_TILE(0, sums, sizeof(Seen));
    STORE_TILE(1, sums + SIXTEEN, sizeof(Seen));
    if (vectors > 2) {
        STORE_TILE(2, sums + 2 * SIXTEEN, sizeof(Seen));
        STORE_TILE(3, sums + 3 * SIXTEEN, sizeof(Seen));
    }
}

/* Adds the values of a block, [KEYS / 2][dim][2], with the weights of as many queries as tiles are shaped for. */
static void tile_values(const uint32_t *weights, const uint32_t *values, ptrdiff_t dim, const char *next, Seen *seen) {
    ptrdiff_t d = 0;
    for (; d + 4 * SIXTEEN <= dim; d += 4 * SIXTEEN) {
        tile_some_values(weights, values + d, dim, 4, next, seen->values + d);
        if (next) next += KEYS * 4 * SIXTEEN * sizeof(uint16_t);
    }
    if (d < dim) tile_some_values(weights, values + d, dim, 2, next, seen->values + d);
}

/* Copies the values of the keys `of` a block, and zeros in the place of others, which may be anything: no token has reached them,
 * or these queries do not. Says whether all is finite, so that a weight of zero takes nothing. */
static IN_512 int sound_values(const uint32_t *values, Share of, ptrdiff_t dim, uint32_t *to) {
    const __m512i none = _mm512_set1_epi16(0x7F80); /* the exponent of what is not finite */
    __mmask32 are_none = 0;
    for (ptrdiff_t j = 0; j < KEYS; j += 2) {
        const uint32_t first = j >= of.begin && j < of.end ? 0xFFFFu : 0;
        const uint32_t second = j + 1 >= of.begin && j + 1 < of.end ? 0xFFFF0000u : 0;
        for (ptrdiff_t d = 0; d < dim; d += SIXTEEN) {
            const __m512i found = _mm512_loadu_si512(values + j / 2 * dim + d);
            const __m512i value = _mm512_and_si512(found, _mm512_set1_epi32((int)(first | second)));
            are_none |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(value, none), none);
            _mm512_store_si512(to + j / 2 * dim + d, value);
        }
    }
    return are_none == 0;
}

/* The keys of a block that some of these queries see; `see_all`: whether every one sees all of the block. */
static Share seen_by_some(const Share *keys_of, ptrdiff_t queries, int *see_all) {
    Share found = {KEYS, 0};
    *see_all = 1;
    for (ptrdiff_t r = 0; r < queries; r++) {
        const Share one = keys_of[r];
        *see_all &= one.begin == 0 && one.end == KEYS;
        if (one.begin >= one.end) continue;
        if (one.begin < found.begin) found.begin = one.begin;
        if (one.end > found.end) found.end = one.end;
    }
    return found;
}

/* Adds the values of a block of which not every query sees all. `room`: for a copy of them. */
static void tile_values_in_part(const uint32_t (*weights)[KEY_PAIRS], const PairBlock *block, const Share *keys_of,
                                ptrdiff_t queries, Share of_some, ptrdiff_t dim, uint32_t *room, Seen *seen) {
    if (sound_values(block->values, of_some, dim, room)) {
        tile_values(*weights, room, dim, block->next.values, seen);
        return;
    }
    shape_all(1, 1);
    for (ptrdiff_t r = 0; r < queries; r++) {
        if (keys_of[r].begin >= keys_of[r].end) continue;
        sound_values(block->values, keys_of[r], dim, room);
        tile_values(weights[r], room, dim, NULL, seen + r);
    }
    shape_all(queries, queries);
}

/* At most sixteen queries. */
static void attend_tile_block(const Attention *a, const uint16_t *q, const Share *keys_of, ptrdiff_t queries,
                              const PairBlock *block, uint32_t *room, ptrdiff_t *shaped, Seen *seen) {
    float scores[TILE_ROWS][KEYS] __attribute__((aligned(ALIGNMENT)));
    uint32_t weights[TILE_ROWS][KEY_PAIRS] __attribute__((aligned(ALIGNMENT)));
    int see_all;
    const Share of_some = seen_by_some(keys_of, queries, &see_all);
    if (of_some.begin >= of_some.end) return;
    if (queries != *shaped) shape_all(queries, queries), *shaped = queries;
    tile_scores(q, block->keys, a->dim, block->next.keys, scores);
    for (ptrdiff_t r = 0; r < queries; r++) {
        if (keys_of[r].begin < keys_of[r].end) weigh_halves(a, scores[r], keys_of[r], &seen[r], weights[r]);
        else memset(weights[r], 0, sizeof *weights);
    }
    const uint32_t (*const of_all)[KEY_PAIRS] = (const uint32_t (*)[KEY_PAIRS])weights;
    if (see_all) tile_values(*of_all, block->values, a->dim, block->next.values, seen);
    else tile_values_in_part(of_all, block, keys_of, queries, of_some, a->dim, room, seen);
}

static void attend_tiles(const Attention *a, const Span *span, const char *all_keys, const char *all_values, ptrdiff_t head,
                         ptrdiff_t first, ptrdiff_t count, const Room *room) {
    const TileShapes found = found_shapes();
    attend_pairs(a, span, all_keys, all_values, head, first, count, room, TILE_ROWS, attend_tile_block);
    put_back(&found);
}
#else
static void attend_tiles(const Attention *a, const Span *span, const char *all_keys, const char *all_values, ptrdiff_t head,
                         ptrdiff_t first, ptrdiff_t count, const Room *room) {
    attend_halves(a, span, all_keys, all_values, head, first, count, room);
}
#endif
