/* Attention in registers of 512 bits, for heads of a multiple of sixteen numbers.
 *
 * The keys of a block are transposed, so that each lane is a key: the score of a query and a key is one chain over the numbers of
 * a head, and nothing has to be added up across lanes. Queries are taken four at a time or alone, with the same chains. */

enum { SIXTEEN = 16, KEY_VECTORS = KEYS / SIXTEEN, FOUR_QUERIES = 4 };

/* e^x for x up to 0, as `exponential`. */
INLINE_512 __m512 wide_exponential(__m512 x) {
    const __m512 lowest = _mm512_set1_ps(-87.3f);
    const __mmask16 vanishes = _mm512_cmp_ps_mask(x, lowest, _CMP_LT_OQ);
    x = _mm512_max_ps(lowest, x); /* the second operand where it is no number */
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    __m512 p = _mm512_set1_ps(exponential_terms[0]);
    UNROLL for (int i = 1; i < EXPONENTIAL_TERMS; i++) p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(exponential_terms[i]));
    p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
    return _mm512_mask_mov_ps(_mm512_scalef_ps(p, n), vanishes, _mm512_setzero_ps());
}

/* Sixteen numbers of a cache in float32. */
INLINE_512 __m512 sixteen_of(const void *from, Kind kind) {
    if (kind == FLOAT32) return _mm512_loadu_ps(from);
    const __m256i bits = _mm256_loadu_si256(from);
    if (kind == FLOAT16) return _mm512_cvtph_ps(bits);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

/* Transposes sixteen rows of sixteen numbers. */
INLINE_512 void turn_sixteen(__m512 *v) {
    __m512 pairs[16], fours[16];
    UNROLL for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    UNROLL for (int i = 0; i < 16; i += 4)
        UNROLL for (int n = 0; n < 2; n++) {
            const __m512d first = _mm512_castps_pd(pairs[i + n]), second = _mm512_castps_pd(pairs[i + n + 2]);
            fours[i + 2 * n] = _mm512_castpd_ps(_mm512_unpacklo_pd(first, second));
            fours[i + 2 * n + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(first, second));
        }
    UNROLL for (int i = 0; i < 4; i++) { /* column i, i + 4, i + 8 and i + 12, a quarter from each four rows */
        const __m512 low = _mm512_shuffle_f32x4(fours[i], fours[4 + i], 0x88);
        const __m512 high = _mm512_shuffle_f32x4(fours[8 + i], fours[12 + i], 0x88);
        const __m512 low_odd = _mm512_shuffle_f32x4(fours[i], fours[4 + i], 0xDD);
        const __m512 high_odd = _mm512_shuffle_f32x4(fours[8 + i], fours[12 + i], 0xDD);
        v[i] = _mm512_shuffle_f32x4(low, high, 0x88);
        v[i + 8] = _mm512_shuffle_f32x4(low, high, 0xDD);
        v[i + 4] = _mm512_shuffle_f32x4(low_odd, high_odd, 0x88);
        v[i + 12] = _mm512_shuffle_f32x4(low_odd, high_odd, 0xDD);
    }
}

/* Keys [count][dim] as [dim][KEYS], in float32. */
INLINE_512 void turn_keys_of(Kind kind, const char *keys, ptrdiff_t count, ptrdiff_t dim, float *to) {
    const size_t bytes = bytes_of(kind);
    for (ptrdiff_t first = 0; first < count; first += SIXTEEN)
        for (ptrdiff_t d = 0; d < dim; d += SIXTEEN) {
            __m512 v[SIXTEEN];
            UNROLL for (int i = 0; i < SIXTEEN; i++) {
                const char *const at = keys + ((first + i < count ? first + i : count - 1) * dim + d) * bytes;
                v[i] = sixteen_of(at, kind);
            }
            turn_sixteen(v);
            UNROLL for (int i = 0; i < SIXTEEN; i++) _mm512_storeu_ps(to + (d + i) * KEYS + first, v[i]);
        }
}

INLINE_512 void widen_values_of(Kind kind, const char *values, ptrdiff_t count, float *to) {
    for (ptrdiff_t k = 0; k < count; k += SIXTEEN) _mm512_storeu_ps(to + k, sixteen_of(values + k * bytes_of(kind), kind));
}

/* Keys and values of a block. A call for each kind, so that it is a constant in the compiled loop. */
static IN_512 void turn_block(Kind kind, const char *keys, const char *values, ptrdiff_t count, ptrdiff_t dim, const Room *room) {
    const ptrdiff_t numbers = count * dim;
    if (kind == BFLOAT16) {
        turn_keys_of(BFLOAT16, keys, count, dim, room->keys);
        widen_values_of(BFLOAT16, values, numbers, room->values);
    } else if (kind == FLOAT16) {
        turn_keys_of(FLOAT16, keys, count, dim, room->keys);
        widen_values_of(FLOAT16, values, numbers, room->values);
    } else {
        turn_keys_of(FLOAT32, keys, count, dim, room->keys);
    }
}

/* Lines of what comes next, if anything is to be fetched; in half precision a head has as many pairs of lines in a block of keys
 * as it has numbers, and a value has one for each 64 numbers. */
INLINE void fetch_lines(const char *next, ptrdiff_t at, int lines) {
    if (next == NULL) return;
    UNROLL for (int i = 0; i < lines; i++) fetch_line_early(next + at + i * ALIGNMENT);
}

/* Scores of some queries for a block of transposed keys. */
INLINE_512 void wide_scores(const float *const *q, const float *keys, ptrdiff_t dim, float scale, int queries,
                            const char *next, float (*scores)[KEYS]) {
    __m512 total[FOUR_QUERIES * KEY_VECTORS];
    UNROLL for (int r = 0; r < queries; r++)
        UNROLL for (int i = 0; i < KEY_VECTORS; i++) total[r * KEY_VECTORS + i] = _mm512_setzero_ps();
    AS_A_LOOP for (ptrdiff_t d = 0; d < dim; d++) {
        __m512 key[KEY_VECTORS];
        fetch_lines(next, d * 2 * ALIGNMENT, 2);
        UNROLL for (int i = 0; i < KEY_VECTORS; i++) key[i] = _mm512_loadu_ps(keys + d * KEYS + i * SIXTEEN);
        UNROLL for (int r = 0; r < queries; r++) {
            const __m512 number = _mm512_set1_ps(q[r][d]);
            UNROLL for (int i = 0; i < KEY_VECTORS; i++)
                total[r * KEY_VECTORS + i] = _mm512_fmadd_ps(number, key[i], total[r * KEY_VECTORS + i]);
        }
    }
    UNROLL for (int r = 0; r < queries; r++)
        UNROLL for (int i = 0; i < KEY_VECTORS; i++)
            _mm512_storeu_ps(scores[r] + i * SIXTEEN, _mm512_mul_ps(total[r * KEY_VECTORS + i], _mm512_set1_ps(scale)));
}

TILE_512 wide_scores_1(const float *const *q, const float *keys, ptrdiff_t dim, float scale, const char *next,
                       float (*scores)[KEYS]) {
    wide_scores(q, keys, dim, scale, 1, next, scores);
}
TILE_512 wide_scores_4(const float *const *q, const float *keys, ptrdiff_t dim, float scale, const char *next,
                       float (*scores)[KEYS]) {
    wide_scores(q, keys, dim, scale, FOUR_QUERIES, next, scores);
}

/* A bit for each of the keys `from` to `to` of a block. */
INLINE uint64_t lanes_of(ptrdiff_t from, ptrdiff_t to) {
    return (to < KEYS ? ((uint64_t)1 << to) - 1 : ~(uint64_t)0) & ~(((uint64_t)1 << from) - 1);
}

/* The weights of the keys `from` to `to` of a block, 0 for all others; earlier sums are scaled down where a score is larger than all
 * before it. */
INLINE_512 void wide_weights(const float *scores, ptrdiff_t from, ptrdiff_t to, ptrdiff_t dim, Seen *seen, __m512 *weight) {
    const uint64_t are_seen = lanes_of(from, to);
    __m512 score[KEY_VECTORS], most = _mm512_set1_ps(seen->largest);
    UNROLL for (int i = 0; i < KEY_VECTORS; i++) {
        const __m512 none = _mm512_set1_ps(-__builtin_inff());
        score[i] = _mm512_mask_loadu_ps(none, (__mmask16)(are_seen >> i * SIXTEEN), scores + i * SIXTEEN);
        most = _mm512_max_ps(score[i], most);
    }
    const float largest = largest_of(_mm256_max_ps(_mm512_castps512_ps256(most), _mm512_extractf32x8_ps(most, 1)));
    UNROLL for (int i = 0; i < KEY_VECTORS; i++) weight[i] = wide_exponential(_mm512_sub_ps(score[i], _mm512_set1_ps(largest)));
    if (largest != seen->largest) {
        const __m512 factor = wide_exponential(_mm512_set1_ps(seen->largest - largest));
        seen->sum *= _mm512_cvtss_f32(factor);
        for (ptrdiff_t d = 0; d < dim; d += SIXTEEN)
            _mm512_storeu_ps(seen->values + d, _mm512_mul_ps(_mm512_loadu_ps(seen->values + d), factor));
    }
    seen->largest = largest;
}

INLINE_512 float sum_of_sixteen(__m512 v) {
    return sum_of_floats(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}

/* As `soften`. */
TILE_512 wide_soften(float *scores, ptrdiff_t from, ptrdiff_t to, ptrdiff_t dim, Seen *seen) {
    __m512 weight[KEY_VECTORS], sum = _mm512_setzero_ps();
    wide_weights(scores, from, to, dim, seen, weight);
    UNROLL for (int i = 0; i < KEY_VECTORS; i++) {
        sum = _mm512_add_ps(sum, weight[i]);
        _mm512_storeu_ps(scores + i * SIXTEEN, weight[i]);
    }
    seen->sum += sum_of_sixteen(sum);
}

/* Adds up `vectors` of sixteen numbers of values, from `d` on, with the weights of some queries. */
INLINE_512 void wide_values(const float (*weights)[KEYS], const float *values, Share keys, ptrdiff_t dim, ptrdiff_t d,
                            const char *next, int queries, int vectors, Seen *seen) {
    __m512 total[FOUR_QUERIES * 4];
    UNROLL for (int r = 0; r < queries; r++)
        UNROLL for (int i = 0; i < vectors; i++) total[r * vectors + i] = _mm512_loadu_ps(seen[r].values + d + i * SIXTEEN);
    AS_A_LOOP for (ptrdiff_t j = keys.begin; j < keys.end; j++) {
        __m512 value[4];
        fetch_lines(next, (j * dim + d) * 2, 2);
        UNROLL for (int i = 0; i < vectors; i++) value[i] = _mm512_loadu_ps(values + j * dim + d + i * SIXTEEN);
        UNROLL for (int r = 0; r < queries; r++) {
            const __m512 weight = _mm512_set1_ps(weights[r][j]);
            UNROLL for (int i = 0; i < vectors; i++)
                total[r * vectors + i] = _mm512_fmadd_ps(weight, value[i], total[r * vectors + i]);
        }
    }
    UNROLL for (int r = 0; r < queries; r++)
        UNROLL for (int i = 0; i < vectors; i++) _mm512_storeu_ps(seen[r].values + d + i * SIXTEEN, total[r * vectors + i]);
}

#define WIDE_VALUES(QUERIES, VECTORS)                                                                               \
    TILE_512 wide_values_##QUERIES##_##VECTORS(const float (*weights)[KEYS], const float *values, Share keys,       \
                                               ptrdiff_t dim, ptrdiff_t d, const char *next, Seen *seen) {          \
        wide_values(weights, values, keys, dim, d, next, QUERIES, VECTORS, seen);                                   \
    }
WIDE_VALUES(1, 1) WIDE_VALUES(1, 2) WIDE_VALUES(1, 3) WIDE_VALUES(1, 4)
WIDE_VALUES(4, 1) WIDE_VALUES(4, 2) WIDE_VALUES(4, 3) WIDE_VALUES(4, 4)
#undef WIDE_VALUES

typedef void WideValues(const float (*)[KEYS], const float *, Share, ptrdiff_t, ptrdiff_t, const char *, Seen *);
static WideValues *const wide_values_tiles[2][4] = { /* [are four queries][vectors - 1] */
    {wide_values_1_1, wide_values_1_2, wide_values_1_3, wide_values_1_4},
    {wide_values_4_1, wide_values_4_2, wide_values_4_3, wide_values_4_4},
};

static void add_wide_values(const float (*weights)[KEYS], const float *values, Share keys, ptrdiff_t dim, const char *next,
                            int are_four, Seen *seen) {
    for (ptrdiff_t d = 0; d < dim; d += 4 * SIXTEEN) {
        const ptrdiff_t vectors = dim - d < 4 * SIXTEEN ? (dim - d) / SIXTEEN : 4;
        wide_values_tiles[are_four][vectors - 1](weights, values, keys, dim, d, next, seen);
    }
}

/* A block of transposed keys and one of values; and what is to be prefetched meanwhile. */
typedef struct {
    const float *keys, *values;
    CacheBlock next;
} KeyBlock;

/* Whether all of these queries see the same keys of a block. */
INLINE int are_alike(const Share *keys_of, int queries) {
    int found = 1;
    for (int r = 1; r < queries; r++) found &= keys_of[r].begin == keys_of[0].begin && keys_of[r].end == keys_of[0].end;
    return found;
}

/* One query, or four, and a block of keys. */
static void attend_wide_block(const Attention *a, const float *const *q, const Share *keys_of, int queries,
                              const KeyBlock *block, Seen *seen) {
    float scores[FOUR_QUERIES][KEYS] __attribute__((aligned(ALIGNMENT)));
    const float (*const weights)[KEYS] = (const float (*)[KEYS])scores;
    (queries == FOUR_QUERIES ? wide_scores_4 : wide_scores_1)(q, block->keys, a->dim, a->scale, block->next.keys, scores);
    for (int r = 0; a->cap > 0 && r < queries; r++) cap_scores(scores[r], KEYS, a->cap);
    for (int r = 0; r < queries; r++)
        if (keys_of[r].begin < keys_of[r].end) wide_soften(scores[r], keys_of[r].begin, keys_of[r].end, a->dim, &seen[r]);
    if (are_alike(keys_of, queries))
        add_wide_values(weights, block->values, keys_of[0], a->dim, block->next.values, queries > 1, seen);
    else
        for (int r = 0; r < queries; r++)
            add_wide_values(weights + r, block->values, keys_of[r], a->dim, block->next.values, 0, seen + r);
}

/* As `attend_some`. */
static void attend_wide(const Attention *a, const Span *span, const char *all_keys, const char *all_values, ptrdiff_t head,
                        ptrdiff_t first, ptrdiff_t count, const Room *room) {
    const ptrdiff_t group = a->heads / a->kv_heads, queries = count * group, dim = a->dim;
    const ptrdiff_t bytes = bytes_of(a->kind), last = last_key(span, first + count - 1);
    begin_seen(room->seen, queries, dim);
    for (ptrdiff_t block = first_block(a, span->start + first); block <= last; block += KEYS) {
        const ptrdiff_t there = last + 1 - block < KEYS ? last + 1 - block : KEYS;
        const char *const keys = all_keys + block * dim * bytes, *const values = all_values + block * dim * bytes;
        turn_block(a->kind, keys, values, there, dim, room);
        KeyBlock now = {room->keys, a->kind == FLOAT32 ? (const float *)values : room->values,
                        block_behind(a, all_keys, all_values, block, last, room)};
        for (ptrdiff_t i = 0; i < queries;) {
            const int some = queries - i < FOUR_QUERIES ? 1 : FOUR_QUERIES;
            const float *q[FOUR_QUERIES];
            Share keys_of[FOUR_QUERIES];
            for (int r = 0; r < some; r++) {
                q[r] = query_of(a, span, head, first, i + r);
                keys_of[r] = keys_seen(a, span, span->start + first + (i + r) / group, block);
            }
            attend_wide_block(a, q, keys_of, some, &now, &room->seen[i]);
            now.next = (CacheBlock){NULL, NULL}; /* once is enough */
            i += some;
        }
    }
    put_seen(a, span, head, first, queries, room->seen);
}
