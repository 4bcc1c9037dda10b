/* What state spaces do with vectors, included once for each width of registers: lanes_256.h says what a `Vector` is, and how
 * its operations are called. A column's sums go through two chains whatever the width is, one of even rows and one of odd ones, so
 * their bits are the same. With two there is enough to do while a sum waits for its last product. */

/* One token through `n` vectors of columns: a matrix `from` becomes `to`. `streams`: past the caches, as nobody reads it before
 * the next step. */
INLINE_HERE void NAMED(token_through)(int n, int streams, const Mamba *mamba, const float *from, float *to, ptrdiff_t column,
                                      MambaTokens *tokens) {
    const Vector fade = SET(tokens->fades[0]);
    Vector values[MAMBA_COLUMNS], seen[2][MAMBA_COLUMNS];
    UNROLL for (int c = 0; c < n; c++) {
        values[c] = LOAD(tokens->values[0] + column + LANES * c);
        seen[0][c] = seen[1][c] = SET(0.0f);
    }
    for (ptrdiff_t row = 0; row < mamba->state_dim; row += 2) {
        UNROLL for (int i = 0; i < 2; i++) {
            const Vector key = SET(tokens->keys[0][row + i]), query = SET(tokens->queries[0][row + i]);
            const ptrdiff_t at = (row + i) * mamba->head_dim + column;
            UNROLL for (int c = 0; c < n; c++) {
                const Vector matrix = FMADD(key, values[c], MUL(fade, LOAD(from + at + LANES * c)));
                if (streams) STREAM(to + at + LANES * c, matrix);
                else STORE(to + at + LANES * c, matrix);
                seen[i][c] = FMADD(query, matrix, seen[i][c]);
            }
        }
    }
    UNROLL for (int i = 0; i < 2; i++)
        UNROLL for (int c = 0; c < n; c++) STORE(tokens->read[i][0] + column + LANES * c, seen[i][c]);
}

/* Several tokens through some rows of `n` vectors of columns, which stay in registers meanwhile. */
INLINE_HERE void NAMED(rows_through)(int n, const Mamba *mamba, const float *from, float *to, ptrdiff_t row, ptrdiff_t column,
                                     ptrdiff_t count, MambaTokens *tokens) {
    const ptrdiff_t dim = mamba->head_dim, at = row * dim + column;
    Vector matrix[ROWS][2];
    UNROLL for (int i = 0; i < ROWS; i++)
        UNROLL for (int c = 0; c < n; c++) matrix[i][c] = LOAD(from + at + i * dim + LANES * c);
    for (ptrdiff_t t = 0; t < count; t++) {
        const Vector fade = SET(tokens->fades[t]);
        const float *const keys = tokens->keys[t] + row, *const queries = tokens->queries[t] + row;
        float *const read[2] = {tokens->read[0][t] + column, tokens->read[1][t] + column};
        const float *const values = tokens->values[t] + column;
        Vector seen[2][2];
        UNROLL for (int i = 0; i < 2; i++)
            UNROLL for (int c = 0; c < n; c++) seen[i][c] = row ? LOAD(read[i] + LANES * c) : SET(0.0f);
        UNROLL for (int i = 0; i < ROWS; i++) {
            const Vector key = SET(keys[i]), query = SET(queries[i]);
            UNROLL for (int c = 0; c < n; c++) {
                matrix[i][c] = FMADD(key, LOAD(values + LANES * c), MUL(fade, matrix[i][c]));
                seen[i % 2][c] = FMADD(query, matrix[i][c], seen[i % 2][c]);
            }
        }
        UNROLL for (int i = 0; i < 2; i++)
            UNROLL for (int c = 0; c < n; c++) STORE(read[i] + LANES * c, seen[i][c]);
    }
    if (to == NULL) return;
    UNROLL for (int i = 0; i < ROWS; i++)
        UNROLL for (int c = 0; c < n; c++) STORE(to + at + i * dim + LANES * c, matrix[i][c]);
}

/* The same of all rows. */
INLINE_HERE void NAMED(tokens_through)(int n, const Mamba *mamba, const float *from, float *to, ptrdiff_t column,
                                       ptrdiff_t count, MambaTokens *tokens) {
    for (ptrdiff_t row = 0; row < mamba->state_dim; row += ROWS)
        NAMED(rows_through)(n, mamba, from, to, row, column, count, tokens);
}

/* What is read, and some of what was written, times the SiLU of its gate: as many channels as are whole vectors. */
static TARGET_HERE ptrdiff_t NAMED(gate_read)(const float *gates, const float *values, float skip, const float *even,
                                              const float *odd, ptrdiff_t count, float *to) {
    const Vector skips = SET(skip);
    const ptrdiff_t whole = count / LANES * LANES;
    for (ptrdiff_t c = 0; c < whole; c += LANES)
        STORE(to + c, MUL(FMADD(skips, LOAD(values + c), ADD(LOAD(even + c), LOAD(odd + c))), SILU(LOAD(gates + c))));
    return whole;
}

/* All whole vectors from `column` on; which column comes then. */
static TARGET_HERE ptrdiff_t NAMED(through_state)(const Mamba *mamba, const float *from, float *to, int streams, ptrdiff_t column,
                                                  ptrdiff_t count, MambaTokens *tokens) {
    ptrdiff_t left = (mamba->head_dim - column) / LANES;
    streams = streams && mamba->head_dim % LANES == 0; /* else its rows are not aligned */
    if (count > 1 || to == NULL) {
        for (; left >= 2; left -= 2, column += 2 * LANES) NAMED(tokens_through)(2, mamba, from, to, column, count, tokens);
        if (left > 0) NAMED(tokens_through)(1, mamba, from, to, column, count, tokens);
        return column + left * LANES;
    }
    for (; left >= MAMBA_COLUMNS; left -= MAMBA_COLUMNS, column += MAMBA_COLUMNS * LANES) {
        if (streams) NAMED(token_through)(MAMBA_COLUMNS, 1, mamba, from, to, column, tokens);
        else NAMED(token_through)(MAMBA_COLUMNS, 0, mamba, from, to, column, tokens);
    }
    for (; left > 0; left--, column += LANES) NAMED(token_through)(1, 0, mamba, from, to, column, tokens);
    return column;
}
