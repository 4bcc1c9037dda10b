/* What state spaces do with vectors, included once for each width of registers: mamba.h says what a `Vector` is, and how its
 * operations are called. A column's sums go through one chain whatever the width is, so their bits are the same. */

/* One token through `n` vectors of columns: a matrix `from` becomes `to`. `streams`: past the caches, as nobody reads it before
 * the next step. */
INLINE_HERE void NAMED(token_through)(int n, int streams, const Mamba *mamba, const float *from, float *to, ptrdiff_t column,
                                      MambaTokens *tokens) {
    const Vector fade = SET(tokens->fades[0]);
    Vector values[MAMBA_COLUMNS], seen[MAMBA_COLUMNS];
    UNROLL for (int c = 0; c < n; c++) {
        values[c] = LOAD(tokens->values[0] + column + LANES * c);
        seen[c] = SET(0.0f);
    }
    for (ptrdiff_t i = 0; i < mamba->state_dim; i++) {
        const Vector key = SET(tokens->keys[0][i]), query = SET(tokens->queries[0][i]);
        const ptrdiff_t at = i * mamba->head_dim + column;
        UNROLL for (int c = 0; c < n; c++) {
            const Vector matrix = FMADD(key, values[c], MUL(fade, LOAD(from + at + LANES * c)));
            if (streams) STREAM(to + at + LANES * c, matrix);
            else STORE(to + at + LANES * c, matrix);
            seen[c] = FMADD(query, matrix, seen[c]);
        }
    }
    UNROLL for (int c = 0; c < n; c++) STORE(tokens->read[0] + column + LANES * c, seen[c]);
}

/* Several tokens through some rows of a vector of columns, which stay in registers meanwhile. */
INLINE_HERE void NAMED(tokens_through)(const Mamba *mamba, const float *from, float *to, ptrdiff_t row, ptrdiff_t column,
                                       ptrdiff_t count, MambaTokens *tokens) {
    const ptrdiff_t dim = mamba->head_dim, at = row * dim + column;
    Vector matrix[MAMBA_ROWS];
    UNROLL for (int i = 0; i < MAMBA_ROWS; i++) matrix[i] = LOAD(from + at + i * dim);
    for (ptrdiff_t t = 0; t < count; t++) {
        const Vector fade = SET(tokens->fades[t]), value = LOAD(tokens->values[t] + column);
        const float *const keys = tokens->keys[t] + row, *const queries = tokens->queries[t] + row;
        Vector seen = row ? LOAD(tokens->read[t] + column) : SET(0.0f);
        UNROLL for (int i = 0; i < MAMBA_ROWS; i++) {
            matrix[i] = FMADD(SET(keys[i]), value, MUL(fade, matrix[i]));
            seen = FMADD(SET(queries[i]), matrix[i], seen);
        }
        STORE(tokens->read[t] + column, seen);
    }
    UNROLL for (int i = 0; i < MAMBA_ROWS; i++) STORE(to + at + i * dim, matrix[i]);
}

/* All whole vectors from `column` on; which column comes then. */
static TARGET_HERE ptrdiff_t NAMED(through_state)(const Mamba *mamba, const float *from, float *to, ptrdiff_t column,
                                                  ptrdiff_t count, MambaTokens *tokens) {
    ptrdiff_t left = (mamba->head_dim - column) / LANES;
    const int streams = mamba->head_dim % LANES == 0;
    if (count > 1) {
        for (; left > 0; left--, column += LANES)
            for (ptrdiff_t row = 0; row < mamba->state_dim; row += MAMBA_ROWS)
                NAMED(tokens_through)(mamba, from, to, row, column, count, tokens);
        return column;
    }
    for (; left >= MAMBA_COLUMNS; left -= MAMBA_COLUMNS, column += MAMBA_COLUMNS * LANES) {
        if (streams) NAMED(token_through)(MAMBA_COLUMNS, 1, mamba, from, to, column, tokens);
        else NAMED(token_through)(MAMBA_COLUMNS, 0, mamba, from, to, column, tokens);
    }
    for (; left > 0; left--, column += LANES) NAMED(token_through)(1, 0, mamba, from, to, column, tokens);
    return column;
}

#undef NAMED
#undef Vector
#undef LANES
#undef LOAD
#undef STORE
#undef STREAM
#undef SET
#undef MUL
#undef FMADD
#undef INLINE_HERE
#undef TARGET_HERE
