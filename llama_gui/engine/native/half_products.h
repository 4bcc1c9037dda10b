/* Products of rows of float32 with weights in half precision. */

enum { BLOCK = 1024 };        /* inputs whose float32 products are added up in one chain */
enum { STEP = 16 };           /* weights of half precision that are read at once */
enum { NEAR_HALF = 24 };      /* channels of half precision that all rows are multiplied with before the next */

/* Sixteen weights as twice eight numbers; bfloat16 as the even and the odd ones, because that takes least. */
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

/* Row `r` of some, which lie as blocks of BLOCK inputs, [blocks][rows][BLOCK]; zeros stand behind the last input of each. */
static void arrange_row(const float *x, ptrdiff_t r, ptrdiff_t rows, ptrdiff_t width, Kind kind, float *to) {
    for (ptrdiff_t start = 0; start < width; start += BLOCK) {
        const ptrdiff_t count = width - start < BLOCK ? width - start : BLOCK;
        float *row = to + start * rows + r * up_to(count, STEP);
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
INLINE void half_step(const float *x, ptrdiff_t stride, const uint16_t *w, int rows, Kind kind, __m256 *total) {
    __m256 first, second;
    load_halves(w, kind, &first, &second);
    UNROLL for (int r = 0; r < rows; r++) total[r] = _mm256_fmadd_ps(first, _mm256_load_ps(x + r * stride), total[r]);
    UNROLL for (int r = 0; r < rows; r++)
        total[r] = _mm256_fmadd_ps(second, _mm256_load_ps(x + r * stride + 8), total[r]);
}

/* Adds one block of some rows times some channels, which lie `apart` weights from each other, to `sums`
 * [rows][NEAR_HALF]. */
INLINE void half_tile(const float *x, const uint16_t *w, ptrdiff_t apart, ptrdiff_t count, int rows, int channels,
                      Kind kind, float *sums) {
    const ptrdiff_t stride = up_to(count, STEP);
    __m256 total[9];
    UNROLL for (int i = 0; i < rows * channels; i++) total[i] = _mm256_setzero_ps();
    ptrdiff_t k = 0;
    for (; k + STEP <= count; k += STEP)
        UNROLL for (int c = 0; c < channels; c++)
            half_step(x + k, stride, w + c * apart + k, rows, kind, total + c * rows);
    if (k < count)
        UNROLL for (int c = 0; c < channels; c++) {
            uint16_t last[STEP] = {0};
            memcpy(last, w + c * apart + k, (count - k) * sizeof *w);
            half_step(x + k, stride, last, rows, kind, total + c * rows);
        }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < channels; c++) sums[r * NEAR_HALF + c] += sum_of_floats(total[c * rows + r]);
}

/* One block of all rows times some channels. */
typedef struct {
    const float *x;
    const uint16_t *w;
    ptrdiff_t width, count, channels; /* of a row, of the block, of the channels */
    float *sums;
    Ahead ahead;
} HalfBlock;

INLINE void half_tiles(HalfBlock *of, ptrdiff_t row, ptrdiff_t end, int rows, int channels, Kind kind) {
    const ptrdiff_t stride = up_to(of->count, STEP);
    ptrdiff_t c = 0;
    for (; c + channels <= of->channels; c += channels)
        for (ptrdiff_t r = row; r < end; r += rows) {
            fetch_some(&of->ahead);
            half_tile(of->x + r * stride, of->w + c * of->width, of->width, of->count, rows, channels, kind,
                      of->sums + r * NEAR_HALF + c);
        }
    for (; c < of->channels; c++)
        for (ptrdiff_t r = row; r < end; r += rows)
            half_tile(of->x + r * stride, of->w + c * of->width, of->width, of->count, rows, 1, kind,
                      of->sums + r * NEAR_HALF + c);
}

/* Few rows times one channel in each of `places` of the weight, `part` channels from each other. */
INLINE void half_places(const float *x, int rows, ptrdiff_t width, const uint16_t *w, Kind kind, int places, ptrdiff_t part,
                        ptrdiff_t channel, const Result *to) {
    float sums[4 * NEAR_HALF] = {0};
    for (ptrdiff_t k = 0; k < width; k += BLOCK)
        half_tile(x + k * rows, w + channel * width + k, part * width, width - k < BLOCK ? width - k : BLOCK, rows, places,
                  kind, sums);
    UNROLL for (int r = 0; r < rows; r++)
        for (int i = 0; i < places; i++) put(to, r, channel + i * part, sums[r * NEAR_HALF + i]);
}

/* Few rows wait for the memory, which is read faster in several streams. */
INLINE void half_streams(const float *x, int rows, ptrdiff_t width, const uint16_t *w, Kind kind, int places, Share all,
                         const Result *to) {
    const ptrdiff_t part = (all.end - all.begin) / places;
    for (ptrdiff_t c = all.begin; c < all.begin + part; c++) half_places(x, rows, width, w, kind, places, part, c, to);
    for (ptrdiff_t c = all.begin + places * part; c < all.end; c++) half_places(x, rows, width, w, kind, 1, 0, c, to);
}

INLINE void half_share(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, Kind kind, Share all,
                       const Result *to, float *sums) {
    switch (rows) {
    case 0: return;
    case 1: half_streams(x, 1, width, w, kind, 4, all, to); return;
    case 2: half_streams(x, 2, width, w, kind, 4, all, to); return;
    case 3: half_streams(x, 3, width, w, kind, 3, all, to); return;
    case 4: half_streams(x, 4, width, w, kind, 2, all, to); return;
    }
    const ptrdiff_t in_threes = rows % 3 == 1 ? rows - 4 : rows / 3 * 3; /* the rest are pairs */
    for (ptrdiff_t c = all.begin; c < all.end; c += NEAR_HALF) {
        HalfBlock block = {.width = width, .channels = all.end - c < NEAR_HALF ? all.end - c : NEAR_HALF, .sums = sums};
        memset(sums, 0, rows * NEAR_HALF * sizeof *sums);
        for (ptrdiff_t k = 0; k < width; k += BLOCK) {
            block.x = x + k * rows, block.w = w + c * width + k;
            block.count = width - k < BLOCK ? width - k : BLOCK;
            const int is_last = k + BLOCK >= width;
            const ptrdiff_t left = all.end - c - (is_last ? NEAR_HALF : 0);
            block.ahead = (Ahead){
                .at = (const char *)(is_last ? w + (c + NEAR_HALF) * width : block.w + BLOCK),
                .channels = left < 0 ? 0 : left < NEAR_HALF ? left : NEAR_HALF,
                .stride = width * sizeof *w,
                .lines = BLOCK * sizeof *w / ALIGNMENT,
                .together = BLOCK * sizeof *w / ALIGNMENT * 9 / rows + 1, /* nine sums in a tile */
            };
            half_tiles(&block, 0, in_threes, 3, 3, kind);
            half_tiles(&block, in_threes, rows, 2, 4, kind);
        }
        for (ptrdiff_t r = 0; r < rows; r++)
            for (ptrdiff_t i = 0; i < block.channels; i++) put(to, r, c + i, sums[r * NEAR_HALF + i]);
    }
}

/* Numbers that a thread needs to add up in. */
static ptrdiff_t half_sums(ptrdiff_t rows) { return up_to(rows * NEAR_HALF, ALIGNMENT / sizeof(float)); }

/* For all threads of a team; `sums` are theirs. */
static void half_in_team(const float *arranged, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, Kind kind, const Result *to,
                         float *sums) {
    const Share share = share_of(to->channels, NEAR_HALF);
    float *own = sums + omp_get_thread_num() * half_sums(rows);
    /* A loop for each: the kind is known where it is compiled. */
    if (kind == FLOAT16) half_share(arranged, rows, width, w, FLOAT16, share, to, own);
    else half_share(arranged, rows, width, w, BFLOAT16, share, to, own);
}

EXPORT int llama_gui_half(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint16_t *w, int weight_kind,
                               ptrdiff_t channels, const float *bias, float *y) {
    const Result to = {y, channels, channels, NULL, bias, NULL, FLOAT32, 0};
    float *arranged = aligned(rows * up_to(width, STEP) * sizeof *x);
    float *sums = aligned(omp_get_max_threads() * half_sums(rows) * sizeof *x);
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
