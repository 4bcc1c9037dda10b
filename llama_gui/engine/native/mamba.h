/* State spaces of Mamba-2, see `mamba.py`: a head holds a matrix [state_dim][head_dim], which each token lets fade, adds to and
 * reads. Tokens go through it one after the other, and a column's sums go through two chains, so that the bits do not depend on
 * which tokens come in one call. */

enum { MAMBA_TOKENS = 16, MAMBA_COLUMNS = 4 /* vectors */, MAMBA_MOST_DIM = 256, MAMBA_CHANNELS = 256 };

/* See `MambaConfig` and `MambaWeights`. `rates` [heads][hidden] makes those; with NULL they are given. `number`: the layer's
 * among those that have such a thing. */
typedef struct {
    const float *taps, *bias, *slopes, *offsets, *skips, *norm, *rates; /* `bias` may be NULL */
    double eps;
    int64_t heads, head_dim, groups, state_dim, tap_count, number;
} Mamba;

/* Some tokens of a head: what they write with, what they read with, what they write, and what they read, in two parts. `held`:
 * values, keys and queries of rows that are convolved nowhere else. */
typedef struct __attribute__((aligned(ALIGNMENT))) {
    const float *keys[MAMBA_TOKENS], *queries[MAMBA_TOKENS];
    float held[MAMBA_TOKENS][3][MAMBA_MOST_DIM];
    float values[MAMBA_TOKENS][MAMBA_MOST_DIM], read[2][MAMBA_TOKENS][MAMBA_MOST_DIM];
    float fades[MAMBA_TOKENS];
} MambaTokens;

INLINE ptrdiff_t mamba_inner(const Mamba *mamba) { return mamba->heads * mamba->head_dim; }

/* What is convolved of a row: values, keys and queries, behind the gates. */
INLINE ptrdiff_t mamba_mixed(const Mamba *mamba) { return mamba_inner(mamba) + 2 * mamba->groups * mamba->state_dim; }

/* All that is made of a row. The rates at its end are not used, as they may be rounded. */
INLINE ptrdiff_t mamba_stride(const Mamba *mamba) { return mamba_inner(mamba) + mamba_mixed(mamba) + mamba->heads; }

#include "lanes_256.h"
#define ROWS 4 /* as many as there are registers for */
#include "mamba_vectors.h"
#undef ROWS
#include "lanes_end.h"

#include "lanes_512.h"
#define ROWS 8
#include "mamba_vectors.h"
#undef ROWS
#include "lanes_end.h"

/* `to`: NULL where nobody asks for what the matrix becomes. `streams`: one token's past the caches. */
static void through_state(const Mamba *mamba, const float *from, float *to, int streams, ptrdiff_t count, MambaTokens *tokens) {
    const ptrdiff_t column = has_wide ? through_state_512(mamba, from, to, streams, 0, count, tokens) : 0;
    through_state_256(mamba, from, to, streams, column, count, tokens);
}

/* --- the convolution, in place */

/* Some channels of a conversation. `rows`: the first row of all conversations. */
typedef struct {
    const Mamba *mamba;
    ConvInputs from;
    float *rows;
    ptrdiff_t channel, count;
} MambaChannels;

static ConvInputs mamba_inputs(const Mamba *mamba, const float *rows, const DeltaPiece *first) {
    const ptrdiff_t stride = mamba_stride(mamba);
    return conv_inputs_of(first, mamba->number, mamba->tap_count, mamba_mixed(mamba), rows, stride, stride, mamba_inner(mamba));
}

/* The last row first: what the others need is still there. */
static void convolve_channels(const MambaChannels *of, ptrdiff_t end) {
    const Mamba *const mamba = of->mamba;
    for (ptrdiff_t r = end - 1; r >= of->from.start; r--) {
        const float *rows[DELTA_MOST_TAPS];
        window_of(&of->from, r, rows);
        float *const to = of->rows + r * mamba_stride(mamba) + mamba_inner(mamba) + of->channel;
        convolve(rows, mamba->taps, mamba->bias, of->from.taps, of->from.width, of->channel, of->count, to);
    }
}

static void convolve_mamba_in_team(const Mamba *mamba, float *rows, const DeltaSpans *spans) {
    const ptrdiff_t parts = (mamba_mixed(mamba) + MAMBA_CHANNELS - 1) / MAMBA_CHANNELS;
#pragma omp for
    for (ptrdiff_t n = 0; n < spans->conversations * parts; n++) {
        const DeltaPiece *const first = spans->pieces + spans->begins[n / parts];
        const DeltaPiece *const last = spans->pieces + spans->begins[n / parts + 1] - 1;
        const ptrdiff_t channel = n % parts * MAMBA_CHANNELS, left = mamba_mixed(mamba) - channel;
        const ConvInputs from = mamba_inputs(mamba, rows, first);
        const MambaChannels of = {mamba, from, rows, channel, left < MAMBA_CHANNELS ? left : MAMBA_CHANNELS};
        for (const DeltaPiece *piece = first; piece <= last; piece++) keep_window(&from, piece, mamba->number, channel, of.count);
        convolve_channels(&of, last->row + last->rows);
    }
}

/* --- the heads */

/* `from`: rows before its start are pending, and not convolved yet; the others are. */
static void take_mamba_tokens(const Mamba *mamba, const ConvInputs *from, const DeltaPiece *first, const float *rates, ptrdiff_t row,
                              ptrdiff_t count, ptrdiff_t head, MambaTokens *to) {
    const ptrdiff_t dim = mamba->head_dim, size = mamba->state_dim, mixed_size = from->width;
    const ptrdiff_t key = mamba_inner(mamba) + head / (mamba->heads / mamba->groups) * size, query = key + mamba->groups * size;
    for (ptrdiff_t t = 0; t < count; t++) {
        const float *const mixed = input_row(from, row + t), *values = mixed + head * dim;
        const float rate = softplus(rates_row(first, mamba->number, rates, mamba->heads, row + t)[head] + mamba->offsets[head]);
        to->fades[t] = power(mamba->slopes[head] * rate);
        to->keys[t] = mixed + key;
        to->queries[t] = mixed + query;
        if (row + t < from->start) {
            const float *rows[DELTA_MOST_TAPS];
            window_of(from, row + t, rows);
            convolve(rows, mamba->taps, mamba->bias, from->taps, mixed_size, head * dim, dim, to->held[t][0]);
            convolve(rows, mamba->taps, mamba->bias, from->taps, mixed_size, key, size, to->held[t][1]);
            convolve(rows, mamba->taps, mamba->bias, from->taps, mixed_size, query, size, to->held[t][2]);
            values = to->held[t][0];
            to->keys[t] = to->held[t][1];
            to->queries[t] = to->held[t][2];
        }
        for (ptrdiff_t c = 0; c < dim; c += 8)
            _mm256_store_ps(to->values[t] + c, _mm256_mul_ps(_mm256_set1_ps(rate), _mm256_loadu_ps(values + c)));
    }
}

static void put_mamba_read(const Mamba *mamba, const float *row, ptrdiff_t head, const MambaTokens *tokens, ptrdiff_t t, float *to) {
    const ptrdiff_t dim = mamba->head_dim;
    const float *const values = row + mamba_inner(mamba), *const even = tokens->read[0][t], *const odd = tokens->read[1][t];
    const float skip = mamba->skips[head];
    const ptrdiff_t done = has_wide ? gate_read_512(row, values, skip, even, odd, dim, to) : 0;
    gate_read_256(row + done, values + done, skip, even + done, odd + done, dim - done, to + done);
}

/* A head of one conversation, whose `pieces` follow each other. */
static void through_mamba_head(const Mamba *mamba, const float *rows, const float *rates, const DeltaPiece *pieces, ptrdiff_t count,
                               ptrdiff_t head, float *y) {
    const ptrdiff_t dim = mamba->head_dim, inner = mamba_inner(mamba), stride = mamba_stride(mamba);
    const ptrdiff_t matrix = (mamba->number * mamba->heads + head) * mamba->state_dim * dim;
    const ConvInputs from = mamba_inputs(mamba, rows, pieces);
    ptrdiff_t row = from.first;
    MambaTokens tokens;
    for (const DeltaPiece *piece = pieces; piece < pieces + count; piece++) {
        const ptrdiff_t end = piece->row + piece->rows;
        float *const to = piece->to_memory ? piece->to_memory + matrix : NULL;
        for (const float *source = piece->from_memory + matrix; row < end; source = to) {
            const ptrdiff_t left = end - row, some = left < MAMBA_TOKENS ? left : MAMBA_TOKENS;
            take_mamba_tokens(mamba, &from, pieces, rates, row, some, head, &tokens);
            through_state(mamba, source, to, piece + 1 == pieces + count, some, &tokens);
            for (ptrdiff_t t = row < piece->row ? piece->row - row : 0; t < some; t++)
                put_mamba_read(mamba, rows + (row + t) * stride + head * dim, head, &tokens, t,
                               y + (row + t) * inner + head * dim);
            row += some;
        }
    }
    _mm_sfence();
}

/* For all threads of a team: from rows [count][`mamba_stride`], which are overwritten, and their rates, to y [count][inner]. */
static void mamba_in_team(const Mamba *mamba, float *rows, const float *rates, ptrdiff_t count, const DeltaSpans *spans, float *y) {
    const ptrdiff_t inner = mamba_inner(mamba), group = inner / mamba->groups;
    const KeptShape shape = {mamba->number, mamba_stride(mamba), mamba->heads};
    if (omp_get_thread_num() == 0) keep_rows(&shape, rows, rates, spans->pieces, spans->begins[spans->conversations]);
#pragma omp barrier
    convolve_mamba_in_team(mamba, rows, spans);
#pragma omp for schedule(dynamic) nowait
    for (ptrdiff_t n = 0; n < spans->conversations * mamba->heads; n++) {
        const int64_t *const begin = spans->begins + n / mamba->heads;
        through_mamba_head(mamba, rows, rates, spans->pieces + *begin, begin[1] - *begin, n % mamba->heads, y);
    }
#pragma omp barrier
#pragma omp for
    for (ptrdiff_t n = 0; n < count * mamba->groups; n++)
        norm_row(y + n * group, mamba->norm + n % mamba->groups * group, group, mamba->eps, y + n * group);
}

EXPORT int llama_gui_mamba(const Mamba *mamba, float *rows, const float *rates, ptrdiff_t count, const DeltaPiece *pieces,
                           const int64_t *begins, ptrdiff_t conversations, float *y) {
    const DeltaSpans spans = {pieces, begins, conversations};
#pragma omp parallel if (count * mamba_inner(mamba) * mamba->state_dim > WORTH_SHARING)
    mamba_in_team(mamba, rows, rates, count, &spans, y);
    return 0;
}
