/* How likely tokens are: the logarithm of the sum of e^x over a vocabulary. */

enum { MASS_PIECES = 64 }; /* a fixed number, so that the result does not depend on the threads */

/* The numbers from `k` on, at most eight; -infinity, which counts as nothing, behind the last. */
INLINE __m256 eight_logits(const float *x, ptrdiff_t k, ptrdiff_t end) {
    if (k + 8 <= end) return _mm256_loadu_ps(x + k);
    float last[8];
    for (int i = 0; i < 8; i++) last[i] = k + i < end ? x[k + i] : -__builtin_inff();
    return _mm256_loadu_ps(last);
}

INLINE float largest_logit(const float *x, ptrdiff_t from, ptrdiff_t to) {
    __m256 largest = _mm256_set1_ps(-__builtin_inff()), unordered = _mm256_setzero_ps();
    for (ptrdiff_t k = from; k < to; k += 8) {
        __m256 value = eight_logits(x, k, to);
        largest = _mm256_max_ps(largest, value);
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(unordered) ? __builtin_nanf("") : largest_of(largest);
}

INLINE float mass_of(const float *x, ptrdiff_t from, ptrdiff_t to, float largest) {
    const __m256 shift = _mm256_set1_ps(largest);
    __m256 sum = _mm256_setzero_ps();
    for (ptrdiff_t k = from; k < to; k += 8)
        sum = _mm256_add_ps(sum, exponential(_mm256_sub_ps(eight_logits(x, k, to), shift)));
    return sum_of_floats(sum);
}

INLINE float largest_piece(const float *largest) {
    float most = largest[0];
    for (int i = 1; i < MASS_PIECES; i++)
        if (most == most && !(largest[i] <= most)) most = largest[i]; /* a NaN stays */
    return most;
}

/* The largest of `count` numbers, and the sum of e^(x - largest): NaN if any is NaN, or the largest is infinite. */
EXPORT int llama_gui_mass(const float *x, ptrdiff_t count, double found[2]) {
    const ptrdiff_t size = up_to((count + MASS_PIECES - 1) / MASS_PIECES, 8);
    float largest[MASS_PIECES], sums[MASS_PIECES];
#pragma omp parallel if (count > WORTH_SHARING)
    {
#pragma omp for
        for (ptrdiff_t i = 0; i < MASS_PIECES; i++)
            largest[i] = largest_logit(x, i * size, (i + 1) * size < count ? (i + 1) * size : count);
        const float most = largest_piece(largest);
#pragma omp for
        for (ptrdiff_t i = 0; i < MASS_PIECES; i++)
            sums[i] = mass_of(x, i * size, (i + 1) * size < count ? (i + 1) * size : count, most);
    }
    found[0] = largest_piece(largest), found[1] = 0;
    for (ptrdiff_t i = 0; i < MASS_PIECES; i++) found[1] += sums[i];
    return 0;
}
