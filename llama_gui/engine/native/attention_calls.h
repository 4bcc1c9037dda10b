/* Attention as it is asked for: in wide registers where there are some and heads fit them. */

/* Writes the new keys and values of all spans, and attends to them and those before: for all threads of a team.
 * `failed` becomes 1 where there is no memory. */
static void attend_in_team(const Attention *a, const Span *spans, ptrdiff_t count, ptrdiff_t layer, int *failed) {
    const ptrdiff_t group = a->heads / a->kv_heads, dim = a->dim, bytes = bytes_of(a->kind);
    const int goes_wide = has_wide && dim % SIXTEEN == 0;
    const size_t block = goes_wide || a->kind != FLOAT32 ? KEYS * dim * sizeof(float) : 0;
    float *wide = aligned(2 * block + QUERIES * group * sizeof(Seen));
    const Room room = {wide, wide + block / sizeof *wide, (Seen *)(wide + 2 * block / sizeof *wide)};
    if (wide == NULL) {
#pragma omp atomic write
        *failed = 1;
    }
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
        const char *keys = span->keys + layer * span->layer_stride * bytes;
        const char *values = span->values + layer * span->layer_stride * bytes;
        const ptrdiff_t pieces = (span->length + QUERIES - 1) / QUERIES;
#pragma omp for schedule(dynamic) nowait
        for (ptrdiff_t item = 0; item < pieces * a->kv_heads; item++) {
            const ptrdiff_t head = item % a->kv_heads, first = (pieces - 1 - item / a->kv_heads) * QUERIES;
            const ptrdiff_t left = span->length - first;
            if (!*failed)
                (goes_wide ? attend_wide : attend_some)(
                    a, span, keys + head * span->head_stride * bytes, values + head * span->head_stride * bytes, head,
                    first, left < QUERIES ? left : QUERIES, &room);
        }
    }
    release(wide);
}

EXPORT int llama_gui_attend(const float *q, ptrdiff_t q_stride, const float *k, ptrdiff_t k_stride, const float *v,
                                 ptrdiff_t v_stride, ptrdiff_t heads, ptrdiff_t kv_heads, ptrdiff_t dim, ptrdiff_t window,
                                 float scale, const Span *spans, ptrdiff_t count, ptrdiff_t layer, int kind, float *y) {
    const Attention a = {q, k, v, q_stride, k_stride, v_stride, heads, kv_heads, dim, window, scale, y, (Kind)kind};
    int failed = 0;
#pragma omp parallel
    attend_in_team(&a, spans, count, layer, &failed);
    return failed;
}
