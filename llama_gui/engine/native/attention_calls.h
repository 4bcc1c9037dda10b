/* The entry points of attention: in 512-bit registers where the CPU has them and heads fit them. */

/* The threads' work items: each is one head for one piece of a span's attending tokens, the last piece first. */
typedef struct {
    ptrdiff_t head, first, count;
} Item;

static ptrdiff_t pieces_of(const Span *span) { return (span->attending + QUERIES - 1) / QUERIES; }

static Item item_of(const Attention *a, const Span *span, ptrdiff_t number) {
    const ptrdiff_t before = (pieces_of(span) - 1 - number / a->kv_heads) * QUERIES; /* that attend */
    const ptrdiff_t left = span->attending - before, first = span->length - left;
    return (Item){number % a->kv_heads, first, left < QUERIES ? left : QUERIES};
}

static ptrdiff_t items_of(const Attention *a, const Span *span) { return pieces_of(span) * a->kv_heads; }

/* Of a head, from the key `from` on. */
static CacheBlock block_at(const Attention *a, const Span *span, ptrdiff_t layer, ptrdiff_t head, ptrdiff_t from) {
    const ptrdiff_t at = (layer * span->layer_stride + head * span->head_stride + from * a->dim) * bytes_of(a->kind);
    return (CacheBlock){span->keys + at, span->values + at};
}

/* The first block of an item; a `number` beyond the span's last item means one of the next span. */
static CacheBlock beginning_of(const Attention *a, const Span *spans, ptrdiff_t count, ptrdiff_t layer, ptrdiff_t number) {
    for (ptrdiff_t s = 0; s < count; number -= items_of(a, &spans[s]), s++) {
        if (number >= items_of(a, &spans[s])) continue;
        const Item item = item_of(a, &spans[s], number);
        return block_at(a, &spans[s], layer, item.head, first_block(a, spans[s].start + item.first));
    }
    return (CacheBlock){NULL, NULL};
}

static void fetch_block(const Attention *a, CacheBlock block) {
    if (block.keys == NULL) return;
    for (ptrdiff_t at = 0; at < KEYS * a->dim * (ptrdiff_t)bytes_of(a->kind); at += ALIGNMENT)
        fetch_line_early(block.keys + at), fetch_line_early(block.values + at);
}

/* Writes the new keys and values of all spans, and attends to them and those before: for all threads of a team.
 * `failed` becomes 1 where there is no memory. */
static void attend_in_team(const Attention *a, const Span *spans, ptrdiff_t count, ptrdiff_t layer, int *failed) {
    const ptrdiff_t group = a->heads / a->kv_heads, dim = a->dim, bytes = bytes_of(a->kind);
    const int goes_wide = has_wide && dim % SIXTEEN == 0, in_halves = goes_wide && has_wide_halves && a->kind == BFLOAT16;
    const size_t block = goes_wide || a->kind != FLOAT32 ? KEYS * dim * sizeof(float) : 0;
    const size_t seen = QUERIES * group * sizeof(Seen), queries = in_halves ? QUERIES * group * dim * sizeof(uint16_t) : 0;
    char *memory = aligned(2 * block + seen + queries);
    Room room = {(float *)memory, (float *)(memory + block), (Seen *)(memory + 2 * block),
                 (uint16_t *)(memory + 2 * block + seen), {NULL, NULL}};
    if (memory == NULL) {
#pragma omp atomic write
        *failed = 1;
    }
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    fetch_block(a, beginning_of(a, spans, count, layer, thread));
    for (ptrdiff_t s = 0; s < count; s++) {
        const Span *span = &spans[s];
        char *keys = span->keys + layer * span->layer_stride * bytes;
        char *values = span->values + layer * span->layer_stride * bytes;
#pragma omp for nowait
        for (ptrdiff_t head = 0; head < a->kv_heads; head++)
            for (ptrdiff_t t = 0; t < span->length; t++) {
                const ptrdiff_t to = (head * span->head_stride + (span->start + t) * dim) * bytes;
                narrow(a->k + (span->row + t) * a->k_stride + head * dim, a->kind, dim, keys + to);
                narrow(a->v + (span->row + t) * a->v_stride + head * dim, a->kind, dim, values + to);
            }
    }
#pragma omp barrier
    for (ptrdiff_t s = 0; s < count; s++) {
        const Span *span = &spans[s];
#pragma omp for schedule(dynamic) nowait
        for (ptrdiff_t number = 0; number < items_of(a, span); number++) {
            const Item item = item_of(a, span, number);
            const CacheBlock all = block_at(a, span, layer, item.head, 0);
            room.next = beginning_of(a, span, count - s, layer, number + threads);
            if (!*failed)
                (in_halves ? attend_halves : goes_wide ? attend_wide : attend_some)(
                    a, span, all.keys, all.values, item.head, item.first, item.count, &room);
        }
    }
    release(memory);
}

EXPORT int llama_gui_attend(const float *q, ptrdiff_t q_stride, const float *k, ptrdiff_t k_stride, const float *v,
                                 ptrdiff_t v_stride, ptrdiff_t heads, ptrdiff_t kv_heads, ptrdiff_t dim, ptrdiff_t window,
                                 float scale, const Span *spans, ptrdiff_t count, ptrdiff_t layer, int kind,
                                 const float *sinks, float *y) {
    const Attention a = {q, k, v, q_stride, k_stride, v_stride, heads, kv_heads, dim, window, scale, y, (Kind)kind, sinks};
    int failed = 0;
#pragma omp parallel
    attend_in_team(&a, spans, count, layer, &failed);
    return failed;
}
