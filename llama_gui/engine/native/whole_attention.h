/* Attention on keys and values of eight bits, each head of each token with a scale of its own.
 *
 * A query is rounded to eight bits, too, as in llama.cpp, and the weights of a block of keys to sixteen, after they were multiplied
 * with the scales of the values: eight would lose more than the values did. Products are added up exactly, so a block gives the same
 * sums in whatever order and registers; only the sums of blocks are float32. (Queries of sixteen bits halve the KL divergence that
 * rounding the keys leaves, 3e-5 to 2e-5 in all, and cost a sixth of the speed in 512-bit registers. Measured on Zen 4.)
 *
 * A cache holds bytes as they are multiplied, so nothing is arranged anew in a step: in blocks of KEYS tokens, four of what is
 * added up behind one another. Those are four numbers of a key, [dim / 4][KEYS][4], and the same number of four values,
 * [KEYS / 4][dim][4]; behind both are the scales, float32 [KEYS]. Bytes are 128 more than the numbers that they stand for. */

enum { MIDDLE = 128, LARGEST_WORD = 127 * 256 }; /* so that a word is 256 times a signed byte, and another one more */
enum { AT_ONCE = 4 };                            /* queries */

/* With both the true sum fits 32 bits, and what exceeds them on the way cancels out. */
_Static_assert(WIDEST * 127LL * 32768 <= INT32_MAX && KEYS * 127LL * 32768 <= INT32_MAX, "sums must be exact");

/* The scales of a block. */
INLINE float *scales_of(const char *block, ptrdiff_t dim) { return (float *)(block + KEYS * dim); }

/* How many numbers of a head, a power of two, are mixed with each other. */
INLINE ptrdiff_t mixed_together(ptrdiff_t dim) { return dim & -dim; }

/* Mixes the numbers of a head by Hadamard matrices (QuaRot, Ashkboos et al. 2024): some channels of keys can be far larger than
 * others, which would then be lost. Products of heads that are both mixed are `mixed_together` times as large. */
static void mix(const float *x, ptrdiff_t dim, float *to) {
    const __m256 ones = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1), twos = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
    const __m256 fours = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
    for (ptrdiff_t k = 0; k < dim; k += 8) {
        __m256 v = _mm256_loadu_ps(x + k);
        v = _mm256_fmadd_ps(v, ones, _mm256_permute_ps(v, 0xB1));
        v = _mm256_fmadd_ps(v, twos, _mm256_permute_ps(v, 0x4E));
        _mm256_storeu_ps(to + k, _mm256_fmadd_ps(v, fours, _mm256_permute2f128_ps(v, v, 1)));
    }
    for (ptrdiff_t half = 8; half < mixed_together(dim); half *= 2)
        for (ptrdiff_t k = 0; k < dim; k += k % half == half - 8 ? half + 8 : 8) {
            const __m256 first = _mm256_loadu_ps(to + k), second = _mm256_loadu_ps(to + k + half);
            _mm256_storeu_ps(to + k, _mm256_add_ps(first, second));
            _mm256_storeu_ps(to + k + half, _mm256_sub_ps(first, second));
        }
}

/* Writes a head of the token at `place` of a conversation, whose heads begin at `all`. */
static void keep_whole(const float *x, ptrdiff_t dim, ptrdiff_t place, int is_key, char *all) {
    char *const block = all + place / KEYS * KEYS * kept_bytes(INT8, dim);
    const ptrdiff_t lane = place % KEYS;
    float mixed[WIDEST];
    int8_t numbers[WIDEST];
    if (is_key) mix(x, dim, mixed);
    scales_of(block, dim)[lane] = quantise_row(is_key ? mixed : x, dim, numbers);
    for (ptrdiff_t d = 0; d < dim; d++) {
        const ptrdiff_t at = is_key ? (d / 4 * KEYS + lane) * 4 + d % 4 : (lane / 4 * dim + d) * 4 + lane % 4;
        block[at] = (char)(numbers[d] ^ MIDDLE);
    }
}

/* Some queries, or their weights, as words, with which bytes are multiplied. */
typedef struct {
    const char *words[AT_ONCE]; /* [2][count] bytes, see `round_words` */
    int32_t middle[AT_ONCE];    /* what the sum is too large by */
    float scale[AT_ONCE];
    float *to[AT_ONCE];
} Factors;

/* NaN where the largest number is none or infinite. */
INLINE float scale_of_words(float largest) {
    const float scale = _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(largest), _mm_set_ss(1.0f / LARGEST_WORD), _mm_set_ss(LEAST)));
    return scale <= 3.402823466e38f ? scale : __builtin_nanf("");
}

/* Rounds `count` numbers, a multiple of eight, to words, whose lower bytes are zeros if `to_bytes`, and says their scale. Of each
 * four the first and the third are put first and then the others, or, for registers of 512 bits, all upper and all lower bytes. */
INLINE float round_words(const float *x, ptrdiff_t count, int to_bytes, int is_wide, char *to, int32_t *middle) {
    const float scale = scale_of_words(largest_size(x, count));
    const int bits = to_bytes ? 8 : 0;
    const __m256 factor = _mm256_set1_ps(1.0f / scale / (float)(1 << bits));
    const __m128i halves = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const __m128i lower = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
    __m128i sum = _mm_setzero_si128();
    for (ptrdiff_t k = 0; k < count; k += 8) {
        const __m256i nearest = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + k), factor)); /* halves to even */
        const __m256i whole = _mm256_slli_epi32(nearest, bits);
        const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
        const __m128i upper = _mm_srai_epi16(_mm_adds_epi16(words, _mm_set1_epi16(MIDDLE)), 8);
        const __m128i bytes = _mm_unpacklo_epi64(_mm_packs_epi16(upper, upper), _mm_shuffle_epi8(words, lower));
        const __m128i both = is_wide ? bytes : _mm_shuffle_epi8(words, halves);
        sum = _mm_add_epi32(sum, _mm_madd_epi16(words, _mm_set1_epi16(MIDDLE)));
        _mm_storel_epi64((__m128i *)(to + k), both);
        _mm_storel_epi64((__m128i *)(to + count + k), _mm_unpackhi_epi64(both, both));
    }
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    *middle = _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1)));
    return scale;
}

/* The weights of the keys that are seen, of their scores, times the scales of their values, as words; says the scale of these. */
static float narrow_words(float *scores, const float *value_scales, Share keys, ptrdiff_t dim, Seen *seen, char *to,
                            int32_t *middle) {
    float products[KEYS];
    soften(scores, keys.begin, keys.end, dim, seen);
    const __m256i before = _mm256_set1_epi32((int)keys.begin - 1), end = _mm256_set1_epi32((int)keys.end);
    for (ptrdiff_t j = 0; j < KEYS; j += 8) {
        const __m256i number = _mm256_add_epi32(_mm256_set1_epi32((int)j), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const __m256i are_seen = _mm256_and_si256(_mm256_cmpgt_epi32(number, before), _mm256_cmpgt_epi32(end, number));
        const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(scores + j), _mm256_loadu_ps(value_scales + j));
        _mm256_storeu_ps(products + j, _mm256_and_ps(product, _mm256_castsi256_ps(are_seen)));
    }
    return round_words(products, KEYS, 0, 0, to, middle);
}

/* The same for registers of 512 bits. */
static IN_512 float wide_words(float *scores, const float *value_scales, Share keys, ptrdiff_t dim, Seen *seen, char *to,
                                     int32_t *middle) {
    const uint64_t are_seen = lanes_of(keys.begin, keys.end);
    __m512 weight[KEY_VECTORS], sum = _mm512_setzero_ps(), most = _mm512_setzero_ps();
    __mmask16 are_none = 0;
    wide_weights(scores, keys.begin, keys.end, dim, seen, weight);
    UNROLL for (int i = 0; i < KEY_VECTORS; i++) {
        sum = _mm512_add_ps(sum, weight[i]);
        const __m512 scale = _mm512_loadu_ps(value_scales + i * SIXTEEN);
        weight[i] = _mm512_maskz_mul_ps((__mmask16)(are_seen >> i * SIXTEEN), weight[i], scale);
        most = _mm512_max_ps(most, weight[i]);
        are_none |= _mm512_cmp_ps_mask(weight[i], weight[i], _CMP_UNORD_Q);
    }
    seen->sum += sum_of_sixteen(sum);
    const float largest = largest_of(_mm256_max_ps(_mm512_castps512_ps256(most), _mm512_extractf32x8_ps(most, 1)));
    const float scale = scale_of_words(are_none ? __builtin_nanf("") : largest);
    __m512i total = _mm512_setzero_si512();
    UNROLL for (int i = 0; i < KEY_VECTORS; i++) {
        const __m512i word = _mm512_cvtps_epi32(_mm512_mul_ps(weight[i], _mm512_set1_ps(1.0f / scale)));
        const __m512i upper = _mm512_srai_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(MIDDLE)), 8);
        total = _mm512_add_epi32(total, word);
        _mm_storeu_si128((__m128i *)(to + i * SIXTEEN), _mm512_cvtepi32_epi8(upper));
        _mm_storeu_si128((__m128i *)(to + KEYS + i * SIXTEEN), _mm512_cvtepi32_epi8(word));
    }
    *middle = MIDDLE * sum_of_whole(_mm256_add_epi32(_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64(total, 1)));
    return scale;
}

/* What is multiplied: bytes of some fours, [fours][lanes][4], and the next ones, to be prefetched, or NULL. A sum is put in its
 * place, multiplied with the scale of its lane, or, where there are no such scales, it is added to what is there. */
typedef struct {
    const char *bytes, *next;
    ptrdiff_t lanes, apart; /* bytes between the words of each kind */
    Share fours;
    const float *scales;
} Bytes;

INLINE void multiply_narrow(const Bytes *b, const Factors *by, ptrdiff_t lane, int queries, int vectors) {
    __m256i total[2 * 4];
    UNROLL for (int i = 0; i < queries * vectors; i++) total[i] = _mm256_setzero_si256();
    AS_A_LOOP for (ptrdiff_t four = b->fours.begin; four < b->fours.end; four++) {
        const char *const at = b->bytes + (four * b->lanes + lane) * 4;
        if (b->next) fetch_line_early(at + (b->next - b->bytes)), fetch_line_early(at + (b->next - b->bytes) + ALIGNMENT);
        UNROLL for (int i = 0; i < vectors; i++) {
            const __m256i bytes = _mm256_loadu_si256((const __m256i *)(at + 32 * i));
            const __m256i even = _mm256_and_si256(bytes, _mm256_set1_epi16(0xFF)), odd = _mm256_srli_epi16(bytes, 8);
            UNROLL for (int r = 0; r < queries; r++) {
                const __m256i first = _mm256_set1_epi32(four_bytes(by->words[r] + 4 * four));
                const __m256i second = _mm256_set1_epi32(four_bytes(by->words[r] + b->apart + 4 * four));
                __m256i *const sum = &total[r * vectors + i];
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(even, first));
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(odd, second));
            }
        }
    }
    UNROLL for (int i = 0; i < queries * vectors; i++) {
        const int r = i / vectors;
        float *const to = by->to[r] + lane + i % vectors * 8;
        const __m256 sum = _mm256_cvtepi32_ps(_mm256_sub_epi32(total[i], _mm256_set1_epi32(by->middle[r])));
        const __m256 scale = _mm256_set1_ps(by->scale[r]);
        _mm256_storeu_ps(to, b->scales ? _mm256_mul_ps(_mm256_mul_ps(sum, scale), _mm256_loadu_ps(b->scales + (to - by->to[r])))
                                       : _mm256_fmadd_ps(sum, scale, _mm256_loadu_ps(to)));
    }
}

/* `has_lower`: whether words have other lower bytes than zeros. */
INLINE_512 void multiply_wide(const Bytes *b, const Factors *by, ptrdiff_t lane, int queries, int vectors, int has_lower) {
    __m512i upper[AT_ONCE * 4], lower[AT_ONCE * 4];
    UNROLL for (int i = 0; i < queries * vectors; i++) upper[i] = lower[i] = _mm512_setzero_si512();
    AS_A_LOOP for (ptrdiff_t four = b->fours.begin; four < b->fours.end; four++) {
        const char *const at = b->bytes + (four * b->lanes + lane) * 4;
        UNROLL for (int i = 0; i < vectors; i++) {
            const __m512i bytes = _mm512_loadu_si512(at + ALIGNMENT * i);
            if (b->next) fetch_line_early(at + (b->next - b->bytes) + ALIGNMENT * i);
            UNROLL for (int r = 0; r < queries; r++) {
                ADD_PRODUCTS_OF(upper[r * vectors + i], bytes, by->words[r] + 4 * four);
                if (has_lower) ADD_PRODUCTS_OF(lower[r * vectors + i], bytes, by->words[r] + b->apart + 4 * four);
            }
        }
    }
    UNROLL for (int i = 0; i < queries * vectors; i++) {
        const int r = i / vectors;
        float *const to = by->to[r] + lane + i % vectors * SIXTEEN;
        const __m512i total = _mm512_add_epi32(_mm512_slli_epi32(upper[i], 8), lower[i]);
        const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(total, _mm512_set1_epi32(by->middle[r])));
        const __m512 scale = _mm512_set1_ps(by->scale[r]);
        _mm512_storeu_ps(to, b->scales ? _mm512_mul_ps(_mm512_mul_ps(sum, scale), _mm512_loadu_ps(b->scales + (to - by->to[r])))
                                       : _mm512_fmadd_ps(sum, scale, _mm512_loadu_ps(to)));
    }
}

#define NARROW_TILE(QUERIES, VECTORS)                                                                       \
    static __attribute__((noinline)) void multiply_narrow_##QUERIES##_##VECTORS(const Bytes *b, const Factors *by, \
                                                                                ptrdiff_t lane) {                  \
        multiply_narrow(b, by, lane, QUERIES, VECTORS);                                                            \
    }
#define WIDE_TILE(NAME, QUERIES, VECTORS, HAS_LOWER)                                                           \
    TILE_512 multiply_##NAME##_##QUERIES##_##VECTORS(const Bytes *b, const Factors *by, ptrdiff_t lane) {       \
        multiply_wide(b, by, lane, QUERIES, VECTORS, HAS_LOWER);                                                \
    }
NARROW_TILE(1, 1) NARROW_TILE(1, 4) NARROW_TILE(2, 1) NARROW_TILE(2, 4)
WIDE_TILE(wide, 1, 1, 1) WIDE_TILE(wide, 1, 2, 1) WIDE_TILE(wide, 2, 1, 1) WIDE_TILE(wide, 2, 2, 1)
WIDE_TILE(wide, 3, 1, 1) WIDE_TILE(wide, 3, 2, 1) WIDE_TILE(wide, 4, 1, 1) WIDE_TILE(wide, 4, 2, 1)
WIDE_TILE(upper, 1, 4, 0) WIDE_TILE(upper, 2, 4, 0) WIDE_TILE(upper, 3, 4, 0) WIDE_TILE(upper, 4, 4, 0)
#undef NARROW_TILE
#undef WIDE_TILE

enum { LANES_AT_ONCE = 32 }; /* as long as there are so many */

typedef void Multiply(const Bytes *, const Factors *, ptrdiff_t);
static Multiply *const multiply_tiles[2][AT_ONCE][2] = { /* [is_wide][queries - 1][are many lanes] */
    {{multiply_narrow_1_1, multiply_narrow_1_4}, {multiply_narrow_2_1, multiply_narrow_2_4}},
    {{multiply_wide_1_1, multiply_wide_1_2}, {multiply_wide_2_1, multiply_wide_2_2},
     {multiply_wide_3_1, multiply_wide_3_2}, {multiply_wide_4_1, multiply_wide_4_2}},
};
static Multiply *const upper_tiles[AT_ONCE] = {multiply_upper_1_4, multiply_upper_2_4, multiply_upper_3_4, multiply_upper_4_4};

static void multiply_bytes(const Bytes *b, const Factors *by, int queries, int is_wide) {
    Multiply *const *const tiles = multiply_tiles[is_wide][queries - 1];
    ptrdiff_t lane = 0;
    for (; lane + LANES_AT_ONCE <= b->lanes; lane += LANES_AT_ONCE) tiles[1](b, by, lane);
    for (; lane < b->lanes; lane += is_wide ? SIXTEEN : 8) tiles[0](b, by, lane);
}

/* Some queries, at most AT_ONCE, whose factors are given, and a block of keys and one of values. */
static void attend_whole_block(const Attention *a, const Factors *q, const Share *keys_of, int queries, int is_wide,
                               const char *keys, const char *values, CacheBlock next, Seen *seen) {
    float scores[AT_ONCE][KEYS] __attribute__((aligned(ALIGNMENT)));
    char words[AT_ONCE][2 * KEYS] __attribute__((aligned(ALIGNMENT)));
    const ptrdiff_t dim = a->dim;
    Factors of_keys = *q, of_values;
    for (int r = 0; r < queries; r++) of_keys.to[r] = scores[r];
    const Bytes all = {keys, next.keys, KEYS, dim, {0, dim / 4}, scales_of(keys, dim)};
    if (is_wide) upper_tiles[queries - 1](&all, &of_keys, 0); /* all KEYS at once */
    else multiply_bytes(&all, &of_keys, queries, 0);
    for (int r = 0; a->cap > 0 && r < queries; r++) cap_scores(scores[r], KEYS, a->cap);
    Share seen_of = {KEYS, 0}; /* by any of them */
    for (int r = 0; r < queries; r++) {
        const Share some = keys_of[r];
        of_values.to[r] = seen[r].values, of_values.words[r] = words[r], of_values.middle[r] = 0, of_values.scale[r] = 0;
        if (some.begin >= some.end) {
            memset(words[r], 0, sizeof words[r]);
            continue;
        }
        of_values.scale[r] = (is_wide ? wide_words : narrow_words)(scores[r], scales_of(values, dim), some, dim, &seen[r],
                                                                           words[r], &of_values.middle[r]);
        if (some.begin < seen_of.begin) seen_of.begin = some.begin;
        if (some.end > seen_of.end) seen_of.end = some.end;
    }
    const Bytes some = {values, next.values, dim, KEYS, {seen_of.begin / 4, (seen_of.end + 3) / 4}, NULL};
    multiply_bytes(&some, &of_values, queries, is_wide);
}

/* As `attend_some`. */
static void attend_whole(const Attention *a, const Span *span, const char *all_keys, const char *all_values, ptrdiff_t head,
                         ptrdiff_t first, ptrdiff_t count, const Room *room) {
    const ptrdiff_t group = a->heads / a->kv_heads, queries = count * group, dim = a->dim, bytes = kept_bytes(INT8, dim);
    const ptrdiff_t last = last_key(span, first + count - 1);
    const int is_wide = has_wide && dim % SIXTEEN == 0, most = is_wide ? AT_ONCE : 2;
    begin_seen(room->seen, queries, dim);
    for (ptrdiff_t i = 0; i < queries; i++) {
        float mixed[WIDEST];
        mix(query_of(a, span, head, first, i), dim, mixed);
        const float scale = round_words(mixed, dim, 1, is_wide, (char *)(room->queries + i * dim), &room->middles[i]);
        room->scales[i] = a->scale / (float)mixed_together(dim) * scale;
    }
    for (ptrdiff_t block = first_block(a, span->start + first); block <= last; block += KEYS) {
        CacheBlock next = block_behind(a, all_keys, all_values, block, last, room);
        for (ptrdiff_t i = 0; i < queries; i += most) {
            const int some = queries - i < most ? (int)(queries - i) : most;
            Share keys_of[AT_ONCE];
            Factors q = {.words = {NULL}};
            for (int r = 0; r < some; r++) {
                keys_of[r] = keys_seen(a, span, span->start + first + (i + r) / group, block);
                q.words[r] = (const char *)(room->queries + (i + r) * dim);
                q.middle[r] = room->middles[i + r], q.scale[r] = room->scales[i + r];
            }
            attend_whole_block(a, &q, keys_of, some, is_wide, all_keys + block * bytes, all_values + block * bytes, next,
                               &room->seen[i]);
            next = (CacheBlock){NULL, NULL}; /* once is enough */
        }
    }
    put_seen(a, span, head, first, queries, room->seen);
}
