/* What gated delta nets do with vectors, included once for each width of registers: lanes_256.h says what a `Vector` is, and
 * how its operations are called. A column's sums go through one chain whatever the width is, so their bits are the same. */

/* `count` channels from `channel` on, as far as they are whole vectors: convolved over `rows`, the last of which is the token, and
 * activated. How many they were. */
static TARGET_HERE ptrdiff_t NAMED(convolve)(const float *const *rows, const float *taps, const float *bias, ptrdiff_t tap_count,
                                             ptrdiff_t width, ptrdiff_t channel, ptrdiff_t count, float *to) {
    const ptrdiff_t whole = count / LANES * LANES;
    for (ptrdiff_t c = 0; c < whole; c += LANES) {
        Vector sum = bias ? LOAD(bias + channel + c) : SET(0.0f);
        for (ptrdiff_t j = 0; j < tap_count; j++)
            sum = FMADD(LOAD(rows[j] + channel + c), LOAD(taps + j * width + channel + c), sum);
        STORE(to + c, SILU(sum));
    }
    return whole;
}

/* What a matrix holds for a key, and what a query reads in it, of `n` vectors of columns. */
INLINE_HERE void NAMED(look_up)(int n, const Vector *matrix, float key, float query, Vector *held, Vector *seen) {
    const Vector k = SET(key), q = SET(query);
    UNROLL for (int c = 0; c < n; c++) {
        held[c] = FMADD(k, matrix[c], held[c]);
        seen[c] = FMADD(q, matrix[c], seen[c]);
    }
}

/* The change that a token makes, and what the next one finds. `streams`: past the caches. */
INLINE_HERE void NAMED(change_columns)(int n, int streams, const DeltaStep *step, const Vector *change, Vector *held, Vector *seen) {
    const Vector fade = SET(step->fade);
    Vector matrix[DELTA_COLUMNS];
    for (ptrdiff_t i = 0; i < step->rows; i++) {
        const Vector key = SET(step->key[i]);
        UNROLL for (int c = 0; c < n; c++) {
            matrix[c] = FMADD(key, change[c], MUL(fade, LOAD(step->from + i * step->from_stride + LANES * c)));
            if (streams) STREAM(step->to + i * step->to_stride + LANES * c, matrix[c]);
            else STORE(step->to + i * step->to_stride + LANES * c, matrix[c]);
        }
        NAMED(look_up)(n, matrix, step->next_key[i], step->next_query[i], held, seen);
    }
}

/* `n` vectors of columns, all tokens: a matrix `from` becomes `to`. The reading of a token comes before the change that it
 * makes, whose part in it is the change times the match of key and query. Between tokens the columns lie beside one another:
 * in the matrix they are so far apart that the cache would not hold them. */
INLINE_HERE void NAMED(through_columns)(int n, const DeltaNet *net, const float *from, float *to, int streams, ptrdiff_t column,
                                        ptrdiff_t count, DeltaTokens *tokens) {
    const ptrdiff_t dim = net->value_dim, near = n * LANES;
    Vector matrix[DELTA_COLUMNS], change[DELTA_COLUMNS], held[DELTA_COLUMNS], seen[DELTA_COLUMNS];
    float *const between = tokens->columns;
    UNROLL for (int c = 0; c < n; c++) held[c] = seen[c] = SET(0.0f);
    for (ptrdiff_t i = 0; i < net->key_dim; i++) {
        UNROLL for (int c = 0; c < n; c++) matrix[c] = LOAD(from + i * dim + column + LANES * c);
        if (count > 1) UNROLL for (int c = 0; c < n; c++) STORE(between + i * near + LANES * c, matrix[c]);
        NAMED(look_up)(n, matrix, tokens->keys[0][i], tokens->queries[0][i], held, seen);
    }
    const float *source = count > 1 ? between : from + column;
    const ptrdiff_t source_stride = count > 1 ? near : dim;
    for (ptrdiff_t t = 0; t < count; t++) {
        const int is_last = t + 1 == count;
        float *const sink = is_last && to ? to + column : between;
        const ptrdiff_t stride = is_last ? dim : near, next = is_last ? t : t + 1; /* behind the last nobody looks */
        const DeltaStep step = {
            source, sink, source_stride, stride, net->key_dim, tokens->fades[t], tokens->keys[t], tokens->keys[next],
            tokens->queries[next],
        };
        const Vector fade = SET(tokens->fades[t]), match = SET(tokens->matches[t]), correct = SET(tokens->corrects[t]);
        UNROLL for (int c = 0; c < n; c++) {
            const Vector value = LOAD(tokens->values[t] + column + LANES * c);
            change[c] = MUL(correct, FNMADD(fade, held[c], value));
            STORE(tokens->read[t] + column + LANES * c, FMADD(match, change[c], MUL(fade, seen[c])));
            held[c] = seen[c] = SET(0.0f);
        }
        if (is_last && to == NULL) break;
        /* A call for each, so that the compiled loops do not ask. */
        if (is_last && streams) NAMED(change_columns)(n, 1, &step, change, held, seen);
        else NAMED(change_columns)(n, 0, &step, change, held, seen);
    }
}

/* All whole vectors from `column` on; which column comes then. */
static TARGET_HERE ptrdiff_t NAMED(through_matrix)(const DeltaNet *net, const float *from, float *to, int streams, ptrdiff_t column,
                                                   ptrdiff_t count, DeltaTokens *tokens) {
    ptrdiff_t left = (net->value_dim - column) / LANES;
    streams = streams && net->value_dim % LANES == 0; /* else its rows are not aligned */
    for (; left >= DELTA_COLUMNS; left -= DELTA_COLUMNS, column += DELTA_COLUMNS * LANES)
        NAMED(through_columns)(DELTA_COLUMNS, net, from, to, streams, column, count, tokens);
    for (; left > 0; left--, column += LANES) NAMED(through_columns)(1, net, from, to, streams, column, count, tokens);
    return column;
}
