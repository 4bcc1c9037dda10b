/* Products of rows of eight bits with weights as GGUF files have them: blocks of K_BLOCK inputs, and a row has a scale for
 * each of them, too, so that an input that is far larger than the others spoils only its own block. A block's sums are
 * exact, those of the blocks of a channel are added up in float32, from the first to the last.
 *
 * Like weights of four bits, TOGETHER channels lie side by side. */

/* --- Q4_K and Q5_K: each group has a step and a low; of a pair of groups, [8 channels][2] steps and as many lows. A block
 * has a factor for steps and one for lows. Of Q5_K, a byte has the upper bits of four inputs of either group, four
 * apart: [channels / 8][width / 64][2][8 channels][4 inputs]. */

/* That of a row's block. */
INLINE __m256 scale_at(const float *x_scales, ptrdiff_t row, ptrdiff_t width, ptrdiff_t block) {
    return _mm256_set1_ps(x_scales[row * blocks_of(width) + block / K_BLOCK]);
}

/* Four inputs times four levels of each channel, in pairs of products. */
INLINE __m256i add_four(__m256i sum, __m256i levels, const int8_t *x) {
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(levels, _mm256_set1_epi32(four_bytes(x))));
    IN_ORDER(sum);
    return sum;
}

/* Some bits of each byte, of which bit `from` becomes bit `to`. */
INLINE __m256i moved_bits(__m256i bytes, int from, int to, int bits) {
    __m256i moved = from < to ? _mm256_slli_epi16(bytes, to - from) : _mm256_srli_epi16(bytes, from - to);
    return _mm256_and_si256(moved, _mm256_set1_epi8((char)bits));
}

/* Two groups from input `k` on, of all rows: levels of five bits times x, times the groups' steps. Pairs of products are
 * at most 2 * 31 * 127, so four fit in 16 bits. */
INLINE void add_q5_k_pair(const int8_t *x, Blocks from, ptrdiff_t width, ptrdiff_t k, int rows, PairScales of,
                          __m256i *stepped) {
    const __m256i low_bits = _mm256_set1_epi8(15);
    UNROLL for (int half = 0; half < 2; half++) {
        __m256i first[4], second[4], high = _mm256_loadu_si256((const __m256i *)(from.parts[1] + k + half * 32));
        UNROLL for (int r = 0; r < rows; r++) first[r] = second[r] = _mm256_setzero_si256();
        UNROLL for (int i = 0; i < 4; i++) {
            const int j = half * SMALL_GROUP + i * 4;
            __m256i both = _mm256_loadu_si256((const __m256i *)(from.parts[0] + k * 4 + j * TOGETHER));
            __m256i level = _mm256_or_si256(_mm256_and_si256(both, low_bits), moved_bits(high, 2 * i, 4, 16));
            UNROLL for (int r = 0; r < rows; r++) first[r] = add_four(first[r], level, x + r * width + k + j);
            level = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(both, 4), low_bits), moved_bits(high, 2 * i + 1, 4, 16));
            UNROLL for (int r = 0; r < rows; r++) second[r] = add_four(second[r], level, x + r * width + k + GROUP + j);
        }
        UNROLL for (int r = 0; r < rows; r++)
            stepped[r] = _mm256_add_epi32(stepped[r], _mm256_add_epi32(_mm256_madd_epi16(first[r], of.first_steps),
                                                                       _mm256_madd_epi16(second[r], of.second_steps)));
    }
}

/* Of each of `count` weights: those of the first one's rows, then of the next one's. */
INLINE void add_q4_k_pair(Adding how, const int8_t *x, const Blocks *streams, int count, ptrdiff_t width, ptrdiff_t k,
                          int rows, const PairScales *of, __m256i *stepped) {
    const uint8_t *levels[MOST_SUMS];
    __m256i products[MOST_SUMS];
    UNROLL for (int i = 0; i < count; i++) levels[i] = streams[i].parts[0] + k * 4;
    UNROLL for (int is_second = 0; is_second < 2; is_second++) {
        group_products(how, x + k, levels, count, width, rows, is_second, products);
        UNROLL for (int r = 0; r < count * rows; r++) {
            const __m256i steps = is_second ? of[r / rows].second_steps : of[r / rows].first_steps;
            stepped[r] = _mm256_add_epi32(stepped[r], stepped_sums(how, products[r], steps));
        }
    }
}

/* --- Q2_K: each group of 16 has a step and a low, the lower and the upper bits of a byte, which lie as the steps of Q6_K; blocks
 * have the factors of Q4_K. Levels, two bits of them, lie as the upper ones of Q6_K. Those of the second group of a pair are
 * multiplied where they are, four times as large, and those of the first one get steps of four times their size. */

/* Of a block's small groups the sums of x, from their offsets (see `add_small_pair`): of each four of them those of the first and
 * the third, then those of the others. */
INLINE void small_sums(const int16_t *x_offsets, int16_t *sums) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i whole[2];
    UNROLL for (int i = 0; i < 2; i++) {
        whole[i] = _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)(x_offsets + i * 16)), ones);
        whole[i] = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_srai_epi32(whole[i], 5)); /* they are -32 times as large */
    }
    const __m256i all = _mm256_permute4x64_epi64(_mm256_packs_epi32(whole[0], whole[1]), 0xD8);
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
    _mm256_storeu_si256((__m256i *)sums, _mm256_shuffle_epi8(all, order));
}

/* A byte without a sign of each four, as steps of 16 bits: twice, or for sums in fours with zeros behind it. */
INLINE __m256i byte_steps(Adding how, __m256i bytes, int which) {
    const int n = -128;
    const __m256i twice = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, n, 0, n, 4, n, 4, n, 8, n, 8, n, 12, n, 12, n));
    const __m256i once = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, n, n, n, 4, n, n, n, 8, n, n, n, 12, n, n, n));
    const __m256i places = _mm256_add_epi8(how == IN_PAIRS ? twice : once, _mm256_set1_epi8((char)which));
    return _mm256_shuffle_epi8(bytes, places);
}

/* `sums` are those of the block, [rows][K_BLOCK / SMALL_GROUP]. Sixteen products are at most 16 * 12 * 127, which fits in 16 bits. */
INLINE void add_q2_k_pair(Adding how, const int8_t *x, const int16_t *sums, Blocks from, ptrdiff_t width, ptrdiff_t k, int rows,
                          __m256i *stepped, __m256i *low) {
    const __m256i both = _mm256_loadu_si256((const __m256i *)(from.parts[2] + k / 2));
    const __m256i steps = moved_bits(both, 0, 0, 15), larger = moved_bits(both, 0, 2, 60), nibbles = _mm256_set1_epi32(0xF000F);
    const __m256i lows = _mm256_and_si256(_mm256_srli_epi32(both, 4), nibbles); /* of the first and the third group */
    const __m256i others = _mm256_and_si256(_mm256_srli_epi32(both, 12), nibbles);
    UNROLL for (int r = 0; r < rows; r++) {
        const int16_t *four = sums + r * (K_BLOCK / SMALL_GROUP) + k % K_BLOCK / SMALL_GROUP;
        low[r] = _mm256_add_epi32(low[r], _mm256_add_epi32(_mm256_madd_epi16(lows, _mm256_set1_epi32(four_bytes(four))),
                                                           _mm256_madd_epi16(others, _mm256_set1_epi32(four_bytes(four + 2)))));
    }
    UNROLL for (int half = 0; half < 2; half++) { /* of both groups */
        __m256i first[4], second[4];
        UNROLL for (int r = 0; r < rows; r++) first[r] = second[r] = _mm256_setzero_si256();
        UNROLL for (int j = half * SMALL_GROUP; j < (half + 1) * SMALL_GROUP; j += 4) {
            const __m256i twos = _mm256_loadu_si256((const __m256i *)(from.parts[0] + k * 2 + j / 8 * 32));
            const __m256i levels = moved_bits(twos, j % 8, 0, 3), larger_levels = moved_bits(twos, j % 8, 0, 12);
            UNROLL for (int r = 0; r < rows; r++) {
                const int8_t *inputs = x + r * width + k + j;
                add_products(how, &first[r], levels, _mm256_set1_epi32(four_bytes(inputs)));
                add_products(how, &second[r], larger_levels, _mm256_set1_epi32(four_bytes(inputs + GROUP)));
            }
        }
        const __m256i first_steps = byte_steps(how, larger, half), second_steps = byte_steps(how, steps, 2 + half);
        UNROLL for (int r = 0; r < rows; r++)
            stepped[r] = _mm256_add_epi32(stepped[r], _mm256_add_epi32(_mm256_madd_epi16(first[r], first_steps),
                                                                       _mm256_madd_epi16(second[r], second_steps)));
    }
}

/* Each of `streams` weights with all rows; `sums` are those of the first one's rows, then of the next one's. */
INLINE void stepped_channels(BlockKind kind, Adding how, const int8_t *x, const int16_t *x_sums, const float *x_scales,
                             const Blocks *streams, int count, ptrdiff_t width, int rows, __m256 *sums) {
    __m256 total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_ps();
    for (ptrdiff_t block = 0; block < width; block += K_BLOCK) {
        __m256i stepped[MOST_SUMS], low[MOST_SUMS];
        int16_t small[4 * K_BLOCK / SMALL_GROUP];
        UNROLL for (int r = 0; r < count * rows; r++) stepped[r] = low[r] = _mm256_setzero_si256();
        if (kind == Q2_K)
            UNROLL for (int r = 0; r < rows; r++)
                small_sums(x_sums + (r * width + block) / SMALL_GROUP * 2, small + r * (K_BLOCK / SMALL_GROUP));
        for (ptrdiff_t k = block; k < block + K_BLOCK; k += PAIR) {
            PairScales of[4];
            UNROLL for (int i = 0; i < count; i++) {
                if (kind == Q2_K) {
                    add_q2_k_pair(how, x, small, streams[i], width, k, rows, stepped + i * rows, low + i * rows);
                    continue;
                }
                const uint8_t *groups = streams[i].parts[2] + k / 2;
                of[i] = pair_scales(groups, groups + 16);
                if (kind == Q5_K) add_q5_k_pair(x, streams[i], width, k, rows, of[i], stepped + i * rows);
                UNROLL for (int r = 0; r < rows; r++) {
                    __m256i lowered = _mm256_madd_epi16(of[i].lows, two_sums(x_sums, r, width, k));
                    low[i * rows + r] = _mm256_add_epi32(low[i * rows + r], lowered);
                }
            }
            if (kind == Q4_K) add_q4_k_pair(how, x, streams, count, width, k, rows, of, stepped);
        }
        UNROLL for (int r = 0; r < count * rows; r++) {
            const uint8_t *factors = streams[r / rows].parts[3] + block / K_BLOCK * 4 * TOGETHER;
            const __m256 step = factors_at(factors), offset = factors_at(factors + 2 * TOGETHER);
            if (kind == Q2_K) stepped[r] = _mm256_srai_epi32(stepped[r], 2);
            __m256 sum = _mm256_mul_ps(step, _mm256_cvtepi32_ps(stepped[r]));
            sum = _mm256_sub_ps(sum, _mm256_mul_ps(offset, _mm256_cvtepi32_ps(low[r])));
            total[r] = _mm256_add_ps(total[r], _mm256_mul_ps(sum, scale_at(x_scales, r % rows, width, block)));
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) sums[r] = total[r];
}

/* --- Q6_K: levels from 0 to 63 that stand for numbers from -32 on, in groups of 16 with a step each, and each block of
 * each channel with a factor. The lower four bits lie as those of Q4_K; of the upper two, a byte has those of two
 * inputs of either group, four apart: [channels / 8][width / 64][4][8 channels][4 inputs]. Steps are
 * [channels / 8][width / 64][8 channels][4 groups]. */

/* The steps of one of four small groups, in 16 bits, twice for each channel. */
INLINE __m256i steps_of(__m256i steps, int group) {
    const int n = -1;
    const __m256i to = _mm256_broadcastsi128_si256(_mm_setr_epi8(n, 0, n, 0, n, 4, n, 4, n, 8, n, 8, n, 12, n, 12));
    /* Into the upper bytes, so that the shift brings the sign along. */
    const __m256i places = _mm256_add_epi8(to, _mm256_set1_epi16((short)(group << 8)));
    return _mm256_srai_epi16(_mm256_shuffle_epi8(steps, places), 8);
}

/* --- Q3_K: levels from 0 to 7 that stand for numbers from -4 on, and are multiplied as those of Q6_K: eight times as large, from
 * 0 to 56, so that they have the same offset; a block's sum is divided by that, and nothing is left over. The lower two bits
 * lie as the upper ones of Q6_K, the third ones as those above four of Q5_K. */

/* Levels of four inputs of a pair of groups, from `j` on in each of these; `high`: what Q3_K has of this half of them. */
INLINE void sixty_four_levels(BlockKind kind, const Blocks *from, ptrdiff_t k, int j, __m256i high, __m256i *first,
                              __m256i *second) {
    const int at = j % 8; /* 0 or 4, which is also where the bits begin */
    const __m256i twos = _mm256_loadu_si256((const __m256i *)(from->parts[kind == Q3_K ? 0 : 1] + k * 2 + j / 8 * 32));
    if (kind == Q3_K) {
        const int third = j % SMALL_GROUP / 2;
        *first = _mm256_or_si256(moved_bits(twos, at, 3, 24), moved_bits(high, third, 5, 32));
        *second = _mm256_or_si256(moved_bits(twos, at + 2, 3, 24), moved_bits(high, third + 1, 5, 32));
    } else {
        const __m256i fours = _mm256_loadu_si256((const __m256i *)(from->parts[0] + k * 4 + j * TOGETHER));
        *first = _mm256_or_si256(moved_bits(fours, 0, 0, 15), moved_bits(twos, at, 4, 48));
        *second = _mm256_or_si256(moved_bits(fours, 4, 0, 15), moved_bits(twos, at + 2, 4, 48));
    }
}

/* `x_offsets` are -32 times the sums of x in each small group, of the first two and of the last two of each four inputs:
 * so levels may be multiplied as they are, and (level - 32) * x of 8 inputs fits in 16 bits (at most 8 * 32 * 127). */
INLINE void add_small_pair(BlockKind kind, const int8_t *x, const int16_t *x_offsets, Blocks from, ptrdiff_t width,
                           ptrdiff_t k, int rows, __m256i *whole) {
    const __m256i steps = _mm256_loadu_si256((const __m256i *)(from.parts[2] + k / 2));
    UNROLL for (int half = 0; half < 2; half++) { /* of both groups */
        __m256i first[4], second[4], high = _mm256_setzero_si256();
        if (kind == Q3_K) high = _mm256_loadu_si256((const __m256i *)(from.parts[1] + k + half * 32));
        UNROLL for (int r = 0; r < rows; r++) {
            const int16_t *offsets = x_offsets + (r * width + k) / SMALL_GROUP * 2 + 2 * half;
            first[r] = _mm256_set1_epi32(four_bytes(offsets));
            second[r] = _mm256_set1_epi32(four_bytes(offsets + 4));
        }
        UNROLL for (int j = half * SMALL_GROUP; j < (half + 1) * SMALL_GROUP; j += 4) {
            __m256i levels, others;
            sixty_four_levels(kind, &from, k, j, high, &levels, &others);
            UNROLL for (int r = 0; r < rows; r++) first[r] = add_four(first[r], levels, x + r * width + k + j);
            UNROLL for (int r = 0; r < rows; r++) second[r] = add_four(second[r], others, x + r * width + k + GROUP + j);
        }
        const __m256i first_steps = steps_of(steps, half), second_steps = steps_of(steps, 2 + half);
        UNROLL for (int r = 0; r < rows; r++)
            whole[r] = _mm256_add_epi32(whole[r], _mm256_add_epi32(_mm256_madd_epi16(first[r], first_steps),
                                                                   _mm256_madd_epi16(second[r], second_steps)));
    }
}

/* --- IQ4_NL, MXFP4 and IQ4_XS: codes of four bits that stand for numbers which a table lists. The first two lie as Q4_0 does, but
 * MXFP4 has exponents of a byte for factors. Of IQ4_XS, groups have
 * steps with a sign: [channels / 8][width / 64][8 channels][2 groups], and blocks a factor. */

/* As they stand there, or for products in pairs the numbers themselves. */
INLINE __m256i iq4_table(BlockKind kind, Adding how) {
    const __m256i levels = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)levels_of_codes(kind)));
    return how == IN_PAIRS ? _mm256_sub_epi8(levels, _mm256_set1_epi8((char)zero_of_codes(kind))) : levels;
}

/* A pair of groups of one weight, times all rows: products times `steps` of 16 bits are added to the first groups' sums and the
 * second ones'. In pairs a number is multiplied without its sign, which the input gets; in fours the numbers are multiplied as
 * `levels_of_codes` has them, and what these are too large is taken from each sum beforehand. */
INLINE void add_iq4_pair(BlockKind kind, Adding how, const int8_t *x, const int16_t *x_sums, const uint8_t *codes,
                         ptrdiff_t width, int rows, __m256i first_steps, __m256i second_steps, __m256i *first,
                         __m256i *second) {
    const __m256i table = iq4_table(kind, how);
    __m256i sums[2][4];
    UNROLL for (int half = 0; half < 2; half++) {
        UNROLL for (int r = 0; r < rows; r++) {
            const int16_t sum = x_sums[r * (width / GROUP) + half];
            sums[half][r] = how == IN_PAIRS ? _mm256_setzero_si256() : _mm256_set1_epi32(-zero_of_codes(kind) * sum);
        }
    }
    AS_A_LOOP for (int j = 0; j < GROUP; j += 4) {
        const __m256i both = _mm256_loadu_si256((const __m256i *)(codes + j * TOGETHER));
        UNROLL for (int half = 0; half < 2; half++) {
            const __m256i number = _mm256_shuffle_epi8(table, moved_bits(both, 4 * half, 0, 15));
            const __m256i size = _mm256_abs_epi8(number), steps = half ? second_steps : first_steps;
            UNROLL for (int r = 0; r < rows; r++) {
                __m256i four = _mm256_set1_epi32(four_bytes(x + r * width + half * GROUP + j));
                if (how != IN_PAIRS) {
                    add_products(how, &sums[half][r], number, four);
                    continue;
                }
                four = _mm256_sign_epi8(four, number);
                ADD_32_BITS(sums[half][r], _mm256_madd_epi16(_mm256_maddubs_epi16(size, four), steps));
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        if (how != IN_PAIRS) {
            sums[0][r] = stepped_sums(how, sums[0][r], first_steps);
            sums[1][r] = stepped_sums(how, sums[1][r], second_steps);
        }
        first[r] = _mm256_add_epi32(first[r], sums[0][r]), second[r] = _mm256_add_epi32(second[r], sums[1][r]);
    }
}

/* Of IQ4_XS, as `add_small_pair`. */
INLINE void add_iq4_xs_pair(Adding how, const int8_t *x, const int16_t *x_sums, Blocks from, ptrdiff_t width, ptrdiff_t k,
                            int rows, __m256i *whole) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(from.parts[2] + k / 4));
    const PairScales of = pair_of(_mm256_cvtepi8_epi16(bytes), _mm256_setzero_si256());
    const uint8_t *codes = from.parts[0] + k * 4;
    add_iq4_pair(IQ4_XS, how, x + k, x_sums + k / GROUP, codes, width, rows, of.first_steps, of.second_steps, whole, whole);
}

/* As `stepped_channels`, of the kinds whose blocks have one factor: Q6_K, Q3_K and IQ4_XS. */
INLINE void factored_channels(BlockKind kind, Adding how, const int8_t *x, const int16_t *x_offsets, const float *x_scales,
                              const Blocks *streams, int count, ptrdiff_t width, int rows, __m256 *sums) {
    __m256 total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_ps();
    for (ptrdiff_t block = 0; block < width; block += K_BLOCK) {
        __m256i whole[MOST_SUMS];
        UNROLL for (int r = 0; r < count * rows; r++) whole[r] = _mm256_setzero_si256();
        for (ptrdiff_t k = block; k < block + K_BLOCK; k += PAIR)
            UNROLL for (int i = 0; i < count; i++) {
                if (kind == IQ4_XS) add_iq4_xs_pair(how, x, x_offsets, streams[i], width, k, rows, whole + i * rows);
                else add_small_pair(kind, x, x_offsets, streams[i], width, k, rows, whole + i * rows);
            }
        UNROLL for (int r = 0; r < count * rows; r++) {
            const __m256 factor = factors_at(streams[r / rows].parts[3] + block / K_BLOCK * 2 * TOGETHER);
            if (kind == Q3_K) whole[r] = _mm256_srai_epi32(whole[r], 3);
            __m256 sum = _mm256_mul_ps(factor, _mm256_cvtepi32_ps(whole[r]));
            total[r] = _mm256_add_ps(total[r], _mm256_mul_ps(sum, scale_at(x_scales, r % rows, width, block)));
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) sums[r] = total[r];
}

/* See `add_small_pair`. */
static void sum_offsets(const int8_t *x, ptrdiff_t groups, int16_t *offsets) {
    for (ptrdiff_t g = 0; g < groups; g++) {
        int sums[2] = {0, 0};
        for (int j = 0; j < SMALL_GROUP; j++) sums[j / 2 % 2] += x[g * SMALL_GROUP + j];
        offsets[2 * g] = (int16_t)(-32 * sums[0]), offsets[2 * g + 1] = (int16_t)(-32 * sums[1]);
    }
}

/* --- Q4_0: levels from 0 to 15 that stand for numbers from -8 on. Each group, which is a block of the file, has a factor:
 * [channels / 8][width / 32][8 channels]. A block's groups are added up in float32, from the first to the last. */

/* As `stepped_channels`. */
INLINE void q4_0_channels(Adding how, const int8_t *x, const int16_t *x_sums, const float *x_scales, const Blocks *streams,
                          int count, ptrdiff_t width, int rows, __m256 *sums) {
    __m256 total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_ps();
    for (ptrdiff_t block = 0; block < width; block += K_BLOCK) {
        __m256 of_block[MOST_SUMS];
        UNROLL for (int r = 0; r < count * rows; r++) of_block[r] = _mm256_setzero_ps();
        for (ptrdiff_t k = block; k < block + K_BLOCK; k += PAIR) {
            __m256i products[MOST_SUMS];
            const uint8_t *levels[4];
            UNROLL for (int i = 0; i < count; i++) levels[i] = streams[i].parts[0] + k * 4;
            UNROLL for (int is_second = 0; is_second < 2; is_second++) {
                const ptrdiff_t group = k / GROUP + is_second;
                group_products(how, x + k, levels, count, width, rows, is_second, products);
                UNROLL for (int r = 0; r < count * rows; r++) {
                    const __m256 factor = factors_at(streams[r / rows].parts[3] + group * 2 * TOGETHER);
                    const __m256i offset = _mm256_set1_epi32(8 * x_sums[r % rows * (width / GROUP) + group]);
                    const __m256i whole = _mm256_sub_epi32(whole_sums(how, products[r]), offset);
                    of_block[r] = _mm256_add_ps(of_block[r], _mm256_mul_ps(factor, _mm256_cvtepi32_ps(whole)));
                }
            }
        }
        UNROLL for (int r = 0; r < count * rows; r++) {
            const __m256 scale = scale_at(x_scales, r % rows, width, block);
            total[r] = _mm256_add_ps(total[r], _mm256_mul_ps(of_block[r], scale));
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) sums[r] = total[r];
}

/* As `stepped_channels`, of IQ4_NL and MXFP4. */
INLINE void iq4_nl_channels(BlockKind kind, Adding how, const int8_t *x, const int16_t *x_sums, const float *x_scales,
                            const Blocks *streams, int count, ptrdiff_t width, int rows, __m256 *sums) {
    const __m256i none = _mm256_set1_epi16(1); /* steps */
    __m256 total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_ps();
    for (ptrdiff_t block = 0; block < width; block += K_BLOCK) {
        __m256 of_block[MOST_SUMS];
        UNROLL for (int r = 0; r < count * rows; r++) of_block[r] = _mm256_setzero_ps();
        const ptrdiff_t inputs = kind == MXFP4 ? inputs_of(block, width) : K_BLOCK;
        for (ptrdiff_t k = block; k < block + inputs; k += PAIR)
            UNROLL for (int i = 0; i < count; i++) {
                __m256i first[4], second[4];
                UNROLL for (int r = 0; r < rows; r++) first[r] = second[r] = _mm256_setzero_si256();
                const uint8_t *codes = streams[i].parts[0] + k * 4;
                add_iq4_pair(kind, how, x + k, x_sums + k / GROUP, codes, width, rows, none, none, first, second);
                const __m256 a = group_factors(kind, streams[i].parts[3], k / GROUP);
                const __m256 b = group_factors(kind, streams[i].parts[3], k / GROUP + 1);
                UNROLL for (int r = 0; r < rows; r++) {
                    __m256 *to = of_block + i * rows + r;
                    *to = _mm256_add_ps(*to, _mm256_mul_ps(a, _mm256_cvtepi32_ps(first[r])));
                    *to = _mm256_add_ps(*to, _mm256_mul_ps(b, _mm256_cvtepi32_ps(second[r])));
                }
            }
        UNROLL for (int r = 0; r < count * rows; r++)
            total[r] = _mm256_add_ps(total[r], _mm256_mul_ps(of_block[r], scale_at(x_scales, r % rows, width, block)));
    }
    UNROLL for (int r = 0; r < count * rows; r++) sums[r] = total[r];
}

/* --- Q7_K, our own kind, named in the manner of the others: levels from 1 to 127 that stand for numbers from -63 on, in groups
 * of 32 with a step each, and blocks with a factor. A pair of products is at most 2 * 127 * 127, which fits in 16 bits with no
 * sign to be moved, so that a pair takes three operations where numbers of eight bits take four. Levels are
 * [channels / 8][width / 4][8 channels][4 inputs], steps [channels / 8][width / 64][8 channels][2 groups], factors float32. */

enum { MOST_AHEAD = 1 << 16 };  /* bytes that are fetched before they are wanted, and then are still there */
enum { Q7_ZERO = 64 }; /* the level that stands for zero */

/* One of the two groups at `levels` of each of `count` weights, times all rows and the group's steps, added to `whole`. */
INLINE void add_q7_k_group(Adding how, const int8_t *x, const uint8_t *const *levels, int count, ptrdiff_t width,
                           int rows, const __m256i *steps, ptrdiff_t ahead, __m256i *whole) {
    __m256i sums[MOST_SUMS];
    UNROLL for (int i = 0; i < count * rows; i++) sums[i] = how == IN_PAIRS ? whole[i] : _mm256_setzero_si256();
    AS_A_LOOP for (int j = 0; j < GROUP; j += 4) {
        __m256i level[4];
        UNROLL for (int i = 0; i < count; i++) {
            level[i] = _mm256_loadu_si256((const __m256i *)(levels[i] + j * TOGETHER));
            if (rows <= FEW) fetch_line(levels[i] + j * TOGETHER + ahead);
            else fetch_line_early(levels[i] + j * TOGETHER + ahead);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const __m256i four = _mm256_set1_epi32(four_bytes(x + r * width + j));
            UNROLL for (int i = 0; i < count; i++) {
                __m256i *const sum = &sums[i * rows + r];
                if (how == IN_PAIRS) ADD_32_BITS(*sum, _mm256_madd_epi16(_mm256_maddubs_epi16(level[i], four), steps[i]));
                else add_products(how, sum, level[i], four);
            }
        }
    }
    UNROLL for (int i = 0; i < count * rows; i++) {
        if (how == IN_PAIRS) whole[i] = sums[i];
        else whole[i] = _mm256_add_epi32(whole[i], stepped_sums(how, sums[i], steps[i / rows]));
    }
}

/* Some inputs from `block` on, a whole block of them or what is left of a row. */
INLINE void add_q7_k_block(Adding how, const int8_t *x, const int16_t *x_sums, const Blocks *streams, int count,
                           ptrdiff_t width, ptrdiff_t block, ptrdiff_t inputs, int rows, __m256i *whole) {
    for (ptrdiff_t k = block; k < block + inputs; k += PAIR) {
        __m256i first[4], second[4];
        const uint8_t *levels[4], *others[4];
        UNROLL for (int i = 0; i < count; i++) {
            const __m256i steps = pair_steps(streams[i].parts[2] + k / 4);
            const __m256i lows = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(steps, 6)); /* Q7_ZERO times */
            const PairScales of = pair_of(steps, lows);
            first[i] = of.first_steps, second[i] = of.second_steps;
            levels[i] = streams[i].parts[0] + k * TOGETHER, others[i] = levels[i] + GROUP * TOGETHER;
            UNROLL for (int r = 0; r < rows; r++)
                whole[i * rows + r] = _mm256_add_epi32(whole[i * rows + r], _mm256_madd_epi16(lows, two_sums(x_sums, r, width, k)));
        }
        add_q7_k_group(how, x + k, levels, count, width, rows, first, streams[0].ahead, whole);
        add_q7_k_group(how, x + k + GROUP, others, count, width, rows, second, streams[0].ahead, whole);
    }
}

/* As `stepped_channels`. */
INLINE void q7_k_channels(Adding how, const int8_t *x, const int16_t *x_sums, const float *x_scales, const Blocks *streams,
                          int count, ptrdiff_t width, int rows, __m256 *sums) {
    __m256 total[MOST_SUMS];
    UNROLL for (int r = 0; r < count * rows; r++) total[r] = _mm256_setzero_ps();
    for (ptrdiff_t block = 0; block < width; block += K_BLOCK) {
        __m256i whole[MOST_SUMS];
        UNROLL for (int r = 0; r < count * rows; r++) whole[r] = _mm256_setzero_si256();
        /* A whole one has a number of inputs that is known where it is compiled. */
        if (block + K_BLOCK <= width) add_q7_k_block(how, x, x_sums, streams, count, width, block, K_BLOCK, rows, whole);
        else add_q7_k_block(how, x, x_sums, streams, count, width, block, width - block, rows, whole);
        UNROLL for (int r = 0; r < count * rows; r++) {
            const __m256 factor = _mm256_loadu_ps((const float *)(streams[r / rows].parts[3] + block / K_BLOCK * 4 * TOGETHER));
            const __m256 sum = _mm256_mul_ps(factor, _mm256_cvtepi32_ps(whole[r]));
            total[r] = _mm256_add_ps(total[r], _mm256_mul_ps(sum, scale_at(x_scales, r % rows, width, block)));
        }
    }
    UNROLL for (int r = 0; r < count * rows; r++) sums[r] = total[r];
}

INLINE void block_channels(BlockKind kind, Adding how, const int8_t *x, const int16_t *x_sums, const float *x_scales,
                           const Blocks *w, int count, ptrdiff_t width, int rows, __m256 *sums) {
    if (has_lows(kind)) stepped_channels(kind, how, x, x_sums, x_scales, w, count, width, rows, sums);
    else if (kind == IQ4_NL || kind == MXFP4) iq4_nl_channels(kind, how, x, x_sums, x_scales, w, count, width, rows, sums);
    else if (kind == Q7_K) q7_k_channels(how, x, x_sums, x_scales, w, count, width, rows, sums);
    else if (kind == Q4_0) q4_0_channels(how, x, x_sums, x_scales, w, count, width, rows, sums);
    else factored_channels(kind, how, x, x_sums, x_scales, w, count, width, rows, sums);
}

#define BLOCK_TILE_IN(HOW, KIND, PLACES, ROWS)                                                                      \
    TILE tile_##KIND##_##PLACES##_##ROWS##_##HOW(const int8_t *x, const int16_t *x_sums, const float *x_scales,     \
                                                 const Blocks *w, ptrdiff_t width, __m256 *sums) {                  \
        block_channels(KIND, HOW, x, x_sums, x_scales, w, PLACES, width, ROWS, sums);                               \
    }
/* Q3_K, Q5_K and Q6_K have steps for so few products that to multiply with those costs what is won in fours. */
#define TILE_IN_PAIRS(KIND, PLACES, ROWS) BLOCK_TILE_IN(IN_PAIRS, KIND, PLACES, ROWS)
#define TILE_IN_EACH(KIND, PLACES, ROWS)                                                                            \
    BLOCK_TILE_IN(IN_PAIRS, KIND, PLACES, ROWS) BLOCK_TILE_IN(IN_FOURS, KIND, PLACES, ROWS)                         \
    BLOCK_TILE_IN(IN_FOURS_512, KIND, PLACES, ROWS)
#define BLOCK_TILES(TILE_OF, KIND, PLACES)                                                                          \
    TILE_OF(KIND, PLACES, 1) TILE_OF(KIND, PLACES, 2) TILE_OF(KIND, PLACES, 3) TILE_OF(KIND, PLACES, 4)
#define SINGLE_TILES(TILE_OF, KIND) BLOCK_TILES(TILE_OF, KIND, 1) TILE_OF(KIND, 2, 1)
#define PAIR_TILES(KIND)                                                                                            \
    BLOCK_TILES(TILE_IN_EACH, KIND, 1) TILE_IN_EACH(KIND, 1, 5) BLOCK_TILES(TILE_IN_EACH, KIND, 2) TILE_IN_EACH(KIND, 2, 5)
SINGLE_TILES(TILE_IN_PAIRS, Q5_K) SINGLE_TILES(TILE_IN_PAIRS, Q6_K) SINGLE_TILES(TILE_IN_PAIRS, Q3_K)
SINGLE_TILES(TILE_IN_EACH, IQ4_NL) SINGLE_TILES(TILE_IN_EACH, IQ4_XS) SINGLE_TILES(TILE_IN_EACH, Q2_K)
SINGLE_TILES(TILE_IN_EACH, MXFP4)
PAIR_TILES(Q4_K) PAIR_TILES(Q4_0) PAIR_TILES(Q7_K)
TILE_IN_EACH(Q4_K, 3, 1) TILE_IN_EACH(Q4_0, 4, 1)
TILE_IN_EACH(Q7_K, 3, 2) TILE_IN_EACH(Q7_K, 3, 3) TILE_IN_EACH(Q7_K, 4, 1)

typedef void BlockTile(const int8_t *, const int16_t *, const float *, const Blocks *, ptrdiff_t, __m256 *);
/* Each of these places is two to four already, one for each part. */
static const int8_t block_places[BLOCK_KINDS][FEW] = {
    {3, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}, {4, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}, {2, 1, 1, 1}, {4, 3, 3, 2},
};
#define TILE_OF(HOW, KIND, PLACES, ROWS) tile_##KIND##_##PLACES##_##ROWS##_##HOW
#define FOUR_OF(HOW, KIND, PLACES)                                                                                  \
    TILE_OF(HOW, KIND, PLACES, 1), TILE_OF(HOW, KIND, PLACES, 2), TILE_OF(HOW, KIND, PLACES, 3), TILE_OF(HOW, KIND, PLACES, 4)
#define SINGLE_OF(HOW, KIND) {FOUR_OF(HOW, KIND, 1)}, {TILE_OF(HOW, KIND, 2, 1)}
#define PAIR_OF(HOW, KIND) {FOUR_OF(HOW, KIND, 1), TILE_OF(HOW, KIND, 1, 5)}, {FOUR_OF(HOW, KIND, 2), TILE_OF(HOW, KIND, 2, 5)}
#define TILES_OF(HOW)                                                                                               \
    {                                                                                                               \
        [Q5_K] = {SINGLE_OF(IN_PAIRS, Q5_K)}, [Q6_K] = {SINGLE_OF(IN_PAIRS, Q6_K)},                                 \
        [Q3_K] = {SINGLE_OF(IN_PAIRS, Q3_K)}, [IQ4_NL] = {SINGLE_OF(HOW, IQ4_NL)}, [IQ4_XS] = {SINGLE_OF(HOW, IQ4_XS)}, \
        [Q2_K] = {SINGLE_OF(HOW, Q2_K)}, [MXFP4] = {SINGLE_OF(HOW, MXFP4)},                                         \
        [Q4_K] = {PAIR_OF(HOW, Q4_K), {TILE_OF(HOW, Q4_K, 3, 1)}},                                                  \
        [Q4_0] = {PAIR_OF(HOW, Q4_0), {NULL}, {TILE_OF(HOW, Q4_0, 4, 1)}},                                          \
        [Q7_K] = {PAIR_OF(HOW, Q7_K), {NULL, TILE_OF(HOW, Q7_K, 3, 2), TILE_OF(HOW, Q7_K, 3, 3)}, {TILE_OF(HOW, Q7_K, 4, 1)}}, \
    }
static BlockTile *const block_tiles[WAYS][BLOCK_KINDS][4][MANY] = { /* [how][kind][places - 1][rows - 1] */
    TILES_OF(IN_PAIRS), TILES_OF(IN_FOURS), TILES_OF(IN_FOURS_512),
};
#undef BLOCK_TILE_IN
#undef TILE_IN_PAIRS
#undef TILE_IN_EACH
#undef BLOCK_TILES
#undef SINGLE_TILES
#undef PAIR_TILES
#undef TILE_OF
#undef FOUR_OF
#undef SINGLE_OF
#undef PAIR_OF
#undef TILES_OF

typedef struct {
    Blocks blocks;
    BlockKind kind;
} BlockWeight;

static void multiply_blocks(const Product *of, Tile at, Share channels, int places, ptrdiff_t apart) {
    const ptrdiff_t row = at.row;
    const int rows = at.rows;
    const BlockWeight *weight = of->weight;
    BlockTile *const tile = block_tiles[adding][weight->kind][places - 1][rows - 1];
    const ptrdiff_t pair = apart == TOGETHER ? 2 * TOGETHER * of->width : 0; /* bytes of its levels */
    __m256 sums[MOST_SUMS];
    for (ptrdiff_t c = channels.begin; c < channels.end; c += TOGETHER) {
        Blocks from[4];
        for (int i = 0; i < places; i++) from[i] = blocks_from(weight->blocks, weight->kind, c + i * apart, of->width);
        from[0].ahead = pair <= MOST_AHEAD ? pair : 0; /* the next pair */
        tile(of->x + row * of->width, of->x_sums + row * of->sums, of->x_scales + row * of->scales, from, of->width, sums);
        for (int i = 0; i < places * rows; i++) {
            const ptrdiff_t channel = c + i / rows * apart;
            put_eight(&of->to, row + i % rows, channel, of->to.channels - channel, sums[i]);
        }
    }
}

/* How many sums of a row its products want, and these of some whole rows. */
static ptrdiff_t block_sums(BlockKind kind, ptrdiff_t width) {
    return has_small_groups(kind) ? width / SMALL_GROUP * 2 : width / GROUP;
}

static void sum_blocks(BlockKind kind, const int8_t *x, ptrdiff_t count, int16_t *sums) {
    if (has_small_groups(kind)) sum_offsets(x, count / SMALL_GROUP, sums);
    else sum_groups(x, count / GROUP, sums);
}
