/* Products of rows of float32 with weights of bfloat16 in codes, in registers of 256 bits, for CPUs that do not multiply bfloat16.
 *
 * Codes are expanded in registers, again for each tile of rows. Products are added up in one chain for each row and channel, from
 * the first input to the last, in calls of any size. */

enum {
    CODED_FEW = 5,        /* up to this many rows codes are expanded in registers; more are multiplied with numbers in memory */
    CODED_WHOLE = 2,      /* a tile of up to this many rows takes all channels of a panel, others half of them */
    CODED_ROWS = 6,       /* at most, of a tile */
    CODED_STRETCH = 120,  /* rows that are multiplied with a panel before the next */
    CODED_PART = 64,      /* pairs of a panel that all of these rows are multiplied with before the next */
    CODED_AHEAD = 2048,   /* how many bytes ahead a panel is prefetched that is read only once */
    HALF = PANEL / 2,     /* channels: eight of the first half of the panel and eight of the second */
    HALF_BYTES = 2 * HALF,/* of a step, lower ones */
};

typedef struct {
    const float *x;
    ptrdiff_t width, stride; /* from row to row */
    const Coded *weight;
    Result to;
} CodedProduct;

/* Some pairs of a panel. */
typedef struct {
    const uint8_t *at;
    ptrdiff_t first, pairs;
    CodedPanel codes;
} CodedPart;

/* A part times the rows of a tile. */
typedef struct {
    const CodedPart *part;
    const float *x, *written; /* numbers [inputs][HALF]; NULL: codes are read */
    const uint8_t *next;      /* what is to be prefetched meanwhile; NULL: nothing */
    ptrdiff_t stride, step;   /* bytes of `next` for each input of `written`, or for each pair of codes */
    int half;                 /* of the channels, where a tile has one */
} CodedCall;

/* Puts the strays of a pair in their places, of one step and half. */
INLINE __m256i with_strays(__m256i upper, const uint32_t *stray, uint32_t step_and_half) {
    uint8_t bytes[HALF_BYTES];
    _mm256_storeu_si256((__m256i *)bytes, upper);
    for (const uint32_t pair = *stray >> 15; *stray >> 15 == pair; stray++)
        if ((*stray >> 13 & 3) == step_and_half) bytes[*stray >> 8 & (HALF_BYTES - 1)] = (uint8_t)*stray;
    return _mm256_loadu_si256((const __m256i *)bytes);
}

/* The upper bytes of a step (0 or 1) of a pair and of half of the channels; `lower`: their lower bytes in the first step. */
INLINE __m256i half_upper(const uint8_t *lower, int step, __m256i table) {
    const __m256i codes = _mm256_loadu_si256((const __m256i *)(lower + PAIR_NUMBERS));
    return _mm256_shuffle_epi8(table, _mm256_and_si256(step ? _mm256_srli_epi16(codes, 4) : codes, _mm256_set1_epi8(CODES - 1)));
}

/* Of both inputs of a step and half of the channels: the numbers of eight of these, and of the eight others. */
typedef struct {
    __m256 first[2], second[2];
} HalfStep;

INLINE HalfStep half_numbers(const uint8_t *lower, int step, __m256i upper) {
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(lower + step * STEP_NUMBERS));
    const __m256i words[2] = {_mm256_unpacklo_epi8(bytes, upper), _mm256_unpackhi_epi8(bytes, upper)};
    HalfStep found;
    UNROLL for (int i = 0; i < 2; i++) {
        found.first[i] = _mm256_castsi256_ps(_mm256_slli_epi32(words[i], 16));
        found.second[i] = _mm256_castsi256_ps(_mm256_and_si256(words[i], _mm256_set1_epi32((int)0xFFFF0000)));
    }
    return found;
}

/* total[rows][groups], two of these, += the numbers of an input, of eight channels in each group. */
INLINE void add_input(int rows, int groups, int group, const __m256 *numbers, const float *x, const float *further,
                      ptrdiff_t stride, __m256 *total) {
    UNROLL for (int r = 0; r < rows; r++) {
        __m256 *const sums = total + r * groups + group, value;
        const float *const at = r < 3 ? x + r * stride : further + (r - 3) * stride;
        if (rows <= CODED_WHOLE) {
            value = _mm256_broadcast_ss(at);
            UNROLL for (int i = 0; i < 2; i++) sums[i] = _mm256_fmadd_ps(numbers[i], value, sums[i]);
        } else { /* gcc would hold what is broadcast until it has no registers left */
            __asm__("vbroadcastss %1, %0" : "=x"(value) : "m"(*at));
            UNROLL for (int i = 0; i < 2; i++) FMA(sums[i], numbers[i], value);
        }
    }
}

INLINE void add_codes(const CodedCall *of, int rows, int halves, __m256 *total) {
    const CodedPart *const part = of->part;
    const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)part->codes.table));
    const int groups = 2 * halves, begin = halves == 1 ? of->half : 0;
    const uint32_t *stray = strays_from(part->codes.strays, part->first);
    const uint8_t *at = part->at, *next = of->next;
    const ptrdiff_t stride = of->stride, end = part->first + part->pairs;
    const float *x = of->x, *further = x + 3 * stride;
    ptrdiff_t strays_at = *stray >> 15;
    AS_A_LOOP for (ptrdiff_t pair = part->first; pair < end; pair++, at += CODED_PAIR, x += 4, further += 4) {
        if (next) {
            fetch_line(next), fetch_line(next + 64), fetch_line(next + 128);
            next += CODED_PAIR;
        }
        UNROLL for (int i = 0; i < 2 * halves; i++) {
            const int half = i / 2, step = i % 2;
            const uint8_t *const lower = at + HALF_BYTES * (begin + half);
            __m256i upper = half_upper(lower, step, table);
            if (__builtin_expect(pair == strays_at, 0)) upper = with_strays(upper, stray, 2 * step + begin + half);
            const HalfStep both = half_numbers(lower, step, upper);
            add_input(rows, groups, 2 * half, both.first, x + 2 * step, further + 2 * step, stride, total);
            add_input(rows, groups, 2 * half, both.second, x + 2 * step + 1, further + 2 * step + 1, stride, total);
        }
        if (__builtin_expect(pair == strays_at, 0)) {
            stray = strays_from(stray, pair + 1);
            strays_at = *stray >> 15;
        }
    }
}

/* Expands half of the channels of a part to numbers, [inputs][HALF]. */
static void write_half(const CodedPart *part, int half, float *to) {
    const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)part->codes.table));
    const uint32_t *stray = strays_from(part->codes.strays, part->first);
    for (ptrdiff_t pair = part->first; pair < part->first + part->pairs; pair++) {
        const uint8_t *const lower = part->at + (pair - part->first) * CODED_PAIR + HALF_BYTES * half;
        const int has_strays = *stray >> 15 == (size_t)pair;
        UNROLL for (int step = 0; step < 2; step++, to += 2 * HALF) {
            __m256i upper = half_upper(lower, step, table);
            if (__builtin_expect(has_strays, 0)) upper = with_strays(upper, stray, 2 * step + half);
            const HalfStep both = half_numbers(lower, step, upper);
            UNROLL for (int i = 0; i < 2; i++) {
                _mm256_store_ps(to + 8 * i, both.first[i]);
                _mm256_store_ps(to + HALF + 8 * i, both.second[i]);
            }
        }
        if (__builtin_expect(has_strays, 0)) stray = strays_from(stray, pair + 1);
    }
}

INLINE void add_written(const CodedCall *of, int rows, __m256 *total) {
    const float *x = of->x, *further = x + 3 * of->stride, *w = of->written;
    const float *const end = w + 4 * HALF * of->part->pairs;
    const uint8_t *next = of->next;
    AS_A_LOOP for (; w < end; w += HALF, x++, further++) {
        const __m256 numbers[2] = {_mm256_load_ps(w), _mm256_load_ps(w + 8)};
        if (next) {
            fetch_line(next);
            next += of->step;
        }
        add_input(rows, 2, 0, numbers, x, further, of->stride, total);
    }
}

/* Sums [rows][PANEL], which begin at zero with the first pair. */
INLINE void coded_tile(const CodedCall *of, int rows, int halves, int is_written, float *sums) {
    const int groups = 2 * halves;
    const ptrdiff_t begin = halves == 1 ? 8 * of->half : 0;
    __m256 total[CODED_ROWS * 2];
    UNROLL for (int i = 0; i < rows * groups; i++) {
        float *const at = sums + i / groups * PANEL + begin + i % groups / 2 * 8 + i % 2 * HALF;
        total[i] = of->part->first == 0 ? _mm256_setzero_ps() : _mm256_loadu_ps(at);
    }
    if (is_written) add_written(of, rows, total);
    else add_codes(of, rows, halves, total);
    UNROLL for (int i = 0; i < rows * groups; i++)
        _mm256_storeu_ps(sums + i / groups * PANEL + begin + i % groups / 2 * 8 + i % 2 * HALF, total[i]);
}

#define CODED_TILE(ROWS, HALVES)                                                                                    \
    TILE coded_tile_##ROWS(const CodedCall *of, float *sums) { coded_tile(of, ROWS, HALVES, 0, sums); }
#define WRITTEN_TILE(ROWS)                                                                                          \
    TILE written_tile_##ROWS(const CodedCall *of, float *sums) { coded_tile(of, ROWS, 1, 1, sums); }
CODED_TILE(1, 2) CODED_TILE(2, 2) CODED_TILE(3, 1) CODED_TILE(4, 1) CODED_TILE(5, 1)
WRITTEN_TILE(3) WRITTEN_TILE(4) WRITTEN_TILE(5) WRITTEN_TILE(6)
#undef CODED_TILE
#undef WRITTEN_TILE

typedef void CodedTile(const CodedCall *, float *);
static CodedTile *const coded_tiles[CODED_FEW] = {coded_tile_1, coded_tile_2, coded_tile_3, coded_tile_4, coded_tile_5};
static CodedTile *const written_tiles[CODED_ROWS] = { /* more than CODED_FEW rows are shared out among no smaller ones */
    NULL, NULL, written_tile_3, written_tile_4, written_tile_5, written_tile_6};

/* Few rows times a panel. */
static void multiply_with_codes(const CodedProduct *of, const CodedPart *part, int rows, ptrdiff_t row, float *sums) {
    CodedCall call = {part, of->x + row * of->stride, NULL, part->at + CODED_AHEAD, of->stride, 0, 0};
    coded_tiles[rows - 1](&call, sums);
    if (rows <= CODED_WHOLE) return;
    call.half = 1, call.next = NULL;
    coded_tiles[rows - 1](&call, sums);
}

/* Many rows times some pairs of a panel. */
static void multiply_written(const CodedProduct *of, const CodedPart *part, Share rows, float *sums) {
    float written[4 * CODED_PART * HALF] __attribute__((aligned(ALIGNMENT)));
    const ptrdiff_t size = part->pairs * CODED_PAIR, tiles = (rows.end - rows.begin + CODED_ROWS - 1) / CODED_ROWS;
    const ptrdiff_t fetching = tiles > 1 ? 4 : 2; /* calls, which share the next part out among them */
    ptrdiff_t calls = 0;
    for (int half = 0; half < 2; half++) {
        write_half(part, half, written);
        for (Tile tile = first_tile(rows, CODED_ROWS); tile.rows; tile = tile_after(tile, rows), calls++) {
            const float *const x = of->x + tile.row * of->stride + 4 * part->first;
            const uint8_t *const next = calls < fetching ? part->at + size + calls * (size / fetching) : NULL;
            const CodedCall call = {part, x, written, next, of->stride, CODED_PAIR / 4 / fetching, half};
            written_tiles[tile.rows - 1](&call, sums + (tile.row - rows.begin) * PANEL);
        }
    }
}

/* Rows, at most CODED_STRETCH of them, times the panel that begins with `channel`. */
static void multiply_coded(const CodedProduct *of, Share rows, ptrdiff_t channel) {
    float sums[CODED_STRETCH * PANEL];
    const ptrdiff_t pairs = of->width / 4, count = rows.end - rows.begin;
    CodedPart part = {.at = of->weight->pairs + channel / PANEL * pairs * CODED_PAIR, .pairs = pairs,
                      .codes = coded_panel(of->weight, channel)};
    if (count <= CODED_FEW) {
        multiply_with_codes(of, &part, (int)count, rows.begin, sums);
    } else {
        for (; part.first < pairs; part.first += CODED_PART, part.at += CODED_PART * CODED_PAIR) {
            part.pairs = pairs - part.first < CODED_PART ? pairs - part.first : CODED_PART;
            multiply_written(of, &part, rows, sums);
        }
    }
    for (ptrdiff_t r = rows.begin; r < rows.end; r++)
        for (ptrdiff_t c = 0; c < PANEL; c += 8)
            put_eight(&of->to, r, channel + c, of->to.channels - channel - c,
                      _mm256_loadu_ps(sums + (r - rows.begin) * PANEL + c));
}

/* For all threads of a team. */
static void coded_in_team(const CodedProduct *of, ptrdiff_t rows) {
    for (ptrdiff_t row = 0; row < rows; row += CODED_STRETCH) {
        const Share stretch = {row, row + CODED_STRETCH < rows ? row + CODED_STRETCH : rows};
#pragma omp for schedule(guided) nowait
        for (ptrdiff_t c = 0; c < of->to.channels; c += PANEL) multiply_coded(of, stretch, c);
    }
}
