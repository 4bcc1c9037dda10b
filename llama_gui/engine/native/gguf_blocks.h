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
INLINE void scale_and_offset(const uint8_t *block, int group, float *scale, float *offset) {
    const uint8_t *low = block + 4, *high = block + 8, *both = block + 12;
    const int i = group & 3;
    const int its_scale = group < 4 ? low[i] & 63 : (both[i] & 15) | (low[i] >> 2 & 48);
    const int its_offset = group < 4 ? high[i] & 63 : both[i] >> 4 | (high[i] >> 2 & 48);
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
