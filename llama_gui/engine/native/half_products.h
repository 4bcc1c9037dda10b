/* Products of rows of float32 with weights in half precision. */

enum { BLOCK = 512 };         /* inputs whose float32 products are added up in one chain; those of a row lie together */
enum { STEP = 16 };           /* weights of half precision that are read at once */
enum { NEAR_HALF = 24 };      /* channels that all rows are multiplied with before the next ones */
enum { WIDE = 6 };            /* rows of a tile of two channels; of fewer than five it has three */

/* Sixteen weights as twice eight numbers; of bfloat16 the even and the odd ones, which is cheapest. */
INLINE void load_halves(const uint16_t *w, Kind kind, __m256 *first, __m256 *second) {
    __m256i bits = _mm256_loadu_si256((const __m256i *)w);
    if (kind == FLOAT16) {
        *first = _mm256_cvtph_ps(_mm256_castsi256_si128(bits));
        *second = _mm256_cvtph_ps(_mm256_extracti128_si256(bits, 1));
    } else {
        *first = _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
        *second = _mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_set1_epi32((int)0xFFFF0000)));
    }
}

/* Sixteen inputs in the order of their weights. */
INLINE void arrange(const float *x, Kind kind, float *to) {
    __m256 low = _mm256_loadu_ps(x), high = _mm256_loadu_ps(x + 8);
    if (kind == BFLOAT16) {
        __m256 even = _mm256_shuffle_ps(low, high, 0x88), odd = _mm256_shuffle_ps(low, high, 0xDD);
        low = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even), 0xD8));
        high = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(odd), 0xD8));
    }
    _mm256_store_ps(to, low);
    _mm256_store_ps(to + 8, high);
}

/* Row `r` of some, which are to lie as blocks of BLOCK inputs, [blocks][rows][BLOCK]; zeros stand behind the last input. */
static void arrange_row(const float *x, ptrdiff_t r, ptrdiff_t rows, ptrdiff_t width, Kind kind, float *to) {
    for (ptrdiff_t start = 0; start < width; start += BLOCK) {
        const ptrdiff_t count = width - start < BLOCK ? width - start : BLOCK;
        float *row = to + start * rows + r * BLOCK;
        ptrdiff_t k = 0;
        for (; k + STEP <= count; k += STEP) arrange(x + start + k, kind, row + k);
        if (k < count) {
            float last[STEP] = {0};
            memcpy(last, x + start + k, (count - k) * sizeof *x);
            arrange(last, kind, row + k);
        }
    }
}

/* Sixteen weights of a channel times some rows. */
INLINE void half_step(const float *x, const uint16_t *w, int rows, Kind kind, __m256 *total) {
    __m256 first, second;
    load_halves(w, kind, &first, &second);
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm256_fmadd_ps(first, _mm256_load_ps(x + r * BLOCK), total[r]);
    UNROLL for (int r = 0; r < rows; r++)
        total[r] = _mm256_fmadd_ps(second, _mm256_load_ps(x + r * BLOCK + 8), total[r]);
}

/* Few rows times one channel in each of `places` of the weight, `part` channels from each other. */
INLINE void half_places(const float *x, int rows, ptrdiff_t width, const uint16_t *w, Kind kind, int places, ptrdiff_t part,
                        ptrdiff_t channel, const Result *to) {
    const ptrdiff_t apart = part * width;
    __m256 sums[MOST_SUMS];
    UNROLL for (int i = 0; i < rows * places; i++) sums[i] = _mm256_setzero_ps();
    w += channel * width;
    for (ptrdiff_t start = 0; start < width; start += BLOCK) {
        const ptrdiff_t count = width - start < BLOCK ? width - start : BLOCK;
        const float *block = x + start * rows;
        __m256 total[MOST_SUMS];
        UNROLL for (int i = 0; i < rows * places; i++) total[i] = _mm256_setzero_ps();
        ptrdiff_t k = 0;
        for (; k + STEP <= count; k += STEP)
            UNROLL for (int i = 0; i < places; i++)
                half_step(block + k, w + i * apart + start + k, rows, kind, total + i * rows);
        if (k < count)
            UNROLL for (int i = 0; i < places; i++) {
                uint16_t last[STEP] = {0};
                memcpy(last, w + i * apart + start + k, (count - k) * sizeof *w);
                half_step(block + k, last, rows, kind, total + i * rows);
            }
        UNROLL for (int i = 0; i < rows * places; i++) sums[i] = _mm256_add_ps(sums[i], total[i]);
    }
    UNROLL for (int i = 0; i < rows * places; i++) put(to, i % rows, channel + i / rows * part, sum_of_floats(sums[i]));
}

/* Few rows wait for the memory, which is read faster in several streams. */
INLINE void half_streams(const float *x, int rows, ptrdiff_t width, const uint16_t *w, Kind kind, int places, Share all,
                         const Result *to) {
    const ptrdiff_t part = (all.end - all.begin) / places;
    for (ptrdiff_t c = all.begin; c < all.begin + part; c++) half_places(x, rows, width, w, kind, places, part, c, to);
    for (ptrdiff_t c = all.begin + places * part; c < all.end; c++) half_places(x, rows, width, w, kind, 1, 0, c, to);
}

/* total += a * b. gcc would read `b` from memory each time, or run out of registers. */
#define FMA(total, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+x"(total) : "x"(a), "x"(b))

/* Those of the sixteen weights of `load_halves` that are multiplied first, or the others. */
INLINE __m256 load_half(const uint16_t *w, Kind kind, int are_others) {
    static const uint32_t upper[8] __attribute__((aligned(32))) = {
        0xFFFF0000u, 0xFFFF0000u, 0xFFFF0000u, 0xFFFF0000u, 0xFFFF0000u, 0xFFFF0000u, 0xFFFF0000u, 0xFFFF0000u};
    __m256 found;
    if (kind == FLOAT16) return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(w + 8 * are_others)));
    if (!are_others) return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)w), 16));
    /* There is no register left for the mask. */
    __asm__("vmovdqa %1, %0\n\tvpand %2, %0, %0"
            : "=&x"(found) : "m"(*(const __m256i *)upper), "m"(*(const __m256i_u *)w));
    return found;
}

/* As `half_step` for each of some channels, with each row read once. */
INLINE void half_steps(const float *x, const uint16_t *w, ptrdiff_t apart, int rows, int channels, Kind kind, __m256 *total) {
    UNROLL for (int are_others = 0; are_others < 2; are_others++) {
        __m256 weight[3];
        UNROLL for (int c = 0; c < channels; c++) weight[c] = load_half(w + c * apart, kind, are_others);
        UNROLL for (int r = 0; r < rows; r++) {
            const __m256 value = _mm256_load_ps(x + r * BLOCK + 8 * are_others);
            UNROLL for (int c = 0; c < channels; c++) FMA(total[c * rows + r], weight[c], value);
        }
    }
}

/* What is needed soon: a block of one or two channels, which is prefetched while others are multiplied. */
typedef struct {
    const uint16_t *first, *second; /* NULL: nothing; the same twice: one */
} NextChannels;

/* Adds a block of some rows times some channels, which lie `apart` weights from each other, to `sums` [rows][NEAR_HALF]. */
INLINE void half_tile(const float *x, const uint16_t *w, ptrdiff_t apart, ptrdiff_t inputs, int rows, int channels,
                      Kind kind, NextChannels next, __m256 *sums) {
    __m256 total[12];
    UNROLL for (int i = 0; i < rows * channels; i++) total[i] = _mm256_setzero_ps();
    ptrdiff_t k = 0;
    if (next.first) {
        const uint16_t *line = next.first;
        for (; k + STEP <= inputs && k < BLOCK / 2; k += STEP, line += 2 * STEP) {
            fetch_line(line);
            half_steps(x + k, w + k, apart, rows, channels, kind, total);
        }
        line = next.second;
        for (; k + STEP <= inputs; k += STEP, line += 2 * STEP) {
            fetch_line(line);
            half_steps(x + k, w + k, apart, rows, channels, kind, total);
        }
    }
    AS_A_LOOP for (; k + STEP <= inputs; k += STEP) half_steps(x + k, w + k, apart, rows, channels, kind, total);
    if (k < inputs)
        UNROLL for (int c = 0; c < channels; c++) {
            uint16_t last[STEP] = {0};
            memcpy(last, w + c * apart + k, (inputs - k) * sizeof *w);
            half_step(x + k, last, rows, kind, total + c * rows);
        }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < channels; c++)
            sums[r * NEAR_HALF + c] = _mm256_add_ps(sums[r * NEAR_HALF + c], total[c * rows + r]);
}

#define HALF_TILE(ROWS, CHANNELS)                                                                                   \
    TILE half_##ROWS##_##CHANNELS(const float *x, const uint16_t *w, ptrdiff_t apart, ptrdiff_t inputs, Kind kind,  \
                                  NextChannels next, __m256 *sums) {                                                \
        if (kind == FLOAT16) half_tile(x, w, apart, inputs, ROWS, CHANNELS, FLOAT16, next, sums);                   \
        else half_tile(x, w, apart, inputs, ROWS, CHANNELS, BFLOAT16, next, sums);                                  \
    }
HALF_TILE(3, 3) HALF_TILE(4, 3) HALF_TILE(5, 2) HALF_TILE(6, 2)
HALF_TILE(3, 1) HALF_TILE(4, 1) HALF_TILE(5, 1) HALF_TILE(6, 1)
#undef HALF_TILE

typedef void HalfTile(const float *, const uint16_t *, ptrdiff_t, ptrdiff_t, Kind, NextChannels, __m256 *);
static HalfTile *const half_tiles[WIDE + 1][4] = { /* [rows][channels] */
    [3] = {NULL, half_3_1, NULL, half_3_3}, [4] = {NULL, half_4_1, NULL, half_4_3},
    [5] = {NULL, half_5_1, half_5_2}, [WIDE] = {NULL, half_6_1, half_6_2},
};

/* One block of all rows, at least five, times some channels. */
typedef struct {
    const float *x;
    const uint16_t *w, *next; /* the block that comes next */
    ptrdiff_t rows, width, inputs, channels, next_channels;
    Kind kind;
    __m256 *sums; /* [rows][NEAR_HALF] */
} HalfBlock;

/* Of channels that are multiplied at a time. */
INLINE int half_channels(ptrdiff_t rows) { return rows < 5 ? 3 : 2; }

/* For the `call`th of `calls` tiles. */
INLINE NextChannels next_of(const HalfBlock *of, ptrdiff_t call, ptrdiff_t calls) {
    const ptrdiff_t first = call * NEAR_HALF / calls, second = calls < NEAR_HALF ? first + 1 : first;
    if (call >= calls || second >= of->next_channels) return (NextChannels){NULL, NULL};
    return (NextChannels){of->next + first * of->width, of->next + second * of->width};
}

/* Rows in tiles of three to six, as even as possible. What is needed next is prefetched during the first two of them. */
static void half_block(HalfBlock *of) {
    ptrdiff_t tiles = (of->rows + WIDE - 1) / WIDE, row = 0, call = 0;
    const ptrdiff_t first = (of->rows + tiles - 1) / tiles;
    ptrdiff_t calls = NEAR_HALF / half_channels(first);
    if (tiles > 1) calls += NEAR_HALF / half_channels((of->rows - first + tiles - 2) / (tiles - 1));
    for (; tiles; tiles--) {
        const int rows = (int)((of->rows - row + tiles - 1) / tiles), most = half_channels(rows);
        for (ptrdiff_t c = 0; c < of->channels; call++) {
            const int some = of->channels - c < most ? 1 : most;
            half_tiles[rows][some](of->x + row * BLOCK, of->w + c * of->width, of->width, of->inputs, of->kind,
                                   next_of(of, call, calls), of->sums + row * NEAR_HALF + c);
            c += some;
        }
        row += rows;
    }
}

/* The sums of eight vectors, each with the bits of `sum_of_floats`. */
INLINE __m256 eight_sums(const __m256 *v) {
    __m256 two[4];
    UNROLL for (int i = 0; i < 4; i++)
        two[i] = _mm256_add_ps(_mm256_permute2f128_ps(v[i], v[i + 4], 0x20), _mm256_permute2f128_ps(v[i], v[i + 4], 0x31));
    __m256 low = _mm256_add_ps(_mm256_shuffle_ps(two[0], two[1], 0x44), _mm256_shuffle_ps(two[0], two[1], 0xEE));
    __m256 high = _mm256_add_ps(_mm256_shuffle_ps(two[2], two[3], 0x44), _mm256_shuffle_ps(two[2], two[3], 0xEE));
    return _mm256_add_ps(_mm256_shuffle_ps(low, high, 0x88), _mm256_shuffle_ps(low, high, 0xDD));
}

INLINE void half_share(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, Kind kind, Share all,
                       const Result *to, __m256 *sums) {
    switch (rows) {
    case 0: return;
    case 1: half_streams(x, 1, width, w, kind, 4, all, to); return;
    case 2: half_streams(x, 2, width, w, kind, 4, all, to); return;
    case 3: half_streams(x, 3, width, w, kind, 3, all, to); return;
    case 4: half_streams(x, 4, width, w, kind, 2, all, to); return;
    }
    for (ptrdiff_t c = all.begin; c < all.end; c += NEAR_HALF) {
        HalfBlock block = {.rows = rows, .width = width, .kind = kind, .sums = sums,
                           .channels = all.end - c < NEAR_HALF ? all.end - c : NEAR_HALF};
        memset(sums, 0, rows * NEAR_HALF * sizeof *sums);
        for (ptrdiff_t k = 0; k < width; k += BLOCK) {
            const int is_last = k + BLOCK >= width;
            const ptrdiff_t left = all.end - c - (is_last ? NEAR_HALF : 0);
            block.x = x + k * rows, block.w = w + c * width + k;
            block.inputs = is_last ? width - k : BLOCK;
            block.next = is_last ? w + (c + NEAR_HALF) * width : block.w + BLOCK;
            block.next_channels = left < NEAR_HALF ? left : NEAR_HALF;
            half_block(&block);
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            for (ptrdiff_t i = 0; i < block.channels; i += 8)
                put_eight(to, r, c + i, block.channels - i, eight_sums(sums + r * NEAR_HALF + i));
    }
}

/* Vectors that a thread needs to add up in. */
static ptrdiff_t half_sums(ptrdiff_t rows) { return rows * NEAR_HALF; }

/* For all threads of a team; `sums` are theirs. */
static void half_in_team(const float *arranged, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, Kind kind, const Result *to,
                         __m256 *sums) {
    const Share share = share_of(to->channels, NEAR_HALF);
    __m256 *own = sums + omp_get_thread_num() * half_sums(rows);
    /* A call for each, so that the kind is a constant in the compiled loop. */
    if (kind == FLOAT16) half_share(arranged, rows, width, w, FLOAT16, share, to, own);
    else half_share(arranged, rows, width, w, BFLOAT16, share, to, own);
}

EXPORT int llama_gui_half(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, int weight_kind,
                          ptrdiff_t channels, const float *bias, float *y) {
    const Result to = {y, channels, channels, NULL, bias, NULL, FLOAT32, 0};
    float *arranged = aligned(rows * up_to(width, BLOCK) * sizeof *x);
    __m256 *sums = aligned(omp_get_max_threads() * half_sums(rows) * sizeof *sums);
    if (arranged && sums) {
#pragma omp parallel
        {
#pragma omp for
            for (ptrdiff_t r = 0; r < rows; r++) arrange_row(x + r * width, r, rows, width, (Kind)weight_kind, arranged);
            half_in_team(arranged, rows, width, w, (Kind)weight_kind, &to, sums);
        }
    }
    const int failed = !arranged || !sums;
    release(arranged);
    release(sums);
    return failed;
}
