/* Attention. A query sees the keys of its conversation up to its own place, KEYS at a time from the first on: what
 * is computed for it does not depend on the other queries of the call. Softmax as it goes: Milakov and Gimelshein 2018. */

enum { KEYS = 64 };           /* whose scores are held at a time */
enum { QUERIES = 16 };        /* tokens of one conversation that one thread takes at a time */
enum { WIDEST = 512 };        /* numbers of a head */

typedef struct {
    int64_t row, length, start;     /* of the queries in the call; tokens before the first of them */
    char *keys, *values;            /* of the first layer: [layers][kv_heads][capacity][dim]; in blocks see keep_whole, keep_half */
    int64_t layer_stride, head_stride; /* in numbers */
    int64_t attending;              /* how many of its last queries attend; all have keys and values */
    int64_t sees;                   /* so many keys all of them see: those of an image see each other; 0: none beyond their own place */
} Span;

typedef struct {
    const float *q, *k, *v; /* rows of heads, k NULL where there are no new ones; rows lie `q_stride`, `k_stride` and `v_stride` numbers apart */
    ptrdiff_t q_stride, k_stride, v_stride;
    ptrdiff_t heads, kv_heads, dim, window; /* window: how many tokens are seen at most, or 0 for all */
    float scale;
    float *y;  /* [rows][heads][dim] */
    Kind kind; /* of the keys and values of all conversations */
    const float *sinks; /* of each head, or NULL: a score that stands for no value */
    float cap;          /* scores are `softly_capped`; 0: they are not */
} Attention;

/* Bytes of a head of a token in a cache: its numbers; behind those in eight bits their scale, in float32. */
INLINE ptrdiff_t kept_bytes(Kind kind, ptrdiff_t dim) {
    return dim * (ptrdiff_t)bytes_of(kind) + (kind == INT8 ? (ptrdiff_t)sizeof(float) : 0);
}

/* What is needed soon: a stretch of some channels. It is prefetched while others are computed. */
typedef struct {
    const char *at;
    ptrdiff_t channels, stride;      /* bytes from channel to channel */
    ptrdiff_t lines, line, together; /* cache lines of a channel, fetched so far, and to be fetched together */
} Ahead;

INLINE void fetch_some(Ahead *ahead) {
    for (ptrdiff_t i = 0; i < ahead->together && ahead->channels; i++) {
        fetch_line_early(ahead->at + ahead->line * ALIGNMENT);
        if (++ahead->line == ahead->lines) ahead->line = 0, ahead->at += ahead->stride, ahead->channels--;
    }
}

/* The sums of four vectors, and of four others, side by side. */
INLINE __m256 sums_of(const __m256 *v) {
    __m256 first = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    __m256 second = _mm256_hadd_ps(_mm256_hadd_ps(v[4], v[5]), _mm256_hadd_ps(v[6], v[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(first, second, 0x20), _mm256_permute2f128_ps(first, second, 0x31));
}

/* Scores of two queries for all keys of a block; four keys at a time. */
INLINE void scores_of(const float *const q[2], const float *keys, ptrdiff_t count, ptrdiff_t dim, float scale,
                      float scores[2][KEYS], Ahead ahead[2]) {
    ptrdiff_t j = 0;
    for (; j < count; j += 4) {
        fetch_some(&ahead[0]);
        fetch_some(&ahead[1]);
        __m256 total[8];
        UNROLL for (int i = 0; i < 8; i++) total[i] = _mm256_setzero_ps();
        const float *key[4];
        UNROLL for (int i = 0; i < 4; i++) key[i] = keys + (j + i < count ? j + i : count - 1) * dim;
        for (ptrdiff_t d = 0; d < dim; d += 8) {
            __m256 first = _mm256_loadu_ps(q[0] + d), second = _mm256_loadu_ps(q[1] + d);
            UNROLL for (int i = 0; i < 4; i++) {
                __m256 number = _mm256_loadu_ps(key[i] + d);
                total[i] = _mm256_fmadd_ps(first, number, total[i]);
                total[4 + i] = _mm256_fmadd_ps(second, number, total[4 + i]);
            }
        }
        const __m256 found = _mm256_mul_ps(sums_of(total), _mm256_set1_ps(scale));
        _mm_storeu_ps(scores[0] + j, _mm256_castps256_ps128(found));
        _mm_storeu_ps(scores[1] + j, _mm256_extractf128_ps(found, 1));
    }
}

/* The first `count` scores, and what is beside them up to the next multiple of eight. In all attention, whatever its registers. */
static void cap_scores(float *scores, ptrdiff_t count, float cap) {
    for (ptrdiff_t j = 0; j < count; j += 8) _mm256_storeu_ps(scores + j, softly_capped(_mm256_loadu_ps(scores + j), cap));
}

typedef struct {
    float values[WIDEST] __attribute__((aligned(ALIGNMENT)));
    float sums[16]; /* that make up `sum` in the end, in wide_half_attention.h */
    float largest, sum;
} Seen;

/* A block of keys and one of values in a cache; or NULL. */
typedef struct {
    const char *keys, *values;
} CacheBlock;

/* What a thread has to itself. */
typedef struct {
    float *keys, *values; /* a block of them in float32, where the caches do not hold them as they are multiplied */
    Seen *seen;
    uint16_t *queries;    /* in bfloat16 or in words, where that is multiplied */
    float *scales;        /* of those in words, and what else belongs to them */
    int32_t *middles;
    CacheBlock next;      /* of the head that it probably takes next */
} Room;

/* The weights of the keys `from` to `to` of a block, in the place of their scores; others get 0. */
INLINE void soften(float *scores, ptrdiff_t from, ptrdiff_t to, ptrdiff_t dim, Seen *seen) {
    const ptrdiff_t end = up_to(to, 8);
    for (ptrdiff_t j = 0; j < from; j++) scores[j] = -__builtin_inff();
    for (ptrdiff_t j = to; j < end; j++) scores[j] = -__builtin_inff();
    __m256 most = _mm256_set1_ps(seen->largest);
    for (ptrdiff_t j = 0; j < end; j += 8) most = _mm256_max_ps(_mm256_loadu_ps(scores + j), most);
    const float largest = largest_of(most);
    const __m256 shift = _mm256_set1_ps(largest);
    __m256 sum = _mm256_setzero_ps();
    for (ptrdiff_t j = 0; j < end; j += 8) {
        __m256 weight = exponential(_mm256_sub_ps(_mm256_loadu_ps(scores + j), shift));
        sum = _mm256_add_ps(sum, weight);
        _mm256_storeu_ps(scores + j, weight);
    }
    if (largest != seen->largest) {
        const __m256 factor = exponential(_mm256_set1_ps(seen->largest - largest));
        seen->sum *= _mm256_cvtss_f32(factor);
        for (ptrdiff_t d = 0; d < dim; d += 8)
            _mm256_storeu_ps(seen->values + d, _mm256_mul_ps(_mm256_loadu_ps(seen->values + d), factor));
    }
    seen->largest = largest;
    seen->sum += sum_of_floats(sum);
}

/* Adds up values, `vectors` of eight numbers at a time. */
INLINE void add_values(const float *weights, const float *values, ptrdiff_t from, ptrdiff_t to, ptrdiff_t dim,
                       int vectors, float *sums) {
    __m256 total[8];
    UNROLL for (int i = 0; i < vectors; i++) total[i] = _mm256_loadu_ps(sums + 8 * i);
    for (ptrdiff_t j = from; j < to; j++) {
        __m256 weight = _mm256_broadcast_ss(weights + j);
        UNROLL for (int i = 0; i < vectors; i++)
            total[i] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(values + j * dim + 8 * i), total[i]);
    }
    UNROLL for (int i = 0; i < vectors; i++) _mm256_storeu_ps(sums + 8 * i, total[i]);
}

INLINE void begin_seen(Seen *seen, ptrdiff_t queries, ptrdiff_t dim) {
    for (ptrdiff_t i = 0; i < queries; i++) {
        seen[i].largest = -__builtin_inff(), seen[i].sum = 0;
        memset(seen[i].values, 0, dim * sizeof(float));
    }
}

/* The block of the first key that the token at `place` sees. */
INLINE ptrdiff_t first_block(const Attention *a, ptrdiff_t place) {
    return (a->window && place + 1 > a->window ? place + 1 - a->window : 0) / KEYS * KEYS;
}

/* The keys of a block that the token at `place` sees. */
INLINE Share keys_seen(const Attention *a, const Span *span, ptrdiff_t place, ptrdiff_t block) {
    const ptrdiff_t from = a->window && place + 1 > a->window ? place + 1 - a->window - block : 0;
    const ptrdiff_t end = (span->sees > place ? span->sees : place + 1) - block;
    return (Share){from < 0 ? 0 : from, end < KEYS ? end : KEYS};
}

/* The last key that the `number`th token of a span sees, or one of those before it. */
INLINE ptrdiff_t last_key(const Span *span, ptrdiff_t number) {
    const ptrdiff_t own = span->start + number;
    return span->sees > own ? span->sees - 1 : own;
}

/* The `i`th query of a key head: each token from `first` on has a group of them. */
INLINE const float *query_of(const Attention *a, const Span *span, ptrdiff_t head, ptrdiff_t first, ptrdiff_t i) {
    const ptrdiff_t group = a->heads / a->kv_heads;
    return a->q + (span->row + first + i / group) * a->q_stride + (head * group + i % group) * a->dim;
}

/* The sum of a query's weights with that of a sink, by which its values are divided. */
INLINE float sum_with_sink(const Seen *seen, float sink) {
    const float apart = sink - seen->largest;
    if (apart <= 0) return seen->sum + power(apart);
    return seen->sum + 1 / power(-apart); /* infinity is right, too */
}

INLINE void put_seen(const Attention *a, const Span *span, ptrdiff_t head, ptrdiff_t first, ptrdiff_t queries,
                     const Seen *seen) {
    const ptrdiff_t group = a->heads / a->kv_heads;
    for (ptrdiff_t i = 0; i < queries; i++) {
        const ptrdiff_t its_head = head * group + i % group;
        float *y = a->y + ((span->row + first + i / group) * a->heads + its_head) * a->dim;
        const float sum = a->sinks ? sum_with_sink(&seen[i], a->sinks[its_head]) : seen[i].sum;
        for (ptrdiff_t d = 0; d < a->dim; d++) y[d] = seen[i].values[d] / sum;
    }
}

/* What is needed after a block of a head: the next block, or the first one of the thread's next head. */
INLINE CacheBlock block_behind(const Attention *a, const char *all_keys, const char *all_values, ptrdiff_t block, ptrdiff_t last,
                               const Room *room) {
    const ptrdiff_t next = (block + KEYS) * kept_bytes(a->kind, a->dim);
    return block + KEYS <= last ? (CacheBlock){all_keys + next, all_values + next} : room->next;
}

/* Some queries of one conversation and one key head: `count` tokens from `first` on. */
static void attend_some(const Attention *a, const Span *span, const char *all_keys, const char *all_values,
                             ptrdiff_t head, ptrdiff_t first, ptrdiff_t count, const Room *room) {
    const ptrdiff_t group = a->heads / a->kv_heads, queries = count * group, dim = a->dim;
    const size_t bytes = bytes_of(a->kind);
    Seen *const seen = room->seen;
    const ptrdiff_t last = last_key(span, first + count - 1);
    begin_seen(seen, queries, dim);
    for (ptrdiff_t block = first_block(a, span->start + first); block <= last; block += KEYS) {
        const ptrdiff_t there = last + 1 - block < KEYS ? last + 1 - block : KEYS;
        const float *keys = (const float *)(all_keys + block * dim * bytes);
        const float *values = (const float *)(all_values + block * dim * bytes);
        if (a->kind != FLOAT32) {
            widen((const char *)keys, a->kind, there * dim, room->keys);
            widen((const char *)values, a->kind, there * dim, room->values);
            keys = room->keys, values = room->values;
        }
        const CacheBlock wanted = block_behind(a, all_keys, all_values, block, last, room);
        Ahead ahead[2];
        for (int n = 0; n < 2; n++)
            ahead[n] = (Ahead){
                .at = n ? wanted.values : wanted.keys,
                .channels = wanted.keys != NULL, /* the keys lie behind one another */
                .lines = KEYS * dim * bytes / ALIGNMENT,
                .together = dim * bytes * 8 / ALIGNMENT / up_to(queries, 2) + 1, /* four keys for each pair of queries */
            };
        for (ptrdiff_t i = 0; i < queries; i += 2) {
            float scores[2][KEYS];
            const float *q[2];
            for (int n = 0; n < 2; n++) q[n] = query_of(a, span, head, first, i + n < queries ? i + n : i);
            scores_of(q, keys, there, dim, a->scale, scores, ahead);
            for (int n = 0; n < 2 && i + n < queries; n++) {
                const Share keys_of = keys_seen(a, span, span->start + first + (i + n) / group, block);
                const ptrdiff_t from = keys_of.begin, to = keys_of.end;
                if (to <= from) continue;
                if (a->cap > 0) cap_scores(scores[n], there, a->cap);
                soften(scores[n], from, to, dim, &seen[i + n]);
                ptrdiff_t d = 0;
                for (; d + 64 <= dim; d += 64)
                    add_values(scores[n], values + d, from, to, dim, 8, seen[i + n].values + d);
                for (; d < dim; d += 8)
                    add_values(scores[n], values + d, from, to, dim, 1, seen[i + n].values + d);
            }
        }
    }
    put_seen(a, span, head, first, queries, seen);
}
