/* Gated delta nets, see `gated_delta.py`: a head holds a matrix [key_dim][value_dim], which each token changes and reads.
 *
 * Tokens go through it one after the other, and the sums of a column go through one chain, so that the bits do not depend on
 * which tokens come in one call. A head takes a few tokens at a time through a few columns, which stay in the first-level
 * cache meanwhile. With the change that one token makes, what the matrix holds for the next is looked up. */

enum {
    DELTA_TOKENS = 16,
    DELTA_COLUMNS = 4, /* vectors */
    DELTA_MOST_DIM = 256,
    DELTA_MOST_TAPS = 8,
};

/* For all but `number`, the layer's among those that have such a net, see `DeltaConfig` and `DeltaWeights`. `rates`, of
 * [2 * value_heads][hidden], makes those; with NULL they are given. */
typedef struct {
    const float *taps, *slopes, *offsets, *norm, *rates;
    double eps;
    int64_t key_heads, value_heads, key_dim, value_dim, tap_count, number;
    int64_t is_in_turn; /* each key serves every so-many-th head, and not successive ones */
} DeltaNet;

/* Some rows, from one state to the next: see `Piece` and `KeptRows`; or NULL. Guesses, of which there are at most DELTA_TOKENS,
 * lead to none. The first piece of a conversation may have rows that are pending: of each layer so many, with room for more. */
typedef struct {
    int64_t row, rows;
    const float *from_inputs, *from_memory;
    float *to_inputs, *to_memory;
    float *kept_mixed, *kept_rates;
    const float *pending_mixed, *pending_rates;
    int64_t pending, pending_room;
} DeltaPiece;

/* Some tokens of a head. */
typedef struct __attribute__((aligned(ALIGNMENT))) {
    float keys[DELTA_TOKENS][DELTA_MOST_DIM], queries[DELTA_TOKENS][DELTA_MOST_DIM];
    float values[DELTA_TOKENS][DELTA_MOST_DIM], read[DELTA_TOKENS][DELTA_MOST_DIM];
    float fades[DELTA_TOKENS], corrects[DELTA_TOKENS], matches[DELTA_TOKENS]; /* the last: of query and key */
    float columns[DELTA_MOST_DIM * DELTA_COLUMNS * 16]; /* some of the matrix */
} DeltaTokens;

/* A token's way through some columns of a matrix, `rows` of them; the key and the query of the one behind it look them up. */
typedef struct {
    const float *from;
    float *to;
    ptrdiff_t from_stride, to_stride, rows;
    float fade;
    const float *key, *next_key, *next_query;
} DeltaStep;

INLINE ptrdiff_t mixed_width(const DeltaNet *net) {
    return 2 * net->key_heads * net->key_dim + net->value_heads * net->value_dim;
}

/* What a conversation's tokens are convolved with. Its rows begin at `start`, those that are pending at `first`; rows before that
 * are as wide as what is convolved. */
typedef struct {
    const float *rows, *pending, *before;
    ptrdiff_t start, first, stride, pending_stride, taps, width;
} ConvInputs;

/* In the layer `number` of those that have states, of the conversation whose first piece this is. `skips`: so many numbers of a row,
 * wherever it is, come before those that are convolved. */
static ConvInputs conv_inputs_of(const DeltaPiece *piece, ptrdiff_t number, ptrdiff_t taps, ptrdiff_t width, const float *rows,
                                 ptrdiff_t stride, ptrdiff_t kept_stride, ptrdiff_t skips) {
    const float *const before = piece->from_inputs + number * (taps - 1) * width;
    const float *const pending = piece->pending ? piece->pending_mixed + number * piece->pending_room * kept_stride + skips : NULL;
    return (ConvInputs){rows + skips, pending, before, piece->row, piece->row - piece->pending, stride, kept_stride, taps, width};
}

INLINE const float *input_row(const ConvInputs *from, ptrdiff_t row) {
    if (row >= from->start) return from->rows + row * from->stride;
    if (row >= from->first) return from->pending + (row - from->first) * from->pending_stride;
    return from->before + (row - from->first + from->taps - 1) * from->width;
}

/* All rows that one is convolved with. */
INLINE void window_of(const ConvInputs *from, ptrdiff_t row, const float **to) {
    for (ptrdiff_t j = 0; j < from->taps; j++) to[j] = input_row(from, row - from->taps + 1 + j);
}

/* Keeps of `count` channels what the rows behind a piece are convolved with, if it leads to a state: as of the layer `number`. */
INLINE void keep_window(const ConvInputs *from, const DeltaPiece *piece, ptrdiff_t number, ptrdiff_t channel, ptrdiff_t count) {
    const ptrdiff_t before = from->taps - 1, end = piece->row + piece->rows;
    for (ptrdiff_t j = 0; piece->to_inputs && j < before; j++)
        memcpy(piece->to_inputs + (number * before + j) * from->width + channel, input_row(from, end - before + j) + channel,
               count * sizeof(float));
}

/* The rates of a row of the conversation whose first piece this is: `count` for each. */
INLINE const float *rates_row(const DeltaPiece *piece, ptrdiff_t number, const float *rates, ptrdiff_t count, ptrdiff_t row) {
    if (row >= piece->row) return rates + row * count;
    return piece->pending_rates + (number * piece->pending_room + row - piece->row + piece->pending) * count;
}

/* Divides a row by its length, and multiplies it with `scale`. */
static void normalise_length(float *x, ptrdiff_t count, float scale) {
    const float square = dot(x, x, count) + 1e-6f;
    const __m256 factor = _mm256_set1_ps(scale / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(square))));
    for (ptrdiff_t c = 0; c < count; c += 8) _mm256_storeu_ps(x + c, _mm256_mul_ps(_mm256_loadu_ps(x + c), factor));
}

static float softplus(float x) { return x > 20 ? x : __builtin_log1pf(power(x)); }

/* The rates of a row: how much each head corrects, and how much it forgets. */
static void take_rates(const DeltaNet *net, const float *rates, ptrdiff_t head, float *correct, float *fade) {
    *correct = sigmoid(rates[head]);
    *fade = power(net->slopes[head] * softplus(rates[net->value_heads + head] + net->offsets[head]));
}

INLINE ptrdiff_t key_of(const DeltaNet *net, ptrdiff_t head) {
    return net->is_in_turn ? head % net->key_heads : head / (net->value_heads / net->key_heads);
}

#include "lanes_256.h"
#include "delta_vectors.h"
#include "lanes_end.h"

/* x / (1 + e^-x), of the exponential of what is not above 0. */
INLINE_512 __m512 wide_silu(__m512 x) {
    const __m512 one = _mm512_set1_ps(1.0f), falls = wide_exponential(_mm512_min_ps(x, _mm512_sub_ps(_mm512_setzero_ps(), x)));
    const __mmask16 is_low = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_div_ps(_mm512_mul_ps(x, _mm512_mask_blend_ps(is_low, one, falls)), _mm512_add_ps(one, falls));
}

#include "lanes_512.h"
#include "delta_vectors.h"
#include "lanes_end.h"

/* `to`: NULL where nobody asks for what the matrix becomes. `streams`: past the caches. */
static void through_matrix(const DeltaNet *net, const float *from, float *to, int streams, ptrdiff_t count, DeltaTokens *tokens) {
    const ptrdiff_t column = has_wide ? through_matrix_512(net, from, to, streams, 0, count, tokens) : 0;
    through_matrix_256(net, from, to, streams, column, count, tokens);
}

/* `bias` of all channels, or NULL. */
static void convolve(const float *const *rows, const float *taps, const float *bias, ptrdiff_t tap_count, ptrdiff_t width,
                     ptrdiff_t channel, ptrdiff_t count, float *to) {
    const ptrdiff_t done = has_wide ? convolve_512(rows, taps, bias, tap_count, width, channel, count, to) : 0;
    convolve_256(rows, taps, bias, tap_count, width, channel + done, count - done, to + done);
}

static void take_tokens(const DeltaNet *net, const ConvInputs *from, const DeltaPiece *first, const float *rates, ptrdiff_t row,
                        ptrdiff_t count, ptrdiff_t head, DeltaTokens *to) {
    const ptrdiff_t dim = net->key_dim, all = net->key_heads * dim;
    const ptrdiff_t key = key_of(net, head) * dim, width = mixed_width(net);
    const float scale = 1 / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss((float)dim)));
    for (ptrdiff_t t = 0; t < count; t++) {
        const float *rows[DELTA_MOST_TAPS];
        window_of(from, row + t, rows);
        convolve(rows, net->taps, NULL, net->tap_count, width, key, dim, to->queries[t]);
        convolve(rows, net->taps, NULL, net->tap_count, width, all + key, dim, to->keys[t]);
        convolve(rows, net->taps, NULL, net->tap_count, width, 2 * all + head * net->value_dim, net->value_dim, to->values[t]);
        normalise_length(to->queries[t], dim, scale);
        normalise_length(to->keys[t], dim, 1);
        to->matches[t] = dot(to->queries[t], to->keys[t], dim);
        take_rates(net, rates_row(first, net->number, rates, 2 * net->value_heads, row + t), head, &to->corrects[t], &to->fades[t]);
    }
}

/* What is read, normed, times the SiLU of its gate. */
static void put_read(const DeltaNet *net, const float *gates, float *read, float *to) {
    norm_row(read, net->norm, net->value_dim, net->eps, read);
    for (ptrdiff_t c = 0; c < net->value_dim; c += 8)
        _mm256_storeu_ps(to + c, _mm256_mul_ps(_mm256_loadu_ps(read + c), silu(_mm256_loadu_ps(gates + c))));
}

/* The inputs of a head's channels that the tokens behind a piece are convolved with. Heads that share a key write it once. */
static void keep_inputs(const DeltaNet *net, const ConvInputs *from, const DeltaPiece *piece, ptrdiff_t head) {
    const ptrdiff_t all = net->key_heads * net->key_dim, key = key_of(net, head) * net->key_dim;
    const ptrdiff_t value = 2 * all + head * net->value_dim;
    const int is_first = head == 0 || (net->is_in_turn ? head < net->key_heads : key_of(net, head - 1) != key_of(net, head));
    keep_window(from, piece, net->number, value, net->value_dim);
    if (!is_first) return;
    keep_window(from, piece, net->number, key, net->key_dim);
    keep_window(from, piece, net->number, all + key, net->key_dim);
}

/* A head of one conversation, whose `pieces` follow each other. */
static void through_head(const DeltaNet *net, const float *mixed, const float *rates, const DeltaPiece *pieces, ptrdiff_t count,
                         ptrdiff_t head, float *y) {
    const ptrdiff_t width = net->value_heads * net->value_dim, stride = mixed_width(net) + width;
    const ptrdiff_t matrix = (net->number * net->value_heads + head) * net->key_dim * net->value_dim;
    const ConvInputs from = conv_inputs_of(pieces, net->number, net->tap_count, mixed_width(net), mixed, stride, stride, 0);
    ptrdiff_t row = from.first;
    DeltaTokens tokens;
    for (const DeltaPiece *piece = pieces; piece < pieces + count; piece++) {
        const ptrdiff_t end = piece->row + piece->rows;
        float *const to = piece->to_memory ? piece->to_memory + matrix : NULL;
        for (const float *source = piece->from_memory + matrix; row < end; source = to) {
            const ptrdiff_t left = end - row, some = left < DELTA_TOKENS ? left : DELTA_TOKENS;
            take_tokens(net, &from, pieces, rates, row, some, head, &tokens);
            through_matrix(net, source, to, piece + 1 == pieces + count && some == left, some, &tokens);
            for (ptrdiff_t t = row < piece->row ? piece->row - row : 0; t < some; t++) {
                const float *const gates = mixed + (row + t) * stride + mixed_width(net) + head * net->value_dim;
                put_read(net, gates, tokens.read[t], y + (row + t) * width + head * net->value_dim);
            }
            row += some;
        }
        keep_inputs(net, &from, piece, head);
    }
    _mm_sfence();
}

/* How many numbers a row has, and its rates are; and the layer's number. */
typedef struct {
    ptrdiff_t number, stride, rates;
} KeptShape;

/* Keeps the rows of some pieces, and their rates. */
static void keep_rows(const KeptShape *shape, const float *mixed, const float *rates, const DeltaPiece *pieces, ptrdiff_t count) {
    const ptrdiff_t stride = shape->stride, wide = shape->rates;
    for (const DeltaPiece *piece = pieces; piece < pieces + count; piece++) {
        const ptrdiff_t before = shape->number * piece->rows;
        if (piece->kept_mixed == NULL) continue;
        memcpy(piece->kept_mixed + before * stride, mixed + piece->row * stride, piece->rows * stride * sizeof *mixed);
        memcpy(piece->kept_rates + before * wide, rates + piece->row * wide, piece->rows * wide * sizeof *rates);
    }
}

/* The pieces of conversation `s` are those from begins[s] to begins[s + 1]. */
typedef struct {
    const DeltaPiece *pieces;
    const int64_t *begins;
    ptrdiff_t conversations;
} DeltaSpans;

/* For all threads of a team: rows [rows][mixed_width + value width] and their rates, to y [rows][value width]. */
static void delta_in_team(const DeltaNet *net, const float *mixed, const float *rates, const DeltaSpans *spans, float *y) {
#pragma omp for schedule(dynamic) nowait
    for (ptrdiff_t n = 0; n < spans->conversations * net->value_heads; n++) {
        const int64_t *const begin = spans->begins + n / net->value_heads;
        through_head(net, mixed, rates, spans->pieces + *begin, begin[1] - *begin, n % net->value_heads, y);
    }
#pragma omp barrier
}

EXPORT int llama_gui_delta(const DeltaNet *net, const float *mixed, const float *rates, const DeltaPiece *pieces,
                           const int64_t *begins, ptrdiff_t conversations, float *y) {
    const DeltaSpans spans = {pieces, begins, conversations};
#pragma omp parallel if (conversations * net->value_heads * net->key_dim * net->value_dim > WORTH_SHARING)
    delta_in_team(net, mixed, rates, &spans, y);
    return 0;
}
