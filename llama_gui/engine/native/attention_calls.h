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
    const ptrdiff_t strides = (layer * span->layer_stride + head * span->head_stride) * bytes_of(a->kind);
    const ptrdiff_t at = strides + from * kept_bytes(a->kind, a->dim);
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
    for (ptrdiff_t at = 0; at < KEYS * kept_bytes(a->kind, a->dim); at += ALIGNMENT)
        fetch_line_early(block.keys + at), fetch_line_early(block.values + at);
}

typedef void Attend(const Attention *, const Span *, const char *, const char *, ptrdiff_t, ptrdiff_t, ptrdiff_t, const Room *);

/* Whether its cache lies as wide_half_attention.h has it. */
static int keeps_pairs(const Attention *a) { return a->kind == BFLOAT16 && has_wide_halves && a->dim % SIXTEEN == 0; }

static Attend *which_attends(const Attention *a) {
    if (a->kind == INT8) return attend_whole;
    if (!has_wide || a->dim % SIXTEEN) return attend_some;
    if (!keeps_pairs(a)) return attend_wide;
    return has_tiles && a->dim % TILE_HEAD == 0 ? attend_tiles : attend_halves;
}

static Room room_for(const Attention *a, Stock *from) {
    Attend *const attend = which_attends(a);
    const ptrdiff_t queries = QUERIES * (a->heads / a->kv_heads), is_whole = a->kind == INT8;
    const int widens = attend == attend_wide || (attend == attend_some && a->kind != FLOAT32);
    const ptrdiff_t block = KEYS * a->dim * sizeof(float);
    return (Room){
        .keys = take(from, widens ? block : 0),
        .values = take(from, widens ? block : attend == attend_tiles ? block / 2 : 0),
        .seen = take(from, queries * sizeof(Seen)),
        .queries = take(from, keeps_pairs(a) || is_whole ? queries * a->dim * sizeof(uint16_t) : 0),
        .scales = take(from, is_whole * queries * sizeof(float)),
        .middles = take(from, is_whole * queries * sizeof(int32_t)),
    };
}

/* Writes the new keys and values of a head. */
static void keep_heads(const Attention *a, const Span *span, ptrdiff_t layer, ptrdiff_t head) {
    const CacheBlock all = block_at(a, span, layer, head, 0);
    char *const keys = (char *)all.keys, *const values = (char *)all.values;
    const int is_paired = keeps_pairs(a);
    for (ptrdiff_t t = 0; t < span->length; t++) {
        const ptrdiff_t place = span->start + t, at = place * kept_bytes(a->kind, a->dim);
        const float *const k = a->k + (span->row + t) * a->k_stride + head * a->dim;
        const float *const v = a->v + (span->row + t) * a->v_stride + head * a->dim;
        if (a->kind == INT8) {
            keep_whole(k, a->dim, place, 1, keys);
            keep_whole(v, a->dim, place, 0, values);
        } else if (is_paired) {
            keep_half(k, a->dim, place, 1, keys);
            keep_half(v, a->dim, place, 0, values);
        } else {
            narrow(k, a->kind, a->dim, keys + at);
            narrow(v, a->kind, a->dim, values + at);
        }
    }
}

/* Writes the new keys and values of all spans, and attends to them and those before: for all threads of a team.
 * `failed` becomes 1 where there is no memory. */
static void attend_in_team(const Attention *a, const Span *spans, ptrdiff_t count, ptrdiff_t layer, int *failed) {
    Attend *const attend = which_attends(a);
    Stock wanted = {NULL, 0};
    room_for(a, &wanted);
    Stock stock = {aligned(wanted.taken), 0};
    char *const memory = stock.at;
    Room room = room_for(a, &stock);
    if (memory == NULL) {
#pragma omp atomic write
        *failed = 1;
    }
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    fetch_block(a, beginning_of(a, spans, count, layer, thread));
    for (ptrdiff_t s = 0; s < count && a->k; s++)
#pragma omp for nowait
        for (ptrdiff_t head = 0; head < a->kv_heads; head++) keep_heads(a, &spans[s], layer, head);
#pragma omp barrier
    for (ptrdiff_t s = 0; s < count; s++) {
        const Span *span = &spans[s];
#pragma omp for schedule(dynamic) nowait
        for (ptrdiff_t number = 0; number < items_of(a, span); number++) {
            const Item item = item_of(a, span, number);
            const CacheBlock all = block_at(a, span, layer, item.head, 0);
            room.next = beginning_of(a, span, count - s, layer, number + threads);
            if (!*failed) attend(a, span, all.keys, all.values, item.head, item.first, item.count, &room);
        }
    }
    release(memory);
}

EXPORT int llama_gui_attend(const float *q, ptrdiff_t q_stride, const float *k, ptrdiff_t k_stride, const float *v,
                                 ptrdiff_t v_stride, ptrdiff_t heads, ptrdiff_t kv_heads, ptrdiff_t dim, ptrdiff_t window,
                                 float scale, const Span *spans, ptrdiff_t count, ptrdiff_t layer, int kind,
                                 const float *sinks, float cap, float *y) {
    const Attention a = {q, k, v, q_stride, k_stride, v_stride, heads, kv_heads, dim, window, scale, y, (Kind)kind, sinks, cap};
    int failed = 0;
#pragma omp parallel
    attend_in_team(&a, spans, count, layer, &failed);
    return failed;
}
