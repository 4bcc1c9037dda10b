/* Blocks of GGUF files -> float32: `gguf_blocks.py` says how, and has the same bits. Their layouts are ggml's. */

typedef void Dequantise(const uint8_t *block, float *to);

INLINE float half_at(const uint8_t *at) {
    uint16_t bits;
    memcpy(&bits, at, 2);
    return _cvtsh_ss(bits);
}

FAST static void q8_0(const uint8_t *block, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 32; i++) to[i] = (float)(int8_t)block[2 + i] * scale;
}

FAST static void q4_0(const uint8_t *block, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 16; i++) {
        to[i] = (float)((block[2 + i] & 15) - 8) * scale;
        to[16 + i] = (float)((block[2 + i] >> 4) - 8) * scale;
    }
}

FAST static void q4_1(const uint8_t *block, float *to) {
    const float scale = half_at(block), offset = half_at(block + 2);
    for (int i = 0; i < 16; i++) {
        to[i] = (float)(block[4 + i] & 15) * scale + offset;
        to[16 + i] = (float)(block[4 + i] >> 4) * scale + offset;
    }
}

/* Of one of the eight groups of a block of Q4_K or Q5_K: six bits each, packed in 12 bytes. */
INLINE void six_bits(const uint8_t *block, int group, int *scale, int *offset) {
    const uint8_t *low = block + 4, *high = block + 8, *both = block + 12;
    const int i = group & 3;
    *scale = group < 4 ? low[i] & 63 : (both[i] & 15) | (low[i] >> 2 & 48);
    *offset = group < 4 ? high[i] & 63 : both[i] >> 4 | (high[i] >> 2 & 48);
}

INLINE void scale_and_offset(const uint8_t *block, int group, float *scale, float *offset) {
    int its_scale, its_offset;
    six_bits(block, group, &its_scale, &its_offset);
    *scale = half_at(block) * (float)its_scale;
    *offset = half_at(block + 2) * (float)its_offset;
}

/* Two groups share 32 bytes; `fifths` are the bits above, a byte for the same place of all groups, or NULL. */
INLINE void k_block(const uint8_t *block, const uint8_t *fifths, const uint8_t *fours, float *to) {
    for (int group = 0; group < 8; group++) {
        float scale, offset;
        scale_and_offset(block, group, &scale, &offset);
        for (int i = 0; i < 32; i++) {
            int level = fours[group / 2 * 32 + i] >> (group & 1) * 4 & 15;
            if (fifths) level |= (fifths[i] >> group & 1) << 4;
            to[group * 32 + i] = (float)level * scale - offset;
        }
    }
}

FAST static void q4_k(const uint8_t *block, float *to) { k_block(block, NULL, block + 16, to); }

FAST static void q5_k(const uint8_t *block, float *to) { k_block(block, block + 16, block + 48, to); }

FAST static void q6_k(const uint8_t *block, float *to) {
    const float scale = half_at(block + 208);
    for (int group = 0; group < 16; group++) { /* four of each 32 bytes of `high`, for each half of them */
        const uint8_t *low = block + group / 8 * 64 + group % 4 * 16, *high = block + 128 + group / 8 * 32 + group % 2 * 16;
        const float its_scale = (float)(int8_t)block[192 + group] * scale;
        const int low_shift = group / 4 % 2 * 4, high_shift = group / 2 % 4 * 2;
        for (int i = 0; i < 16; i++) {
            const int level = (low[i] >> low_shift & 15) | (high[i] >> high_shift & 3) << 4;
            to[group * 16 + i] = (float)(level - 32) * its_scale;
        }
    }
}

static const struct {
    Dequantise *dequantise;
    int bytes, numbers;
} formats[] = {{q8_0, 34, 32}, {q4_0, 18, 32}, {q4_1, 20, 32}, {q4_k, 144, 256}, {q5_k, 176, 256}, {q6_k, 210, 256}};

EXPORT FAST int llama_gui_dequantise(const uint8_t *blocks, int format, ptrdiff_t count, float *to) {
    const int bytes = formats[format].bytes, numbers = formats[format].numbers;
#pragma omp parallel for if (count * numbers > WORTH_SHARING)
    for (ptrdiff_t i = 0; i < count; i++) formats[format].dequantise(blocks + i * bytes, to + i * numbers);
    return 0;
}

/* --- Q4_K, laid out for `q4_k_channels` */

enum { Q4_K_BYTES = 144 };

/* A block of one of TOGETHER channels, the first of whose inputs is `k`. */
INLINE void place_q4_k(const uint8_t *block, ptrdiff_t k, int channel, uint8_t *levels, uint8_t *steps, int8_t *lows,
                       uint16_t *factors) {
    memcpy(factors + channel, block, 2);
    memcpy(factors + TOGETHER + channel, block + 2, 2);
    for (int group = 0; group < K_BLOCK / GROUP; group++) {
        const ptrdiff_t at = (k + group / 2 * PAIR) / 4 + 2 * channel + group % 2;
        int step, low;
        six_bits(block, group, &step, &low);
        steps[at] = (uint8_t)step, lows[at] = (int8_t)low;
    }
    for (int j = 0; j < K_BLOCK / 2; j += 4) memcpy(levels + k * 4 + j * TOGETHER + channel * 4, block + 16 + j, 4);
}

/* Channels of a weight, the first of them a multiple of TOGETHER; what is left of their last block is filled with zeros. */
EXPORT FAST int llama_gui_q4_k_place(const uint8_t *blocks, ptrdiff_t channels, ptrdiff_t width, uint8_t *levels,
                                     uint8_t *steps, int8_t *lows, uint16_t *factors) {
    const ptrdiff_t row = width / K_BLOCK * Q4_K_BYTES;
#pragma omp parallel for if (channels * width > WORTH_SHARING)
    for (ptrdiff_t first = 0; first < channels; first += TOGETHER) {
        uint8_t *its_levels = levels + first * (width / 2), *its_steps = steps + first * (width / GROUP);
        int8_t *its_lows = lows + first * (width / GROUP);
        uint16_t *its_factors = factors + first * (width / K_BLOCK) * 2;
        if (channels - first < TOGETHER) {
            memset(its_levels, 0, TOGETHER * width / 2);
            memset(its_steps, 0, TOGETHER * width / GROUP);
            memset(its_lows, 0, TOGETHER * width / GROUP);
            memset(its_factors, 0, TOGETHER * (width / K_BLOCK) * 2 * sizeof *its_factors);
        }
        for (ptrdiff_t k = 0; k < width; k += K_BLOCK)
            for (int i = 0; i < TOGETHER && first + i < channels; i++)
                place_q4_k(blocks + (first + i) * row + k / K_BLOCK * Q4_K_BYTES, k, i, its_levels, its_steps, its_lows,
                           its_factors + k / K_BLOCK * 2 * TOGETHER);
    }
    return 0;
}
