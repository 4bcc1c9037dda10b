/* Operations on single rows: norms, the gate of the feed-forward part, caps, and rounding to eight bits (also of a weight's rows). */

/* The coefficients of the polynomial for e^x around zero, highest power first. */
static const float exponential_terms[] = {
    1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f,
};
enum { EXPONENTIAL_TERMS = sizeof exponential_terms / sizeof *exponential_terms };

/* e^x (Cephes' expf: a polynomial around zero, times a power of two); 0 below -87, infinity above 88; NaN stays NaN. */
INLINE __m256 exponential(__m256 x) {
    const __m256 lowest = _mm256_set1_ps(-87.3f);
    const __m256 highest = _mm256_set1_ps(88.3f), endless = _mm256_set1_ps(__builtin_inff());
    const __m256 vanishes = _mm256_cmp_ps(x, lowest, _CMP_LT_OQ), exceeds = _mm256_cmp_ps(x, highest, _CMP_GT_OQ);
    x = _mm256_max_ps(lowest, _mm256_min_ps(highest, x)); /* the second operand where one is NaN */
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(exponential_terms[0]);
    UNROLL for (int i = 1; i < EXPONENTIAL_TERMS; i++) p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(exponential_terms[i]));
    p = _mm256_add_ps(_mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r), _mm256_set1_ps(1.0f));
    __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    x = _mm256_blendv_ps(_mm256_mul_ps(p, _mm256_castsi256_ps(power)), endless, exceeds);
    return _mm256_andnot_ps(vanishes, x);
}

/* cap * tanh(x / cap); NaN stays NaN. Of m = e^(-2 |x / cap|) - 1, which must not lose what small numbers differ from 1 by,
 * tanh is -m / (2 + m). */
INLINE __m256 softly_capped(__m256 x, float cap) {
    const __m256 signs = _mm256_set1_ps(-0.0f), two = _mm256_set1_ps(2.0f);
    const __m256 size = _mm256_max_ps(_mm256_set1_ps(-80.0f), _mm256_mul_ps(size_of(x), _mm256_set1_ps(-2.0f / cap)));
    const __m256 n = _mm256_round_ps(_mm256_mul_ps(size, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), size);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(exponential_terms[0]);
    UNROLL for (int i = 1; i < EXPONENTIAL_TERMS; i++) p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(exponential_terms[i]));
    p = _mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r); /* e^r - 1 */
    const __m256 power =
        _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
    const __m256 m = _mm256_fmadd_ps(power, p, _mm256_sub_ps(power, _mm256_set1_ps(1.0f)));
    const __m256 found = _mm256_div_ps(_mm256_mul_ps(m, _mm256_set1_ps(-cap)), _mm256_add_ps(two, m));
    return _mm256_or_ps(found, _mm256_and_ps(signs, x));
}

INLINE float power(float x) { return _mm256_cvtss_f32(exponential(_mm256_set1_ps(x))); }

static float sigmoid(float x) {
    const float falls = power(x < 0 ? x : -x);
    return (x < 0 ? falls : 1.0f) / (1.0f + falls);
}

INLINE __m256 silu(__m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f);
    return _mm256_div_ps(x, _mm256_add_ps(one, exponential(_mm256_sub_ps(_mm256_setzero_ps(), x))));
}

/* GELU as the hyperbolic tangent approximates it: x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3). */
INLINE __m256 gelu(__m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f), slope = _mm256_set1_ps(-1.5957691216057308f);
    const __m256 slopes = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(-0.07135481282f), slope);
    return _mm256_div_ps(x, _mm256_add_ps(one, exponential(_mm256_mul_ps(x, slopes))));
}

/* x / sqrt(mean(x^2) + eps) * weight. `width` is a multiple of eight; `to` may be `x`. */
INLINE void norm_row(const float *x, const float *weight, ptrdiff_t width, double eps, float *to) {
    __m256 squares = _mm256_setzero_ps();
    for (ptrdiff_t k = 0; k < width; k += 8) {
        __m256 value = _mm256_loadu_ps(x + k);
        squares = _mm256_fmadd_ps(value, value, squares);
    }
    const float mean = sum_of_floats(squares) / (float)width + (float)eps;
    const __m256 factor = _mm256_set1_ps(_mm_cvtss_f32(_mm_div_ss(_mm_set_ss(1.0f), _mm_sqrt_ss(_mm_set_ss(mean)))));
    for (ptrdiff_t k = 0; k < width; k += 8) {
        __m256 value = _mm256_mul_ps(_mm256_loadu_ps(x + k), factor);
        _mm256_storeu_ps(to + k, _mm256_mul_ps(value, _mm256_loadu_ps(weight + k)));
    }
}

/* Rows of float32, [rows][width], a multiple of eight numbers wide. */
EXPORT int llama_gui_norm(const float *x, ptrdiff_t rows, ptrdiff_t width, const float *weight, double eps, float *y) {
    for (ptrdiff_t r = 0; r < rows; r++) norm_row(x + r * width, weight, width, eps, y + r * width);
    return 0;
}

/* The largest absolute value of `count` numbers, a multiple of eight; NaN if any is NaN. */
INLINE float largest_size(const float *x, ptrdiff_t count) {
    __m256 largest = _mm256_setzero_ps(), unordered = _mm256_setzero_ps();
    for (ptrdiff_t k = 0; k < count; k += 8) {
        __m256 value = _mm256_loadu_ps(x + k);
        largest = _mm256_max_ps(largest, size_of(value));
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(unordered) ? __builtin_nanf("") : largest_of(largest);
}

/* The scale of a row is its largest number / 127; NaN where that is none or infinite. `width` is a multiple of eight.
 * One fused multiply-add, rounded once: LEAST decides a tie, as it does in torch's `add` with `alpha`. */
INLINE float quantise_row(const float *x, ptrdiff_t width, int8_t *levels) {
    const __m128 largest = _mm_set_ss(largest_size(x, width));
    float scale = _mm_cvtss_f32(_mm_fmadd_ss(largest, _mm_set_ss(1.0f / 127), _mm_set_ss(LEAST)));
    if (!(scale <= 3.402823466e38f)) scale = __builtin_nanf("");
    const __m256 divisor = _mm256_set1_ps(scale);
    for (ptrdiff_t k = 0; k < width; k += 8) {
        __m256i whole = _mm256_cvtps_epi32(_mm256_div_ps(_mm256_loadu_ps(x + k), divisor)); /* halves to even */
        __m128i bytes = _mm_max_epi8(in_bytes(whole), _mm_set1_epi8(-127)); /* what is no number, too */
        _mm_storel_epi64((__m128i *)(levels + k), bytes);
    }
    return scale;
}

EXPORT int llama_gui_quantise(const char *x, int kind, ptrdiff_t rows, ptrdiff_t width, int8_t *levels, float *scales) {
    const ptrdiff_t whole = up_to(width, 8);
    const int is_ready = kind == FLOAT32 && whole == width;
    int failed = 0;
#pragma omp parallel if (rows * width > WORTH_SHARING)
    {
        float *wide = is_ready ? NULL : aligned(whole * (sizeof *wide + 1));
        if (!is_ready && wide == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for
        for (ptrdiff_t r = 0; r < rows; r++) {
            const char *row = x + r * width * bytes_of((Kind)kind);
            if (is_ready) {
                scales[r] = quantise_row((const float *)row, width, levels + r * width);
            } else if (wide) {
                int8_t *found = (int8_t *)(wide + whole);
                widen(row, (Kind)kind, width, wide);
                scales[r] = quantise_row(wide, whole, found);
                memcpy(levels + r * width, found, width);
            }
        }
        release(wide);
    }
    return failed;
}
