/* Weights in blocks as they lie in memory: the kinds, and how many bytes each takes of what. What is where in them says
 * `block_products.h`. */

enum { K_BLOCK = 256 };
enum { SMALL_GROUP = 16 };

typedef enum { Q4_K, Q5_K, Q6_K, Q4_0, Q3_K, IQ4_NL, IQ4_XS, Q2_K, Q7_K, BLOCK_KINDS } BlockKind;

/* What the codes of IQ4_NL and IQ4_XS stand for, and IQ4_ZERO more. */
enum { IQ4_ZERO = 128 };
static const uint8_t iq4_levels[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};

/* `parts` are the lower four bits of levels, as those of our own four bits lie, the upper ones, what groups have, and
 * what blocks have: factors in half precision, those of all channels side by side. */
typedef struct {
    uint8_t *parts[4];
    ptrdiff_t ahead; /* bytes from what is multiplied to what the memory is to fetch meanwhile */
} Blocks;

/* Bytes that a block of a channel takes of each part. */
static const int shares_of_parts[BLOCK_KINDS][4] = {
    {128, 0, 16, 4}, {128, 32, 16, 4}, {128, 64, 16, 2}, {128, 0, 0, 16},
    {64, 32, 16, 2}, {128, 0, 0, 16},  {128, 0, 8, 2},   {64, 0, 16, 4}, {256, 0, 8, 4},
};

/* Whether each 16 inputs have a step, and their sums are wanted. */
INLINE int has_small_groups(BlockKind kind) { return kind == Q6_K || kind == Q3_K || kind == Q2_K; }

/* Whether groups have a low beside their step, and blocks a factor for lows. */
INLINE int has_lows(BlockKind kind) { return kind == Q4_K || kind == Q5_K || kind == Q2_K; }

/* Of a row; the last one of Q7_K may be shorter, but has whole pairs of groups. */
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
