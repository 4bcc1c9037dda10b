/* Rows of float32 times a weight of float32: routers of mixtures, and how fast heads forget.
 *
 * A sum goes through two chains of eight, as `dot` has them, whatever else is multiplied beside it: its bits are the same. */

enum { DOT_ROWS = 4, DOT_CHANNELS = 4, DOT_TILE = 64 };

/* `width` is a multiple of eight. */
INLINE float dot(const float *x, const float *w, ptrdiff_t width) {
    __m256 first = _mm256_setzero_ps(), second = _mm256_setzero_ps();
    ptrdiff_t k = 0;
    for (; k + 16 <= width; k += 16) {
        first = _mm256_fmadd_ps(_mm256_loadu_ps(x + k), _mm256_loadu_ps(w + k), first);
        second = _mm256_fmadd_ps(_mm256_loadu_ps(x + k + 8), _mm256_loadu_ps(w + k + 8), second);
    }
    if (k < width) first = _mm256_fmadd_ps(_mm256_loadu_ps(x + k), _mm256_loadu_ps(w + k), first);
    return sum_of_floats(_mm256_add_ps(first, second));
}

/* Some rows of `width` numbers, times some channels, into y [rows][stride]. */
typedef struct {
    const float *x, *w;
    ptrdiff_t width, stride;
    float *y;
} Dots;

/* Both chains of a sum are the halves of a register. */
INLINE_512 void dots_of_512(int rows, int channels, const Dots *of, ptrdiff_t row, ptrdiff_t channel) {
    const ptrdiff_t width = of->width;
    const float *const x = of->x + row * width, *const w = of->w + channel * width;
    __m512 sums[DOT_ROWS][DOT_CHANNELS];
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < channels; c++) sums[r][c] = _mm512_setzero_ps();
    ptrdiff_t k = 0;
    for (; k + 16 <= width; k += 16) {
        __m512 inputs[DOT_ROWS];
        UNROLL for (int r = 0; r < rows; r++) inputs[r] = _mm512_loadu_ps(x + r * width + k);
        UNROLL for (int c = 0; c < channels; c++) {
            const __m512 weights = _mm512_loadu_ps(w + c * width + k);
            UNROLL for (int r = 0; r < rows; r++) sums[r][c] = _mm512_fmadd_ps(inputs[r], weights, sums[r][c]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int c = 0; c < channels; c++) {
            __m256 first = _mm512_castps512_ps256(sums[r][c]);
            const __m256 second = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(sums[r][c]), 1));
            if (k < width) first = _mm256_fmadd_ps(_mm256_loadu_ps(x + r * width + k), _mm256_loadu_ps(w + c * width + k), first);
            of->y[(row + r) * of->stride + channel + c] = sum_of_floats(_mm256_add_ps(first, second));
        }
    }
}

/* The same with fewer registers: some channels of one row. */
INLINE void dots_of_256(const Dots *of, ptrdiff_t row, ptrdiff_t channel) {
    const ptrdiff_t width = of->width;
    const float *const x = of->x + row * width, *const w = of->w + channel * width;
    __m256 sums[DOT_CHANNELS][2];
    UNROLL for (int c = 0; c < DOT_CHANNELS; c++) sums[c][0] = sums[c][1] = _mm256_setzero_ps();
    ptrdiff_t k = 0;
    for (; k + 16 <= width; k += 16) {
        const __m256 inputs[2] = {_mm256_loadu_ps(x + k), _mm256_loadu_ps(x + k + 8)};
        UNROLL for (int c = 0; c < DOT_CHANNELS; c++)
            UNROLL for (int i = 0; i < 2; i++)
                sums[c][i] = _mm256_fmadd_ps(inputs[i], _mm256_loadu_ps(w + c * width + k + 8 * i), sums[c][i]);
    }
    UNROLL for (int c = 0; c < DOT_CHANNELS; c++) {
        if (k < width) sums[c][0] = _mm256_fmadd_ps(_mm256_loadu_ps(x + k), _mm256_loadu_ps(w + c * width + k), sums[c][0]);
        of->y[row * of->stride + channel + c] = sum_of_floats(_mm256_add_ps(sums[c][0], sums[c][1]));
    }
}

/* `DOT_CHANNELS` channels of all rows from `row` on, up to `end`. */
static IN_512 void dots_in_tile_512(const Dots *of, ptrdiff_t row, ptrdiff_t end, ptrdiff_t channel) {
    for (; row + DOT_ROWS <= end; row += DOT_ROWS) dots_of_512(DOT_ROWS, DOT_CHANNELS, of, row, channel);
    for (; row < end; row++) dots_of_512(1, DOT_CHANNELS, of, row, channel);
}

static void dots_in_tile(const Dots *of, ptrdiff_t row, ptrdiff_t end, ptrdiff_t channel, ptrdiff_t channels) {
    if (channels < DOT_CHANNELS) {
        for (; row < end; row++)
            for (ptrdiff_t c = channel; c < channel + channels; c++)
                of->y[row * of->stride + c] = dot(of->x + row * of->width, of->w + c * of->width, of->width);
    } else if (has_wide) {
        dots_in_tile_512(of, row, end, channel);
    } else {
        for (; row < end; row++) dots_of_256(of, row, channel);
    }
}

/* For all threads of a team: rows of float32 times a weight [channels][width] of float32, into y [rows][stride]. */
static void dots_in_team(const float *x, ptrdiff_t rows, ptrdiff_t width, const float *w, ptrdiff_t channels, ptrdiff_t stride,
                         float *y) {
    const Dots of = {x, w, width, stride, y};
    const ptrdiff_t tiles = (rows + DOT_TILE - 1) / DOT_TILE, groups = (channels + DOT_CHANNELS - 1) / DOT_CHANNELS;
#pragma omp for
    for (ptrdiff_t n = 0; n < tiles * groups; n++) {
        const ptrdiff_t row = n / groups * DOT_TILE, channel = n % groups * DOT_CHANNELS;
        const ptrdiff_t end = row + DOT_TILE < rows ? row + DOT_TILE : rows, left = channels - channel;
        dots_in_tile(&of, row, end, channel, left < DOT_CHANNELS ? left : DOT_CHANNELS);
    }
}

EXPORT int llama_gui_dots(const float *x, ptrdiff_t rows, ptrdiff_t width, const float *w, ptrdiff_t channels, float *y) {
#pragma omp parallel if (rows * width * channels > WORTH_SHARING)
    dots_in_team(x, rows, width, w, channels, channels, y);
    return 0;
}
