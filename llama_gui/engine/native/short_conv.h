/* Short convolutions, see `short_conv.py`: each channel by itself, so a thread takes some channels of a conversation, with all rows. */

enum { CONV_CHANNELS = 256 };

/* `taps` [tap_count][width], the newest last. `number`: the layer's among those that have such a thing. */
typedef struct {
    const float *taps;
    int64_t width, tap_count, number;
} ShortConv;

/* Some channels of the rows of a conversation: gates of what goes in, gates of what comes out, and what goes in; then, in the place
 * of the first, what is convolved. */
typedef struct {
    const ShortConv *conv;
    ConvInputs from;
    float *rows;
    ptrdiff_t channel, count;
} Convolved;

static void gate_inputs(const Convolved *of, ptrdiff_t row) {
    const ptrdiff_t width = of->conv->width;
    float *const to = of->rows + row * 3 * width + of->channel;
    for (ptrdiff_t c = 0; c < of->count; c += 8)
        _mm256_storeu_ps(to + c, _mm256_mul_ps(_mm256_loadu_ps(to + c), _mm256_loadu_ps(to + 2 * width + c)));
}

static void convolve_row(const Convolved *of, ptrdiff_t row, float *to) {
    const ptrdiff_t width = of->conv->width, taps = of->conv->tap_count;
    const float *const gates = of->rows + row * 3 * width + width + of->channel;
    const float *const weights = of->conv->taps + of->channel;
    for (ptrdiff_t c = 0; c < of->count; c += 8) {
        const ptrdiff_t channel = of->channel + c;
        __m256 sum = _mm256_mul_ps(_mm256_loadu_ps(input_row(&of->from, row - taps + 1) + channel), _mm256_loadu_ps(weights + c));
        for (ptrdiff_t j = 1; j < taps; j++) {
            const float *const from = input_row(&of->from, row - taps + 1 + j) + channel;
            sum = _mm256_fmadd_ps(_mm256_loadu_ps(from), _mm256_loadu_ps(weights + j * width + c), sum);
        }
        _mm256_storeu_ps(to + c, _mm256_mul_ps(_mm256_loadu_ps(gates + c), sum));
    }
}

/* The inputs that the tokens behind a piece are convolved with; and all, where they are kept. */
static void keep_convolved(const Convolved *of, const DeltaPiece *piece) {
    keep_window(&of->from, piece, of->conv->number, of->channel, of->count);
    for (ptrdiff_t r = 0; piece->kept_mixed && r < piece->rows; r++)
        memcpy(piece->kept_mixed + (of->conv->number * piece->rows + r) * of->conv->width + of->channel,
               input_row(&of->from, piece->row + r) + of->channel, of->count * sizeof(float));
}

/* For all threads of a team: from rows [rows][3 * width], which are overwritten, to y [rows][width]. */
static void convolve_in_team(const ShortConv *conv, float *rows, const DeltaSpans *spans, float *y) {
    const ptrdiff_t parts = (conv->width + CONV_CHANNELS - 1) / CONV_CHANNELS;
#pragma omp for
    for (ptrdiff_t n = 0; n < spans->conversations * parts; n++) {
        const DeltaPiece *const first = spans->pieces + spans->begins[n / parts];
        const DeltaPiece *const last = spans->pieces + spans->begins[n / parts + 1] - 1;
        const ptrdiff_t channel = n % parts * CONV_CHANNELS, left = conv->width - channel;
        const ConvInputs from =
            conv_inputs_of(first, conv->number, conv->tap_count, conv->width, rows, 3 * conv->width, conv->width, 0);
        const Convolved of = {conv, from, rows, channel, left < CONV_CHANNELS ? left : CONV_CHANNELS};
        const ptrdiff_t end = last->row + last->rows;
        for (ptrdiff_t r = first->row; r < end; r++) {
            gate_inputs(&of, r);
            convolve_row(&of, r, y + r * conv->width + channel);
        }
        for (const DeltaPiece *piece = first; piece <= last; piece++) keep_convolved(&of, piece);
    }
}
