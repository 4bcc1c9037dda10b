/* Attention on keys and values of bfloat16, for CPUs that multiply it, and heads of a multiple of sixteen numbers.
 *
 * Queries and the weights of the keys are rounded to bfloat16, too, as in FlashAttention (Dao et al. 2022); sums are float32. Each
 * instruction multiplies pairs: two numbers of a head of a query and of a key, and two keys of a block with their weights. Each query
 * has one chain, whatever is beside it.
 *
 * A cache holds pairs as they are multiplied, in blocks of KEYS tokens: of two numbers of a key, [dim / 2][KEYS][2], and of two
 * values, [KEYS / 2][dim][2]. To arrange them in each step took a third of its time (Zen 4). What no token has reached counts for
 * nothing, whatever it is. */

enum { KEY_PAIRS = KEYS / 2, PAIRS = SIXTEEN }; /* of a register */

/* Two vectors of float32 as one of bfloat16, to the nearest, halves to even. */
#define HALVES_OF(halves, lower, upper) __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(halves) : "v"(lower), "v"(upper))

/* Writes a head of the token at `place` of a conversation, whose heads begin at `all`. */
static IN_512 void keep_half(const float *x, ptrdiff_t dim, ptrdiff_t place, int is_key, char *all) {
    uint16_t *const block = (uint16_t *)all + place / KEYS * KEYS * dim;
    const ptrdiff_t lane = place % KEYS;
    uint16_t numbers[WIDEST];
    narrow(x, BFLOAT16, dim, (char *)numbers);
    if (is_key) {
        for (ptrdiff_t d = 0; d < dim; d += 2) memcpy(block + d * KEYS + 2 * lane, numbers + d, sizeof(uint32_t));
        return;
    }
    const int is_second = lane % 2;
    for (ptrdiff_t d = 0; d < dim; d += SIXTEEN) { /* into one half of each pair */
        const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(numbers + d)));
        const __m512i half = is_second ? _mm512_slli_epi32(wide, 16) : wide;
        _mm512_mask_storeu_epi16(block + (lane / 2 * dim + d) * 2, is_second ? 0xAAAAAAAA : 0x55555555, half);
    }
}

/* Products of some queries, [queries][dim], with a block of transposed keys; each pair of numbers prefetches four of the next
 * lines. */
INLINE_512 void half_scores(const uint16_t *q, const uint32_t *keys, ptrdiff_t dim, int queries, const char *next,
                            float (*scores)[KEYS]) {
    __m512i total[FOUR_QUERIES * KEY_VECTORS];
    UNROLL for (int i = 0; i < queries * KEY_VECTORS; i++) total[i] = _mm512_setzero_si512();
    AS_A_LOOP for (ptrdiff_t pair = 0; pair < dim / 2; pair++) {
        __m512i key[KEY_VECTORS];
        fetch_lines(next, pair * KEY_VECTORS * ALIGNMENT, KEY_VECTORS);
        UNROLL for (int i = 0; i < KEY_VECTORS; i++) key[i] = _mm512_loadu_si512(keys + pair * KEYS + i * SIXTEEN);
        UNROLL for (int r = 0; r < queries; r++) {
            const __m512i numbers = broadcast(q + r * dim + 2 * pair);
            UNROLL for (int i = 0; i < KEY_VECTORS; i++) ADD_HALVES(total[r * KEY_VECTORS + i], key[i], numbers);
        }
    }
    UNROLL for (int i = 0; i < queries * KEY_VECTORS; i++)
        _mm512_storeu_si512(scores[i / KEY_VECTORS] + i % KEY_VECTORS * SIXTEEN, total[i]);
}

/* 2^x on [0, 1) but for 3e-6: more would be lost where weights are rounded. (Fitted to the relative error.) */
INLINE_512 __m512 power_of_two(__m512 x) {
    const __m512 fraction = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512 p = _mm512_set1_ps(0.01342668f);
    p = _mm512_fmadd_ps(p, fraction, _mm512_set1_ps(0.05224247f));
    p = _mm512_fmadd_ps(p, fraction, _mm512_set1_ps(0.24128021f));
    p = _mm512_fmadd_ps(p, fraction, _mm512_set1_ps(0.69304484f));
    p = _mm512_fmadd_ps(p, fraction, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, x); /* by a power of two: the whole number below x */
}

/* As `wide_soften`, but scores are not multiplied with `scale` yet, and weights are rounded before they are summed: in `sums`,
 * until `put_halves`. */
TILE_512 half_soften(const float *scores, float scale, Share keys, ptrdiff_t dim, Seen *seen, uint32_t *weights) {
    const uint64_t are_seen = lanes_of(keys.begin, keys.end);
    const __m512 none = _mm512_set1_ps(-__builtin_inff());
    __m512 score[KEY_VECTORS], most = none;
    UNROLL for (int i = 0; i < KEY_VECTORS; i++) {
        score[i] = _mm512_mask_load_ps(none, (__mmask16)(are_seen >> i * SIXTEEN), scores + i * SIXTEEN);
        most = _mm512_max_ps(score[i], most);
    }
    const float found = scale * largest_of(_mm256_max_ps(_mm512_castps512_ps256(most), _mm512_extractf32x8_ps(most, 1)));
    const float in_twos = 1.44269504f; /* log2(e) */
    __m512 sums = _mm512_load_ps(seen->sums);
    if (found > seen->largest) {
        const __m512 factor = power_of_two(_mm512_set1_ps((seen->largest - found) * in_twos));
        sums = _mm512_mul_ps(sums, factor);
        for (ptrdiff_t d = 0; d < dim; d += SIXTEEN)
            _mm512_store_ps(seen->values + d, _mm512_mul_ps(_mm512_load_ps(seen->values + d), factor));
        seen->largest = found;
    }
    const __m512 shift = _mm512_set1_ps(seen->largest * in_twos), factor = _mm512_set1_ps(scale * in_twos);
    const __m512i ones = _mm512_set1_epi16(0x3F80);
    UNROLL for (int i = 0; i < KEY_VECTORS; i += 2) {
        const __m512 lower = power_of_two(_mm512_fmsub_ps(score[i], factor, shift));
        const __m512 upper = power_of_two(_mm512_fmsub_ps(score[i + 1], factor, shift));
        __m512i halves;
        HALVES_OF(halves, lower, upper);
        _mm512_store_si512(weights + i / 2 * PAIRS, halves);
        ADD_HALVES(sums, halves, ones);
    }
    _mm512_store_ps(seen->sums, sums);
}

/* The weights of keys by the products of a query with them. */
static void weigh_halves(const Attention *a, float *scores, Share keys, Seen *seen, uint32_t *weights) {
    if (a->cap > 0) {
        for (int i = 0; i < KEYS; i++) scores[i] *= a->scale;
        cap_scores(scores, KEYS, a->cap);
    }
    half_soften(scores, a->cap > 0 ? 1.0f : a->scale, keys, a->dim, seen, weights);
}

/* As `wide_values`, of pairs; of a pair in which only one key is seen the other counts as zeros. */
INLINE_512 void half_values(const uint32_t (*weights)[KEY_PAIRS], const uint32_t *values, Share keys, ptrdiff_t dim, ptrdiff_t d,
                            const char *next, int queries, int vectors, Seen *seen) {
    __m512i total[FOUR_QUERIES * 4];
    UNROLL for (int i = 0; i < queries * vectors; i++)
        total[i] = _mm512_loadu_si512(seen[i / vectors].values + d + i % vectors * SIXTEEN);
    AS_A_LOOP for (ptrdiff_t j = keys.begin / 2 * 2; j < keys.end; j += 2) {
        const uint32_t are_seen = (j >= keys.begin ? 0xFFFFu : 0) | (j + 1 < keys.end ? 0xFFFF0000u : 0);
        __m512i value[4];
        fetch_lines(next, (j * dim + 2 * d) * 2, vectors);
        UNROLL for (int i = 0; i < vectors; i++) value[i] = _mm512_loadu_si512(values + j / 2 * dim + d + i * SIXTEEN);
        if (__builtin_expect(are_seen != 0xFFFFFFFFu, 0))
            UNROLL for (int i = 0; i < vectors; i++) value[i] = _mm512_and_si512(value[i], _mm512_set1_epi32((int)are_seen));
        UNROLL for (int r = 0; r < queries; r++) {
            const __m512i both = broadcast(&weights[r][j / 2]);
            UNROLL for (int i = 0; i < vectors; i++) ADD_HALVES(total[r * vectors + i], value[i], both);
        }
    }
    UNROLL for (int i = 0; i < queries * vectors; i++)
        _mm512_storeu_si512(seen[i / vectors].values + d + i % vectors * SIXTEEN, total[i]);
}

#define HALF_SCORES(QUERIES)                                                                                        \
    TILE_512 half_scores_##QUERIES(const uint16_t *q, const uint32_t *keys, ptrdiff_t dim, const char *next,        \
                                   float (*scores)[KEYS]) {                                                         \
        half_scores(q, keys, dim, QUERIES, next, scores);                                                           \
    }
#define HALF_VALUES(QUERIES, VECTORS)                                                                               \
    TILE_512 half_values_##QUERIES##_##VECTORS(const uint32_t (*weights)[KEY_PAIRS], const uint32_t *values,        \
                                               Share keys, ptrdiff_t dim, ptrdiff_t d, const char *next,            \
                                               Seen *seen) {                                                        \
        half_values(weights, values, keys, dim, d, next, QUERIES, VECTORS, seen);                                   \
    }
#define HALF_TILES(QUERIES) \
    HALF_SCORES(QUERIES)    \
    HALF_VALUES(QUERIES, 1) HALF_VALUES(QUERIES, 2) HALF_VALUES(QUERIES, 3) HALF_VALUES(QUERIES, 4)
HALF_TILES(1) HALF_TILES(2) HALF_TILES(3) HALF_TILES(4)
#define ALL_VECTORS(QUERIES) \
    {half_values_##QUERIES##_1, half_values_##QUERIES##_2, half_values_##QUERIES##_3, half_values_##QUERIES##_4}

typedef void HalfScores(const uint16_t *, const uint32_t *, ptrdiff_t, const char *, float (*)[KEYS]);
typedef void HalfValues(const uint32_t (*)[KEY_PAIRS], const uint32_t *, Share, ptrdiff_t, ptrdiff_t, const char *, Seen *);
static HalfScores *const half_scores_tiles[FOUR_QUERIES] = {half_scores_1, half_scores_2, half_scores_3, half_scores_4};
static HalfValues *const half_values_tiles[FOUR_QUERIES][4] = { /* [queries - 1][vectors - 1] */
    ALL_VECTORS(1), ALL_VECTORS(2), ALL_VECTORS(3), ALL_VECTORS(4),
};
#undef HALF_SCORES
#undef HALF_VALUES
#undef HALF_TILES
#undef ALL_VECTORS

/* A block of keys and one of values; and what is to be prefetched meanwhile. */
typedef struct {
    const uint32_t *keys, *values;
    CacheBlock next;
} PairBlock;

static void add_half_values(const uint32_t (*weights)[KEY_PAIRS], const PairBlock *block, Share keys, ptrdiff_t dim, int queries,
                            Seen *seen) {
    for (ptrdiff_t d = 0; d < dim; d += 4 * SIXTEEN) {
        const ptrdiff_t vectors = dim - d < 4 * SIXTEEN ? (dim - d) / SIXTEEN : 4;
        half_values_tiles[queries - 1][vectors - 1](weights, block->values, keys, dim, d, block->next.values, seen);
    }
}

/* Some queries and a block of keys. `room`: for values, where tiles want a copy; `shaped`: for how many queries they are. */
typedef void AttendBlock(const Attention *a, const uint16_t *q, const Share *keys_of, ptrdiff_t queries, const PairBlock *block,
                         uint32_t *room, ptrdiff_t *shaped, Seen *seen);

/* At most four queries, without tiles. */
static void attend_half_block(const Attention *a, const uint16_t *q, const Share *keys_of, ptrdiff_t queries,
                              const PairBlock *block, uint32_t *room, ptrdiff_t *shaped, Seen *seen) {
    (void)room, (void)shaped;
    float scores[FOUR_QUERIES][KEYS] __attribute__((aligned(ALIGNMENT)));
    uint32_t weights[FOUR_QUERIES][KEY_PAIRS] __attribute__((aligned(ALIGNMENT)));
    const uint32_t (*const of_all)[KEY_PAIRS] = (const uint32_t (*)[KEY_PAIRS])weights;
    half_scores_tiles[queries - 1](q, block->keys, a->dim, block->next.keys, scores);
    for (int r = 0; r < queries; r++)
        if (keys_of[r].begin < keys_of[r].end) weigh_halves(a, scores[r], keys_of[r], &seen[r], weights[r]);
    if (are_alike(keys_of, (int)queries)) add_half_values(of_all, block, keys_of[0], a->dim, (int)queries, seen);
    else
        for (int r = 0; r < queries; r++) add_half_values(of_all + r, block, keys_of[r], a->dim, 1, seen + r);
}

/* Rounds the queries. */
static void begin_halves(const Attention *a, const Span *span, ptrdiff_t head, ptrdiff_t first, ptrdiff_t queries,
                         const Room *room) {
    begin_seen(room->seen, queries, a->dim);
    for (ptrdiff_t i = 0; i < queries; i++) {
        memset(room->seen[i].sums, 0, sizeof room->seen[i].sums);
        narrow_row(query_of(a, span, head, first, i), a->dim, room->queries + i * a->dim);
    }
}

static IN_512 void put_halves(const Attention *a, const Span *span, ptrdiff_t head, ptrdiff_t first, ptrdiff_t queries,
                              Seen *seen) {
    for (ptrdiff_t i = 0; i < queries; i++) seen[i].sum = sum_of_sixteen(_mm512_load_ps(seen[i].sums));
    put_seen(a, span, head, first, queries, seen);
}

enum { MOST_AT_ONCE = 16 }; /* queries */

/* As `attend_some`, so many queries at once. */
INLINE void attend_pairs(const Attention *a, const Span *span, const char *all_keys, const char *all_values, ptrdiff_t head,
                         ptrdiff_t first, ptrdiff_t count, const Room *room, ptrdiff_t at_once, AttendBlock *attend_block) {
    const ptrdiff_t group = a->heads / a->kv_heads, queries = count * group, dim = a->dim;
    const ptrdiff_t last = last_key(span, first + count - 1);
    ptrdiff_t shaped = 0;
    begin_halves(a, span, head, first, queries, room);
    for (ptrdiff_t block = first_block(a, span->start + first); block <= last; block += KEYS) {
        const uint32_t *const keys = (const uint32_t *)all_keys + block * dim / 2;
        const uint32_t *const values = (const uint32_t *)all_values + block * dim / 2;
        PairBlock now = {keys, values, block_behind(a, all_keys, all_values, block, last, room)};
        for (ptrdiff_t i = 0; i < queries; i += at_once) {
            const ptrdiff_t some = queries - i < at_once ? queries - i : at_once;
            Share keys_of[MOST_AT_ONCE];
            for (ptrdiff_t r = 0; r < some; r++) keys_of[r] = keys_seen(a, span, span->start + first + (i + r) / group, block);
            uint16_t *const q = room->queries + i * dim;
            attend_block(a, q, keys_of, some, &now, (uint32_t *)room->values, &shaped, &room->seen[i]);
            now.next = (CacheBlock){NULL, NULL}; /* once is enough */
        }
    }
    put_halves(a, span, head, first, queries, room->seen);
}

static void attend_halves(const Attention *a, const Span *span, const char *all_keys, const char *all_values, ptrdiff_t head,
                          ptrdiff_t first, ptrdiff_t count, const Room *room) {
    attend_pairs(a, span, all_keys, all_values, head, first, count, room, FOUR_QUERIES, attend_half_block);
}
