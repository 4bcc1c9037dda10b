/* Blocks of GGUF files -> float32: `gguf_blocks.py` says how, and has the same bits. Their layouts are ggml's. */

typedef void Dequantise(const uint8_t *block, float *to);

INLINE float half_at(const uint8_t *at) {
    uint16_t bits;
    memcpy(&bits, at, 2);
    return _cvtsh_ss(bits);
}

static void q8_0(const uint8_t *block, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 32; i++) to[i] = (float)(int8_t)block[2 + i] * scale;
}

static void q4_0(const uint8_t *block, float *to) {
    const float scale = half_at(block);
    for (int i = 0; i < 16; i++) {
        to[i] = (float)((block[2 + i] & 15) - 8) * scale;
        to[16 + i] = (float)((block[2 + i] >> 4) - 8) * scale;
    }
}

static void q4_1(const uint8_t *block, float *to) {
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

static void q4_k(const uint8_t *block, float *to) { k_block(block, NULL, block + 16, to); }

static void q5_k(const uint8_t *block, float *to) { k_block(block, block + 16, block + 48, to); }

static void q6_k(const uint8_t *block, float *to) {
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

/* Groups of 16: of each 32 bytes the lowest two bits are two groups, the next ones two more. */
INLINE int two_bits(const uint8_t *low, int group, int i) {
    return low[group / 8 * 32 + group % 2 * 16 + i] >> group % 8 / 2 * 2 & 3;
}

static void q2_k(const uint8_t *block, float *to) {
    const float scale = half_at(block + 80), offset = half_at(block + 82);
    for (int group = 0; group < 16; group++) {
        const float its_scale = scale * (float)(block[group] & 15), its_offset = offset * (float)(block[group] >> 4);
        for (int i = 0; i < 16; i++) to[group * 16 + i] = (float)two_bits(block + 16, group, i) * its_scale - its_offset;
    }
}

/* Of one of the sixteen groups of a block of Q3_K: six bits each, packed in 12 bytes. */
INLINE int q3_k_step(const uint8_t *block, int group) {
    const uint8_t *low = block + 96, *high = block + 104;
    return ((low[group % 8] >> group / 8 * 4 & 15) | (high[group % 4] >> group / 4 * 2 & 3) << 4) - 32;
}

/* From 0 to 7; 4 stands for zero. */
INLINE int q3_k_level(const uint8_t *block, int group, int i) {
    return two_bits(block + 32, group, i) | (block[group % 2 * 16 + i] >> group / 2 & 1) << 2;
}

static void q3_k(const uint8_t *block, float *to) {
    const float scale = half_at(block + 108);
    for (int group = 0; group < 16; group++) {
        const float its_scale = scale * (float)q3_k_step(block, group);
        for (int i = 0; i < 16; i++) to[group * 16 + i] = (float)(q3_k_level(block, group, i) - 4) * its_scale;
    }
}

/* 16 bytes, whose upper bits are the second half of a group. */
INLINE void code_group(BlockKind kind, const uint8_t *codes, float scale, float *to) {
    for (int i = 0; i < 16; i++) {
        to[i] = (float)(levels_of_codes(kind)[codes[i] & 15] - zero_of_codes(kind)) * scale;
        to[16 + i] = (float)(levels_of_codes(kind)[codes[i] >> 4] - zero_of_codes(kind)) * scale;
    }
}

static void iq4_nl(const uint8_t *block, float *to) { code_group(IQ4_NL, block + 2, half_at(block), to); }

/* See `powers_at`. */
INLINE float power_of(uint8_t exponent) {
    const uint32_t bits = exponent < 2 ? (uint32_t)1 << (21 + exponent) : (uint32_t)(exponent - 1) << 23;
    float power;
    memcpy(&power, &bits, 4);
    return power;
}

static void mxfp4(const uint8_t *block, float *to) { code_group(MXFP4, block + 1, power_of(block[0]), to); }

/* Of one of the eight groups of a block of IQ4_XS: six bits each, packed in 6 bytes. */
INLINE int iq4_xs_step(const uint8_t *block, int group) {
    return ((block[4 + group / 2] >> group % 2 * 4 & 15) | (block[2 + group / 4] >> group % 4 * 2 & 3) << 4) - 32;
}

static void iq4_xs(const uint8_t *block, float *to) {
    const float scale = half_at(block);
    for (int group = 0; group < 8; group++)
        code_group(IQ4_XS, block + 8 + group * 16, scale * (float)iq4_xs_step(block, group), to + group * 32);
}

static const struct {
    Dequantise *dequantise;
    int bytes, numbers;
} formats[] = {{q8_0, 34, 32}, {q4_0, 18, 32}, {q4_1, 20, 32}, {q4_k, 144, 256}, {q5_k, 176, 256}, {q6_k, 210, 256},
             {q2_k, 84, 256}, {q3_k, 110, 256}, {iq4_nl, 18, 32}, {iq4_xs, 136, 256}, {mxfp4, 17, 32}};

EXPORT int llama_gui_dequantise(const uint8_t *blocks, int format, ptrdiff_t count, float *to) {
    const int bytes = formats[format].bytes, numbers = formats[format].numbers;
#pragma omp parallel for if (count * numbers > WORTH_SHARING)
    for (ptrdiff_t i = 0; i < count; i++) formats[format].dequantise(blocks + i * bytes, to + i * numbers);
    return 0;
}

/* --- laid out to be multiplied; see `block_products.h` */

static const int bytes_of_block[Q7_K] = {144, 176, 210, 8 * 18, 110, 8 * 18, 136, 84, 8 * 17};

/* A block of one of TOGETHER channels, the first of whose inputs is `k`. */
INLINE void place_stepped(BlockKind kind, const uint8_t *block, ptrdiff_t k, int channel, Blocks to) {
    const uint8_t *fifths = block + 16, *fours = kind == Q5_K ? block + 48 : block + 16;
    uint8_t *levels = to.parts[0] + k * 4 + channel * 4, *factors = to.parts[3] + k / K_BLOCK * 4 * TOGETHER + 2 * channel;
    memcpy(factors, block, 2);
    memcpy(factors + 2 * TOGETHER, block + 2, 2);
    for (int group = 0; group < K_BLOCK / GROUP; group++) {
        uint8_t *steps = to.parts[2] + (k + group / 2 * PAIR) / 2 + 2 * channel + group % 2;
        int step, low;
        six_bits(block, group, &step, &low);
        steps[0] = (uint8_t)step, steps[16] = (uint8_t)low;
    }
    for (int j = 0; j < K_BLOCK / 2; j += 4) memcpy(levels + j * TOGETHER, fours + j, 4);
    if (kind == Q4_K) return;
    for (int pair = 0; pair < 4; pair++) { /* a byte of the block has the upper bits of all its groups */
        uint8_t *highs = to.parts[1] + k + pair * PAIR + channel * 4;
        for (int i = 0; i < 8; i++) {
            const uint8_t *four = fifths + i / 4 * SMALL_GROUP + i % 4;
            int bits = 0;
            for (int j = 0; j < 4; j++) bits |= (four[4 * j] >> 2 * pair & 3) << 2 * j;
            highs[i / 4 * 32 + i % 4] = (uint8_t)bits;
        }
    }
}

/* Half a block has 64 bytes of lower bits and 32 of upper ones: those of its first 64 inputs, a pair of groups, are the
 * lower bits of each byte. */
INLINE void place_q6_k(const uint8_t *block, ptrdiff_t k, int channel, Blocks to) {
    memcpy(to.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 2, block + 208, 2);
    for (int pair = 0; pair < 4; pair++) {
        const uint8_t *low = block + pair / 2 * 64, *high = block + 128 + pair / 2 * 32;
        const ptrdiff_t from = k + pair * PAIR;
        const int shift = pair % 2 * 4;
        uint8_t levels[GROUP], highs[GROUP / 2];
        for (int i = 0; i < GROUP; i++)
            levels[i] = (uint8_t)((low[i] >> shift & 15) | (low[GROUP + i] >> shift & 15) << 4);
        for (int i = 0; i < GROUP / 2; i++) {
            const int first = i / 4 * 8 + i % 4;
            highs[i] = (uint8_t)((high[first] >> shift & 15) | (high[first + 4] >> shift & 15) << 4);
        }
        for (int j = 0; j < GROUP; j += 4) memcpy(to.parts[0] + from * 4 + j * TOGETHER + channel * 4, levels + j, 4);
        for (int j = 0; j < GROUP / 2; j += 4) memcpy(to.parts[1] + from * 2 + j * TOGETHER + channel * 4, highs + j, 4);
        memcpy(to.parts[2] + from / 2 + channel * 4, block + 192 + pair * 4, 4);
    }
}

/* The lower two bits of a pair of groups, 32 levels of the first and 32 of the second. */
INLINE void place_twos(const uint8_t *levels, uint8_t *to) {
    for (int j = 0; j < GROUP; j += 8)
        for (int i = 0; i < 4; i++) {
            const uint8_t *first = levels + j + i, *second = first + GROUP;
            to[j / 8 * 32 + i] =
                (uint8_t)((first[0] & 3) | (second[0] & 3) << 2 | (first[4] & 3) << 4 | (second[4] & 3) << 6);
        }
}

INLINE void place_q3_k(const uint8_t *block, ptrdiff_t k, int channel, Blocks to) {
    memcpy(to.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 2, block + 108, 2);
    for (int pair = 0; pair < 4; pair++) {
        const ptrdiff_t from = k + pair * PAIR;
        uint8_t levels[PAIR];
        for (int i = 0; i < PAIR; i++)
            levels[i] = (uint8_t)q3_k_level(block, pair * 4 + i / SMALL_GROUP, i % SMALL_GROUP);
        place_twos(levels, to.parts[0] + from * 2 + channel * 4);
        for (int i = 0; i < 8; i++) {
            const uint8_t *first = levels + i / 4 * SMALL_GROUP + i % 4, *second = first + GROUP;
            int bits = 0;
            for (int j = 0; j < 4; j++) bits |= first[4 * j] >> 2 << 2 * j | second[4 * j] >> 2 << (2 * j + 1);
            to.parts[1][from + i / 4 * 32 + channel * 4 + i % 4] = (uint8_t)bits;
        }
        for (int i = 0; i < 4; i++)
            to.parts[2][from / 2 + channel * 4 + i] = (uint8_t)q3_k_step(block, pair * 4 + i);
    }
}

INLINE void place_q2_k(const uint8_t *block, ptrdiff_t k, int channel, Blocks to) {
    uint8_t *factors = to.parts[3] + k / K_BLOCK * 4 * TOGETHER + 2 * channel;
    memcpy(factors, block + 80, 2);
    memcpy(factors + 2 * TOGETHER, block + 82, 2);
    for (int pair = 0; pair < 4; pair++) {
        const ptrdiff_t from = k + pair * PAIR;
        uint8_t levels[PAIR];
        for (int i = 0; i < PAIR; i++)
            levels[i] = (uint8_t)two_bits(block + 16, pair * 4 + i / SMALL_GROUP, i % SMALL_GROUP);
        place_twos(levels, to.parts[0] + from * 2 + channel * 4);
        memcpy(to.parts[2] + from / 2 + channel * 4, block + pair * 4, 4);
    }
}

/* Two groups of 16 bytes each, whose upper bits are those of the group's second half. */
INLINE void place_halves(const uint8_t *first, const uint8_t *second, ptrdiff_t k, int channel, Blocks to) {
    uint8_t levels[GROUP];
    for (int i = 0; i < GROUP / 2; i++) {
        levels[i] = (uint8_t)((first[i] & 15) | (second[i] & 15) << 4);
        levels[GROUP / 2 + i] = (uint8_t)(first[i] >> 4 | (second[i] & 240));
    }
    for (int j = 0; j < GROUP; j += 4) memcpy(to.parts[0] + k * 4 + channel * 4 + j * TOGETHER, levels + j, 4);
}

/* Of Q4_0 or IQ4_NL, eight blocks of the file, each of them a group and a factor. */
INLINE void place_groups(const uint8_t *blocks, ptrdiff_t k, int channel, Blocks to) {
    for (int group = 0; group < K_BLOCK / GROUP; group += 2) {
        const uint8_t *first = blocks + group * 18, *second = first + 18;
        uint8_t *factors = to.parts[3] + ((k / GROUP + group) * TOGETHER + channel) * 2;
        memcpy(factors, first, 2);
        memcpy(factors + 2 * TOGETHER, second, 2);
        place_halves(first + 2, second + 2, k + group * GROUP, channel, to);
    }
}

/* Of MXFP4, as many as there are in what may be less than a block. */
INLINE void place_mxfp4(const uint8_t *blocks, ptrdiff_t k, ptrdiff_t width, int channel, Blocks to) {
    for (int group = 0; group < inputs_of(k, width) / GROUP; group += 2) {
        const uint8_t *first = blocks + group * 17, *second = first + 17;
        uint8_t *exponents = to.parts[3] + (k / GROUP + group) * TOGETHER + channel;
        exponents[0] = first[0], exponents[TOGETHER] = second[0];
        place_halves(first + 1, second + 1, k + group * GROUP, channel, to);
    }
}

INLINE void place_iq4_xs(const uint8_t *block, ptrdiff_t k, int channel, Blocks to) {
    memcpy(to.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 2, block, 2);
    for (int group = 0; group < K_BLOCK / GROUP; group += 2) {
        uint8_t *steps = to.parts[2] + (k + group * GROUP) / 4 + 2 * channel;
        for (int i = 0; i < 2; i++) steps[i] = (uint8_t)iq4_xs_step(block, group + i);
        place_halves(block + 8 + group * 16, block + 8 + (group + 1) * 16, k + group * GROUP, channel, to);
    }
}

/* Channels of a weight, the first of them a multiple of TOGETHER; what is left of their last block is filled with zeros. */
EXPORT int llama_gui_place_blocks(const uint8_t *blocks, int kind, ptrdiff_t channels, ptrdiff_t width,
                                       uint8_t *first, uint8_t *second, uint8_t *third, uint8_t *fourth) {
    const ptrdiff_t bytes = bytes_of_block[kind], row = width * bytes / K_BLOCK;
    const Blocks all = {{first, second, third, fourth}, 0};
#pragma omp parallel for if (channels * width > WORTH_SHARING)
    for (ptrdiff_t channel = 0; channel < channels; channel += TOGETHER) {
        const Blocks to = blocks_from(all, (BlockKind)kind, channel, width);
        if (channels - channel < TOGETHER) clear_blocks(to, (BlockKind)kind, width);
        for (ptrdiff_t k = 0; k < width; k += K_BLOCK)
            for (int i = 0; i < TOGETHER && channel + i < channels; i++) {
                const uint8_t *block = blocks + (channel + i) * row + k / K_BLOCK * bytes;
                if (kind == Q6_K) place_q6_k(block, k, i, to);
                else if (kind == Q3_K) place_q3_k(block, k, i, to);
                else if (kind == Q2_K) place_q2_k(block, k, i, to);
                else if (kind == IQ4_XS) place_iq4_xs(block, k, i, to);
                else if (kind == MXFP4) place_mxfp4(block, k, width, i, to);
                else if (kind == Q4_0 || kind == IQ4_NL) place_groups(block, k, i, to);
                else place_stepped((BlockKind)kind, block, k, i, to);
            }
    }
    return 0;
}

INLINE void take_stepped(BlockKind kind, Blocks from, ptrdiff_t k, int channel, float *to) {
    const uint8_t *factors = from.parts[3] + k / K_BLOCK * 4 * TOGETHER + 2 * channel;
    const float factor = half_at(factors), offset = half_at(factors + 2 * TOGETHER);
    for (int i = 0; i < K_BLOCK; i++) {
        const ptrdiff_t pair = k + i / PAIR * PAIR, group = i / GROUP % 2, j = i % GROUP;
        const uint8_t *steps = from.parts[2] + pair / 2 + 2 * channel + group;
        int level = from.parts[0][pair * 4 + j / 4 * 32 + channel * 4 + j % 4] >> group * 4 & 15;
        if (kind == Q5_K)
            level |= (from.parts[1][pair + j / 16 * 32 + channel * 4 + j % 4] >> (j / 4 % 4 * 2 + group) & 1) << 4;
        to[i] = (float)level * (factor * (float)steps[0]) - offset * (float)steps[16];
    }
}

INLINE void take_q6_k(Blocks from, ptrdiff_t k, int channel, float *to) {
    const float factor = half_at(from.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 2);
    for (int i = 0; i < K_BLOCK; i++) {
        const ptrdiff_t pair = k + i / PAIR * PAIR, group = i / GROUP % 2, j = i % GROUP;
        const int low = from.parts[0][pair * 4 + j / 4 * 32 + channel * 4 + j % 4] >> group * 4 & 15;
        const int high = from.parts[1][pair * 2 + j / 8 * 32 + channel * 4 + j % 4] >> (j / 4 % 2 * 4 + group * 2) & 3;
        const int step = (int8_t)from.parts[2][pair / 2 + channel * 4 + group * 2 + j / SMALL_GROUP];
        to[i] = (float)((low | high << 4) - 32) * ((float)step * factor);
    }
}

INLINE void take_q3_k(Blocks from, ptrdiff_t k, int channel, float *to) {
    const float factor = half_at(from.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 2);
    for (int i = 0; i < K_BLOCK; i++) {
        const ptrdiff_t pair = k + i / PAIR * PAIR, group = i / GROUP % 2, j = i % GROUP;
        const int twos = from.parts[0][pair * 2 + j / 8 * 32 + channel * 4 + j % 4] >> (j / 4 % 2 * 4 + group * 2) & 3;
        const int third = from.parts[1][pair + j / 16 * 32 + channel * 4 + j % 4] >> (j / 4 % 4 * 2 + group) & 1;
        const int step = (int8_t)from.parts[2][pair / 2 + channel * 4 + group * 2 + j / SMALL_GROUP];
        to[i] = (float)((twos | third << 2) - 4) * (factor * (float)step);
    }
}

INLINE void take_q2_k(Blocks from, ptrdiff_t k, int channel, float *to) {
    const uint8_t *factors = from.parts[3] + k / K_BLOCK * 4 * TOGETHER + 2 * channel;
    const float factor = half_at(factors), offset = half_at(factors + 2 * TOGETHER);
    for (int i = 0; i < K_BLOCK; i++) {
        const ptrdiff_t pair = k + i / PAIR * PAIR, group = i / GROUP % 2, j = i % GROUP;
        const int level = from.parts[0][pair * 2 + j / 8 * 32 + channel * 4 + j % 4] >> (j / 4 % 2 * 4 + group * 2) & 3;
        const int both = from.parts[2][pair / 2 + channel * 4 + group * 2 + j / SMALL_GROUP];
        to[i] = (float)level * (factor * (float)(both & 15)) - offset * (float)(both >> 4);
    }
}

/* Of IQ4_XS, groups have steps; of the others, factors of their own. */
INLINE float factor_of_group(BlockKind kind, Blocks from, ptrdiff_t k, int channel) {
    const ptrdiff_t at = k / GROUP * TOGETHER + channel;
    if (kind == MXFP4) return power_of(from.parts[3][at]);
    if (kind != IQ4_XS) return half_at(from.parts[3] + at * 2);
    const float of_block = half_at(from.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 2);
    return of_block * (float)(int8_t)from.parts[2][k / PAIR * PAIR / 4 + 2 * channel + k / GROUP % 2];
}

INLINE void take_groups(BlockKind kind, Blocks from, ptrdiff_t k, ptrdiff_t width, int channel, float *to) {
    for (int i = 0; i < inputs_of(k, width); i++) {
        const ptrdiff_t pair = k + i / PAIR * PAIR, group = i / GROUP % 2, j = i % GROUP;
        const int level = from.parts[0][pair * 4 + j / 4 * 32 + channel * 4 + j % 4] >> group * 4 & 15;
        const int number = kind == Q4_0 ? level - 8 : levels_of_codes(kind)[level] - zero_of_codes(kind);
        to[i] = (float)number * factor_of_group(kind, from, k + i, channel);
    }
}

INLINE void take_q7_k(Blocks from, ptrdiff_t k, ptrdiff_t width, int channel, float *to) {
    float factor;
    memcpy(&factor, from.parts[3] + (k / K_BLOCK * TOGETHER + channel) * 4, 4);
    for (ptrdiff_t i = 0; i < inputs_of(k, width); i++) {
        const ptrdiff_t at = k + i;
        const int step = from.parts[2][at / PAIR * 2 * TOGETHER + 2 * channel + at / GROUP % 2];
        const int level = from.parts[0][at / 4 * 4 * TOGETHER + channel * 4 + at % 4];
        to[i] = (float)(level - Q7_ZERO) * ((float)step * factor);
    }
}

/* The numbers of some channels, each as of the file, or as they were rounded. */
EXPORT int llama_gui_block_rows(int kind, ptrdiff_t width, uint8_t *first, uint8_t *second, uint8_t *third,
                                     uint8_t *fourth, const int64_t *channels, ptrdiff_t count, float *to) {
    const Blocks all = {{first, second, third, fourth}, 0};
#pragma omp parallel for if (count * width > WORTH_SHARING)
    for (ptrdiff_t row = 0; row < count; row++) {
        const int channel = (int)(channels[row] % TOGETHER);
        const Blocks from = blocks_from(all, (BlockKind)kind, channels[row] - channel, width);
        for (ptrdiff_t k = 0; k < width; k += K_BLOCK) {
            if (kind == Q6_K) take_q6_k(from, k, channel, to + row * width + k);
            else if (kind == Q3_K) take_q3_k(from, k, channel, to + row * width + k);
            else if (kind == Q2_K) take_q2_k(from, k, channel, to + row * width + k);
            else if (kind == Q4_0 || kind == IQ4_NL || kind == IQ4_XS || kind == MXFP4)
                take_groups((BlockKind)kind, from, k, width, channel, to + row * width + k);
            else if (kind == Q7_K) take_q7_k(from, k, width, channel, to + row * width + k);
            else take_stepped((BlockKind)kind, from, k, channel, to + row * width + k);
        }
    }
    return 0;
}
