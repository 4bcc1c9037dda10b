/* Weights in blocks as they lie in memory: the kinds, and how many bytes each takes of what. What is where in them says
 * `block_products.h`. */

enum { K_BLOCK = 256 };
enum { SMALL_GROUP = 16 };

typedef enum { Q4_K, Q5_K, Q6_K, Q4_0, Q3_K, IQ4_NL, IQ4_XS, Q2_K, MXFP4, Q7_K, BLOCK_KINDS } BlockKind;

/* What the codes of IQ4_NL and IQ4_XS stand for, and IQ4_ZERO more. */
enum { IQ4_ZERO = 128 };
static const uint8_t iq4_levels[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};

/* The same of MXFP4, floats of four bits and twice as large: a sign, two bits of exponent and one of mantissa. */
enum { MXFP4_ZERO = 12 };
static const uint8_t mxfp4_levels[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

INLINE const uint8_t *levels_of_codes(BlockKind kind) { return kind == MXFP4 ? mxfp4_levels : iq4_levels; }
INLINE int zero_of_codes(BlockKind kind) { return kind == MXFP4 ? MXFP4_ZERO : IQ4_ZERO; }

/* `parts` are the lower four bits of levels, as those of our own four bits lie, the upper ones, what groups have, and
 * what blocks have: factors in half precision, those of all channels side by side; of MXFP4 exponents in a byte. */
typedef struct {
    uint8_t *parts[4];
    ptrdiff_t ahead; /* bytes from what is multiplied to what the memory is to fetch meanwhile */
} Blocks;

/* Bytes that a block of a channel takes of each part. */
static const int shares_of_parts[BLOCK_KINDS][4] = {
    {128, 0, 16, 4}, {128, 32, 16, 4}, {128, 64, 16, 2}, {128, 0, 0, 16},
    {64, 32, 16, 2}, {128, 0, 0, 16},  {128, 0, 8, 2},   {64, 0, 16, 4}, {128, 0, 0, 8}, {256, 0, 8, 4},
};

/* Whether each 16 inputs have a step, and their sums are wanted. */
INLINE int has_small_groups(BlockKind kind) { return kind == Q6_K || kind == Q3_K || kind == Q2_K; }

/* Whether groups have a low beside their step, and blocks a factor for lows. */
INLINE int has_lows(BlockKind kind) { return kind == Q4_K || kind == Q5_K || kind == Q2_K; }

/* Of a row; the last one of MXFP4 and Q7_K may be shorter, but has whole pairs of groups. */
INLINE ptrdiff_t blocks_of(ptrdiff_t width) { return (width + K_BLOCK - 1) / K_BLOCK; }

/* Inputs of the block that begins at `block`. */
INLINE ptrdiff_t inputs_of(ptrdiff_t block, ptrdiff_t width) { return block + K_BLOCK < width ? K_BLOCK : width - block; }

/* Bytes that some channels take of a part. */
INLINE ptrdiff_t part_bytes(BlockKind kind, int part, ptrdiff_t channels, ptrdiff_t width) {
    return channels * (part == 3 ? blocks_of(width) * K_BLOCK : width) / K_BLOCK * shares_of_parts[kind][part];
}

/* The channels from `channel` on, a multiple of TOGETHER. */
INLINE Blocks blocks_from(Blocks all, BlockKind kind, ptrdiff_t channel, ptrdiff_t width) {
    UNROLL for (int i = 0; i < 4; i++) all.parts[i] += part_bytes(kind, i, channel, width);
    return all;
}

/* Fill TOGETHER channels with zeros. Some kinds lack a part. */
INLINE void clear_blocks(Blocks to, BlockKind kind, ptrdiff_t width) {
    for (int i = 0; i < 4; i++)
        if (to.parts[i] != NULL) memset(to.parts[i], 0, part_bytes(kind, i, TOGETHER, width));
}

/* Of TOGETHER channels. */
INLINE __m256 factors_at(const uint8_t *at) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at)); }

/* Of TOGETHER channels of MXFP4, whose levels are twice as large: 2 to the power of (exponent - 128). */
INLINE __m256 powers_at(const uint8_t *at) {
    const __m256i exponents = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at));
    const __m256 twice = _mm256_castsi256_ps(_mm256_slli_epi32(exponents, 23)); /* of exponent 0 it would be 0 */
    const __m256i least = _mm256_and_si256(_mm256_cmpeq_epi32(exponents, _mm256_setzero_si256()), _mm256_set1_epi32(1 << 21));
    return _mm256_or_ps(_mm256_mul_ps(twice, _mm256_set1_ps(0.5f)), _mm256_castsi256_ps(least));
}

/* Of group `group` of each of TOGETHER channels, for IQ4_NL and MXFP4. */
INLINE __m256 group_factors(BlockKind kind, const uint8_t *all, ptrdiff_t group) {
    return kind == MXFP4 ? powers_at(all + group * TOGETHER) : factors_at(all + group * 2 * TOGETHER);
}
