/* Weights rounded to four bits and to seven: `int4_levels.py` and `seven_bits.py` say how, and have the same results. */

enum { MOST = (1 << 24) / 127 };  /* limit for the sum of the integers of a part of a channel */
enum { LONGEST = 4096 };          /* inputs of a part */

INLINE double sum_of_doubles(__m256d v) {
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/* The scale of a channel with which no number needs more than 8 bits, and no product with a row more than 24. */
INLINE float first_scale(const float *w, ptrdiff_t width) {
    const ptrdiff_t groups = width / GROUP, parts = (width + LONGEST - 1) / LONGEST;
    __m256 largest = _mm256_setzero_ps();
    double heaviest = 0;
    for (ptrdiff_t part = 0; part < parts; part++) {
        __m256d even = _mm256_setzero_pd(), odd = _mm256_setzero_pd();
        for (ptrdiff_t k = part * groups / parts * GROUP; k < (part + 1) * groups / parts * GROUP; k += 8) {
            __m256 size = size_of(_mm256_load_ps(w + k));
            largest = _mm256_max_ps(largest, size);
            even = _mm256_add_pd(even, _mm256_cvtps_pd(_mm256_castps256_ps128(size)));
            odd = _mm256_add_pd(odd, _mm256_cvtps_pd(_mm256_extractf128_ps(size, 1)));
        }
        const double sum = sum_of_doubles(_mm256_add_pd(even, odd));
        if (sum > heaviest) heaviest = sum;
    }
    float scale = largest_of(largest) / 127, of_sum = (float)(heaviest / MOST);
    if (of_sum > scale) scale = of_sum;
    return scale > LEAST ? scale : LEAST;
}

/* One group with a given scale: its step and low, the levels, and the sum of the sizes of the whole numbers. */
INLINE int32_t round_group(const float *w, float scale, uint8_t *levels, uint8_t *step, int8_t *low) {
    const __m256 divisor = _mm256_set1_ps(scale), top = _mm256_set1_ps(15);
    __m256 v[4], least, most;
    UNROLL for (int i = 0; i < 4; i++) v[i] = _mm256_div_ps(_mm256_load_ps(w + i * 8), divisor);
    least = _mm256_min_ps(_mm256_min_ps(v[0], v[1]), _mm256_min_ps(v[2], v[3]));
    most = _mm256_max_ps(_mm256_max_ps(v[0], v[1]), _mm256_max_ps(v[2], v[3]));
    const float from = -largest_of(_mm256_sub_ps(_mm256_setzero_ps(), least)), to = largest_of(most);
    float width = __builtin_ceilf((to - from) / 15 - 0.5f);
    width = width < 1 ? 1 : width > 17 ? 17 : width;
    float start = __builtin_rintf((from + to) / 2 - 7.5f * width);
    start = start < -128 ? -128 : start;
    start = start > 127 - 15 * width ? 127 - 15 * width : start;
    *step = (uint8_t)width, *low = (int8_t)start;
    const __m256 steps = _mm256_set1_ps(width), lows = _mm256_set1_ps(start);
    __m256 sizes = _mm256_setzero_ps();
    UNROLL for (int i = 0; i < 4; i++) {
        __m256 level = _mm256_round_ps(_mm256_div_ps(_mm256_sub_ps(v[i], lows), steps),
                                       _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        level = _mm256_max_ps(_mm256_setzero_ps(), _mm256_min_ps(top, level));
        sizes = _mm256_add_ps(sizes, size_of(_mm256_add_ps(_mm256_mul_ps(level, steps), lows))); /* whole, exact */
        _mm_storel_epi64((__m128i *)(levels + i * 8), in_bytes(_mm256_cvtps_epi32(level)));
    }
    return (int32_t)sum_of_floats(sizes);
}

/* Rounds one of the channels at `to`; `levels` has room for a channel. */
INLINE float round_channel(const float *w, ptrdiff_t width, int channel, uint8_t *levels, uint8_t *to, uint8_t *steps,
                           int8_t *lows) {
    const ptrdiff_t groups = width / GROUP, parts = (width + LONGEST - 1) / LONGEST;
    float scale = first_scale(w, width);
    for (int is_sound = 0; !is_sound;) {
        is_sound = 1;
        for (ptrdiff_t part = 0; part < parts && is_sound; part++) {
            int32_t sum = 0;
            for (ptrdiff_t g = part * groups / parts; g < (part + 1) * groups / parts; g++) {
                const ptrdiff_t at = g / 2 * 2 * TOGETHER + 2 * channel + g % 2;
                sum += round_group(w + g * GROUP, scale, levels + g * GROUP, steps + at, lows + at);
            }
            is_sound = sum <= MOST;
        }
        if (!is_sound) scale *= 1.125f;
    }
    for (ptrdiff_t k = 0; k < width; k += PAIR) {
        __m256i first = _mm256_loadu_si256((const __m256i *)(levels + k));
        __m256i second = _mm256_loadu_si256((const __m256i *)(levels + k + GROUP));
        uint8_t both[GROUP];
        _mm256_storeu_si256((__m256i *)both, _mm256_or_si256(first, _mm256_slli_epi16(second, 4)));
        for (int j = 0; j < GROUP; j += 4) memcpy(to + k * 4 + j * TOGETHER + channel * 4, both + j, 4);
    }
    return scale;
}

/* Channels of a weight, the first of them a multiple of TOGETHER; what is left of their last block is filled with zeros. */
EXPORT int llama_gui_int4_round(const char *w, int kind, ptrdiff_t channels, ptrdiff_t width, uint8_t *levels,
                                     uint8_t *steps, int8_t *lows, float *scales) {
    int failed = 0;
#pragma omp parallel if (channels * width > WORTH_SHARING)
    {
        float *wide = aligned(width * (sizeof *wide + 1));
        if (wide == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for
        for (ptrdiff_t block = 0; block < channels; block += TOGETHER) {
            uint8_t *to = levels + block * (width / 2), *its_steps = steps + block * (width / GROUP);
            int8_t *its_lows = lows + block * (width / GROUP);
            if (wide == NULL) continue;
            if (channels - block < TOGETHER) {
                memset(to, 0, TOGETHER * width / 2);
                memset(its_steps, 0, TOGETHER * width / GROUP);
                memset(its_lows, 0, TOGETHER * width / GROUP);
            }
            for (int i = 0; i < TOGETHER && block + i < channels; i++) {
                widen(w + (block + i) * width * bytes_of((Kind)kind), (Kind)kind, width, wide);
                scales[block + i] = round_channel(wide, width, i, (uint8_t *)(wide + width), to, its_steps, its_lows);
            }
        }
        release(wide);
    }
    return failed;
}

/* --- Q7_K */

enum { Q7_TOP = 63, Q7_STEPS = 255 }; /* the largest number that a level stands for, and the largest step */

/* A block from input `k` on of one of the channels at `to`. */
INLINE void round_q7_k(const float *w, ptrdiff_t k, ptrdiff_t width, int channel, Blocks to) {
    const ptrdiff_t count = inputs_of(k, width);
    float factor = largest_size(w, count) / (Q7_TOP * Q7_STEPS);
    if (!(factor <= 3.402823466e38f)) factor = __builtin_nanf("");
    factor = factor < LEAST ? LEAST : factor;
    memcpy(to.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 4, &factor, 4);
    for (int group = 0; group < count / GROUP; group++, w += GROUP, k += GROUP) {
        float step = __builtin_ceilf(largest_size(w, GROUP) / (factor * Q7_TOP));
        step = step < 1 ? 1 : step <= Q7_STEPS ? step : Q7_STEPS; /* what is no number, too */
        to.parts[2][k / PAIR * 2 * TOGETHER + 2 * channel + group % 2] = (uint8_t)step;
        const __m256 divisor = _mm256_set1_ps(step * factor), top = _mm256_set1_ps(Q7_TOP);
        for (int j = 0; j < GROUP; j += 8) {
            __m256 level = _mm256_round_ps(_mm256_div_ps(_mm256_load_ps(w + j), divisor),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
            level = _mm256_max_ps(_mm256_sub_ps(_mm256_setzero_ps(), top), _mm256_min_ps(top, level));
            uint8_t bytes[16];
            _mm_storeu_si128((__m128i *)bytes, _mm_add_epi8(in_bytes(_mm256_cvtps_epi32(level)), _mm_set1_epi8(Q7_ZERO)));
            uint8_t *at = to.parts[0] + (k + j) * TOGETHER + channel * 4;
            memcpy(at, bytes, 4);
            memcpy(at + 4 * TOGETHER, bytes + 4, 4);
        }
    }
}

/* As `llama_gui_int4_round`. */
EXPORT int llama_gui_round_blocks(const char *w, int kind, ptrdiff_t channels, ptrdiff_t width, uint8_t *first,
                                  uint8_t *second, uint8_t *third, uint8_t *fourth) {
    const Blocks all = {{first, second, third, fourth}, 0};
    int failed = 0;
#pragma omp parallel if (channels * width > WORTH_SHARING)
    {
        float *wide = aligned(width * sizeof *wide);
        if (wide == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for
        for (ptrdiff_t block = 0; block < channels; block += TOGETHER) {
            const Blocks to = blocks_from(all, Q7_K, block, width);
            if (wide == NULL) continue;
            if (channels - block < TOGETHER) clear_blocks(to, Q7_K, width);
            for (int i = 0; i < TOGETHER && block + i < channels; i++) {
                widen(w + (block + i) * width * bytes_of((Kind)kind), (Kind)kind, width, wide);
                for (ptrdiff_t k = 0; k < width; k += K_BLOCK) round_q7_k(wide + k, k, width, i, to);
            }
        }
        release(wide);
    }
    return failed;
}
