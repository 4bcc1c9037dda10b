/* Products with weights of eight bits and of bfloat16 in registers of 512 bits, for CPUs with AVX-512 and VNNI.
 *
 * A panel is PANEL channels side by side, a lane of 32 bits for each: weights are [channels / PANEL][bytes of a row / 4][PANEL]
 * [4 bytes], with zeros behind the last channel. Four bytes of a row of x are broadcast to all lanes, so that nothing has to be
 * added up across lanes, and the weight is one stream. (BLIS calls it a packed micro-panel; oneDNN lays its weights out alike.)
 *
 * Of eight bits the sums are whole numbers. Where the CPU multiplies bfloat16 itself, rows are rounded to that, too, as they
 * are in a network of bfloat16, and pairs of products are added to float32, from the first pair to the last: one chain for each
 * row and channel, in calls of any size. */

enum {
    PANEL = 32,             /* channels */
    PANEL_STEP = 4 * PANEL, /* bytes of a panel that four bytes of a row are multiplied with */
    PANEL_ROWS = 12,        /* of a tile */
    PANEL_STRETCH = 128,    /* rows that are multiplied with a panel before the next */
    PANEL_PART = 512,       /* steps of a panel that all of these rows are multiplied with before the next */
    PANEL_AHEAD = 4096,     /* bytes after which a panel is fetched that is read only once */
    MOVED_BY = 128,         /* one operand has no sign: weights of eight bits are moved, and sums of x tell what that brings;
                             * the sums may pass 32 bits on their way, and come back */
};

typedef struct PanelProduct PanelProduct;

struct PanelProduct {
    const int8_t *x;          /* [rows][stride], bytes */
    const int32_t *x_totals;  /* of rows of eight bits; NULL: they are of bfloat16 */
    ptrdiff_t steps, stride;
    const void *weight;       /* panels, or what `write_out` makes them of, in eight bits: some steps of the one at `channel` */
    Result to;
    void (*write_out)(const PanelProduct *of, ptrdiff_t channel, ptrdiff_t first, ptrdiff_t steps, int8_t *panel);
};

/* Some steps of a panel times the rows of a tile. */
typedef struct {
    const int8_t *x, *w;
    ptrdiff_t steps, stride;
    Fetched ahead;
    int begins; /* or adds to the sums */
} PanelCall;

/* Sums [rows][2 halves of the panel]. */
INLINE_512 void panel_rows(const PanelCall *of, int rows, int are_halves, __m512i *sums) {
    const __m512i sign = _mm512_set1_epi8((char)MOVED_BY);
    const int8_t *const x = of->x, *const w = of->w;
    const ptrdiff_t steps = of->steps, stride = of->stride;
    const Fetched ahead = of->ahead;
    __m512i total[PANEL_ROWS * 2];
    if (of->begins)
        UNROLL for (int r = 0; r < rows; r++) total[2 * r] = total[2 * r + 1] = _mm512_setzero_si512();
    else
        UNROLL for (int r = 0; r < rows; r++) total[2 * r] = sums[2 * r], total[2 * r + 1] = sums[2 * r + 1];
    AS_A_LOOP for (ptrdiff_t k = 0; k < steps; k++) {
        const int8_t *const at = w + k * PANEL_STEP;
        __m512i first = _mm512_loadu_si512(at), second = _mm512_loadu_si512(at + 64);
        if (ahead.count) fetch(ahead, 0, at), fetch(ahead, 1, at + 64);
        if (!are_halves) first = _mm512_xor_si512(first, sign), second = _mm512_xor_si512(second, sign);
        UNROLL for (int r = 0; r < rows; r++) {
            const __m512i level = broadcast(x + r * stride + 4 * k);
            if (are_halves) {
                ADD_HALVES(total[2 * r], first, level);
                ADD_HALVES(total[2 * r + 1], second, level);
            } else {
                ADD_PRODUCTS(total[2 * r], first, level);
                ADD_PRODUCTS(total[2 * r + 1], second, level);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++) sums[2 * r] = total[2 * r], sums[2 * r + 1] = total[2 * r + 1];
}

#define PANEL_TILE(KIND, ARE_HALVES, ROWS)                                                                          \
    TILE_512 panel_##KIND##_##ROWS(const PanelCall *of, __m512i *sums) { panel_rows(of, ROWS, ARE_HALVES, sums); }
#define PANEL_TILES(KIND, ARE_HALVES)                                                                               \
    PANEL_TILE(KIND, ARE_HALVES, 1) PANEL_TILE(KIND, ARE_HALVES, 2) PANEL_TILE(KIND, ARE_HALVES, 3)                 \
    PANEL_TILE(KIND, ARE_HALVES, 4) PANEL_TILE(KIND, ARE_HALVES, 5) PANEL_TILE(KIND, ARE_HALVES, 6)                 \
    PANEL_TILE(KIND, ARE_HALVES, 7) PANEL_TILE(KIND, ARE_HALVES, 8) PANEL_TILE(KIND, ARE_HALVES, 9)                 \
    PANEL_TILE(KIND, ARE_HALVES, 10) PANEL_TILE(KIND, ARE_HALVES, 11) PANEL_TILE(KIND, ARE_HALVES, 12)
#define PANEL_TILES_OF(KIND)                                                                                        \
    {panel_##KIND##_1, panel_##KIND##_2, panel_##KIND##_3, panel_##KIND##_4, panel_##KIND##_5, panel_##KIND##_6,    \
     panel_##KIND##_7, panel_##KIND##_8, panel_##KIND##_9, panel_##KIND##_10, panel_##KIND##_11, panel_##KIND##_12}
PANEL_TILES(int8, 0) PANEL_TILES(bfloat16, 1)

static void (*const panel_tiles[2][PANEL_ROWS])(const PanelCall *, __m512i *) = { /* [are_halves][rows - 1] */
    PANEL_TILES_OF(int8), PANEL_TILES_OF(bfloat16),
};
#undef PANEL_TILE
#undef PANEL_TILES
#undef PANEL_TILES_OF

/* A row's sums of a panel, as results of the channels from `channel` on. */
INLINE_512 void put_panel(const PanelProduct *of, ptrdiff_t row, ptrdiff_t channel, const __m512i *sums) {
    for (int half = 0; half < 2; half++) {
        const ptrdiff_t c = channel + half * (PANEL / 2), left = of->to.channels - c;
        __m512 found = _mm512_castsi512_ps(sums[half]);
        if (of->x_totals) {
            const __m512i moved = _mm512_set1_epi32((int32_t)((uint32_t)of->x_totals[row] * MOVED_BY));
            found = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[half], moved));
        }
        put_eight(&of->to, row, c, left, _mm512_castps512_ps256(found));
        put_eight(&of->to, row, c + 8, left - 8, _mm512_extractf32x8_ps(found, 1));
    }
}

/* Rows, at most PANEL_STRETCH of them, times the panel that begins with `channel`. */
static IN_512 void multiply_panel(const PanelProduct *of, Share rows, ptrdiff_t channel) {
    __m512i sums[PANEL_STRETCH * 2];
    int8_t written[PANEL_PART * PANEL_STEP] __attribute__((aligned(ALIGNMENT)));
    /* Only who multiplies it more than once needs it in the cache. */
    const ptrdiff_t most = of->write_out || rows.end - rows.begin > PANEL_ROWS ? PANEL_PART : of->steps;
    for (ptrdiff_t k = 0; k < of->steps; k += most) {
        const ptrdiff_t steps = of->steps - k < most ? of->steps - k : most;
        const int8_t *part = written;
        if (of->write_out) of->write_out(of, channel, k, steps, written);
        else part = (const int8_t *)of->weight + channel * 4 * of->steps + k * PANEL_STEP;
        for (Tile tile = first_tile(rows, PANEL_ROWS); tile.rows; tile = tile_after(tile, rows)) {
            const ptrdiff_t soon = tile.of == 1 ? PANEL_AHEAD : steps * PANEL_STEP;
            const PanelCall call = {
                .x = of->x + tile.row * of->stride + 4 * k, .stride = of->stride, .w = part, .steps = steps,
                .ahead = of->write_out ? (Fetched){0} : next_near(tile, soon), .begins = k == 0,
            };
            panel_tiles[of->x_totals == NULL][tile.rows - 1](&call, sums + 2 * (tile.row - rows.begin));
        }
    }
    for (ptrdiff_t r = rows.begin; r < rows.end; r++) put_panel(of, r, channel, sums + 2 * (r - rows.begin));
}

/* For all threads of a team. */
static void panels_in_team(const PanelProduct *of, ptrdiff_t rows) {
    const Share channels = share_of(of->to.channels, PANEL);
    for (ptrdiff_t row = 0; row < rows; row += PANEL_STRETCH) {
        const Share stretch = {row, row + PANEL_STRETCH < rows ? row + PANEL_STRETCH : rows};
        for (ptrdiff_t c = channels.begin; c < channels.end; c += PANEL) multiply_panel(of, stretch, c);
    }
}

/* --- as they are asked for */

static PanelProduct int8_panels(const int8_t *x, const int32_t *x_totals, ptrdiff_t width, const void *panels, Result to) {
    return (PanelProduct){x, x_totals, width / 4, width, panels, to, NULL};
}

/* From row to row of x, in numbers. Rows that begin a power of two apart would meet in few lines of the cache. */
INLINE ptrdiff_t narrowed_stride(ptrdiff_t width) { return up_to(width, 32) + 32; }

static PanelProduct bfloat16_panels(const uint16_t *x, ptrdiff_t width, const void *panels, Result to) {
    return (PanelProduct){(const int8_t *)x, NULL, width / 2, 2 * narrowed_stride(width), panels, to, NULL};
}

/* Rows of float32, rounded to bfloat16; `width` is even. */
EXPORT int llama_gui_bfloat16_panels(const float *x, ptrdiff_t rows, ptrdiff_t width, const void *panels, ptrdiff_t channels,
                                     const float *bias, float *y) {
    const ptrdiff_t stride = narrowed_stride(width);
    uint16_t *narrowed = aligned(rows * stride * sizeof *narrowed);
    if (narrowed == NULL) return 1;
    const Result to = {y, channels, channels, NULL, bias, NULL, FLOAT32, 0};
    const PanelProduct product = bfloat16_panels(narrowed, width, panels, to);
#pragma omp parallel
    {
#pragma omp for
        for (ptrdiff_t r = 0; r < rows; r++) narrow_row(x + r * width, width, narrowed + r * stride);
        panels_in_team(&product, rows);
    }
    release(narrowed);
    return 0;
}

/* --- four bits, written out in eight for so many rows that they outweigh that: the sums are the same */

enum { WRITTEN_OUT_FOR = 32 }; /* rows, at least */

INLINE int is_written_out(ptrdiff_t rows) { return has_wide && rows >= WRITTEN_OUT_FOR; }

/* Two blocks of channels and a group of each pair, from `levels` (in the lower bits of each byte) to values of eight bits. */
INLINE_512 __m512i int4_values(__m512i levels, __m512i steps, __m512i lows) {
    const __m512i even = _mm512_mullo_epi16(_mm512_and_si512(levels, _mm512_set1_epi16(0xFF)), steps);
    const __m512i odd = _mm512_mullo_epi16(_mm512_srli_epi16(levels, 8), steps);
    return _mm512_add_epi8(_mm512_or_si512(even, _mm512_slli_epi16(odd, 8)), lows);
}

/* The steps of a panel are fours of inputs, sixteen of them for each pair of groups. */
static IN_512 void write_int4_out(const PanelProduct *of, ptrdiff_t channel, ptrdiff_t first, ptrdiff_t steps, int8_t *panel) {
    const ptrdiff_t width = 4 * of->steps, last = (of->to.channels - 1) / TOGETHER * TOGETHER;
    const __m512i low_bits = _mm512_set1_epi8(15);
    for (int half = 0; half < 2; half++) {
        const ptrdiff_t a = channel + half * (PANEL / 2), b = a + TOGETHER; /* behind the last one: that once more */
        const Int4 x = channels_of(*(const Int4 *)of->weight, a < last ? a : last, width);
        const Int4 y = channels_of(*(const Int4 *)of->weight, b < last ? b : last, width);
        for (ptrdiff_t k = first; k < first + steps; k += 16) {
            const __m512i step = _mm512_cvtepu8_epi16(both_quarters(x.steps + k, y.steps + k));
            const __m512i low = _mm512_cvtepu8_epi16(both_quarters((const uint8_t *)x.lows + k, (const uint8_t *)y.lows + k));
            const __m512i lower = _mm512_set1_epi32(0xFFFF), twice = _mm512_set1_epi32(0x10001);
            const __m512i four_times = _mm512_set1_epi32(0x1010101);
            const __m512i first_steps = _mm512_mullo_epi32(_mm512_and_si512(step, lower), twice);
            const __m512i second_steps = _mm512_mullo_epi32(_mm512_srli_epi32(step, 16), twice);
            const __m512i first_lows = _mm512_mullo_epi32(_mm512_and_si512(low, lower), four_times);
            const __m512i second_lows = _mm512_mullo_epi32(_mm512_srli_epi32(low, 16), four_times);
            int8_t *const to = panel + (k - first) * PANEL_STEP + half * 64;
            UNROLL for (int j = 0; j < 8; j++) {
                const uint8_t *const one = x.levels + (k * 16 + j * 32), *const other = y.levels + (k * 16 + j * 32);
                const __m512i both = both_halves(one, other);
                if (j % 2 == 0) {
                    _mm_prefetch((const char *)one + FURTHER, _MM_HINT_T0);
                    _mm_prefetch((const char *)other + FURTHER, _MM_HINT_T0);
                }
                const __m512i high = _mm512_and_si512(_mm512_srli_epi16(both, 4), low_bits);
                _mm512_storeu_si512(to + j * PANEL_STEP,
                                    int4_values(_mm512_and_si512(both, low_bits), first_steps, first_lows));
                _mm512_storeu_si512(to + (8 + j) * PANEL_STEP, int4_values(high, second_steps, second_lows));
            }
        }
    }
}

static PanelProduct int4_panels(const int8_t *x, const int32_t *x_totals, ptrdiff_t width, const Int4 *w, Result to) {
    return (PanelProduct){x, x_totals, width / 4, width, w, to, write_int4_out};
}

/* Lays out rows [channels][steps][4 bytes] as panels. */
EXPORT int llama_gui_place_panels(const void *rows, ptrdiff_t channels, ptrdiff_t steps, void *panels) {
#pragma omp parallel for if (channels * steps > WORTH_SHARING)
    for (ptrdiff_t first = 0; first < channels; first += PANEL) {
        const Four *const from = (const Four *)rows + first * steps;
        Four *const to = (Four *)panels + first * steps;
        for (ptrdiff_t k = 0; k < steps; k++)
            for (ptrdiff_t c = 0; c < PANEL; c++) to[k * PANEL + c] = first + c < channels ? from[c * steps + k] : 0;
    }
    return 0;
}
