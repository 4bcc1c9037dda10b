/* Blocks whose numbers are points of a grid -> float32: `gguf_grids.py` says how, and has the same bits. Their layouts are ggml's;
 * `points` are those of the kind, four or eight numbers for each code. */

enum { GRID_NUMBERS = 256 };

typedef void DequantiseGrid(const uint8_t *block, const float *points, float *to);

INLINE uint32_t word_at(const uint8_t *at) { return (uint32_t)four_bytes(at); }

/* Eight signs for seven bits: the last one makes the number of signs even. */
INLINE int even_signs(uint32_t bits) { return (int)(bits & 127) | __builtin_parity(bits & 127) << 7; }

/* Four numbers at each of these places; of the signs, the first one's is the lowest bit. */
INLINE void put_points(const float *first, const float *second, int signs, float factor, float *to) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i are_set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(signs), bits), bits);
    const __m256 points = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(first)), _mm_loadu_ps(second), 1);
    const __m256 numbers = _mm256_xor_ps(points, _mm256_castsi256_ps(_mm256_slli_epi32(are_set, 31)));
    _mm256_storeu_ps(to, _mm256_mul_ps(numbers, _mm256_set1_ps(factor)));
}

INLINE void put_eight_points(const float *points, int signs, float factor, float *to) {
    put_points(points, points + 4, signs, factor, to);
}

/* Of the four bits of each 16 or 32 numbers. */
INLINE int nibble(const uint8_t *from, int which) { return from[which / 2] >> which % 2 * 4 & 15; }

static void iq2_xxs(const uint8_t *block, const float *points, float *to) {
    const float scale = half_at(block);
    for (int group = 0; group < 8; group++) {
        const uint8_t *codes = block + 2 + 8 * group;
        const uint32_t word = word_at(codes + 4);
        const float factor = scale * (0.5f + (float)(word >> 28)) * 0.25f;
        for (int i = 0; i < 4; i++)
            put_eight_points(points + 8 * codes[i], even_signs(word >> 7 * i), factor, to + group * 32 + i * 8);
    }
}

static void iq2_xs(const uint8_t *block, const float *points, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 32; i++) {
        const int word = block[2 + 2 * i] | block[3 + 2 * i] << 8;
        const float factor = scale * (0.5f + (float)nibble(block + 66, i / 2)) * 0.25f;
        put_eight_points(points + 8 * (word & 511), even_signs((uint32_t)word >> 9), factor, to + i * 8);
    }
}

static void iq2_s(const uint8_t *block, const float *points, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 32; i++) {
        const int code = block[2 + i] | (block[66 + i / 4] >> i % 4 * 2 & 3) << 8;
        const float factor = scale * (0.5f + (float)nibble(block + 74, i / 2)) * 0.25f;
        put_eight_points(points + 8 * code, block[34 + i], factor, to + i * 8);
    }
}

static void iq3_xxs(const uint8_t *block, const float *points, float *to) {
    const float scale = half_at(block);
    for (int group = 0; group < 8; group++) {
        const uint8_t *codes = block + 2 + 8 * group;
        const uint32_t word = word_at(block + 66 + 4 * group);
        const float factor = scale * (0.5f + (float)(word >> 28)) * 0.5f;
        for (int i = 0; i < 4; i++) {
            const float *first = points + 4 * codes[2 * i], *second = points + 4 * codes[2 * i + 1];
            put_points(first, second, even_signs(word >> 7 * i), factor, to + group * 32 + i * 8);
        }
    }
}

static void iq3_s(const uint8_t *block, const float *points, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 32; i++) {
        const int ninths = block[66 + i / 4] >> i % 4 * 2; /* the upper bits of two codes */
        const int first = block[2 + 2 * i] | (ninths & 1) << 8, second = block[3 + 2 * i] | (ninths >> 1 & 1) << 8;
        const float factor = scale * (float)(1 + 2 * nibble(block + 106, i / 4));
        put_points(points + 4 * first, points + 4 * second, block[74 + i], factor, to + i * 8);
    }
}

static const struct {
    DequantiseGrid *dequantise;
    int bytes;
} grids[] = {{iq2_xxs, 66}, {iq2_xs, 74}, {iq2_s, 82}, {iq3_xxs, 98}, {iq3_s, 110}};

EXPORT int llama_gui_dequantise_grid(const uint8_t *blocks, int kind, ptrdiff_t count, const float *points, float *to) {
#pragma omp parallel for if (count * GRID_NUMBERS > WORTH_SHARING)
    for (ptrdiff_t i = 0; i < count; i++)
        grids[kind].dequantise(blocks + i * grids[kind].bytes, points, to + i * GRID_NUMBERS);
    return 0;
}
