/* Products with weights of eight bits and of bfloat16 in registers of 512 bits, for CPUs with AVX-512 and VNNI.
 *
 * A panel is PANEL channels side by side, a lane of 32 bits for each: weights are [channels / PANEL][inputs / 4][PANEL]
 * [4 inputs], with zeros behind the last channel. Four bytes of a row of x are broadcast to all lanes, so that nothing has to be
 * added up across lanes, and the weight is one stream. (BLIS calls it a packed micro-panel; oneDNN lays its weights out alike.)
 *
 * With eight bits the sums are integers. Weights of bfloat16 are stored in codes, see coded_panels.h, which are expanded in
 * registers, again for each tile of rows. Where the CPU multiplies bfloat16, rows are rounded to it, too, as they are in a network
 * of bfloat16, and pairs of products are added to float32, from the first pair to the last: one chain for each row and channel, in
 * calls of any size. */

enum {
    PANEL_STEP = 4 * PANEL, /* bytes of a panel that four bytes of a row are multiplied with */
    PANEL_ROWS = 12,        /* of a tile */
    PANEL_STRETCH = 128,    /* rows that are multiplied with a panel before the next */
    PANEL_PART = 512,       /* steps of a panel that all of these rows are multiplied with before the next; even */
    INT4_STEP = 16,         /* bytes of a block of channels in four bits that become a step of a panel */
    FEW_ROWS = 6,           /* of a tile; up to this many it is limited by memory, not by arithmetic */
    PANEL_AHEAD = 4096,     /* how many bytes ahead a panel is prefetched that is read only once; */
    PANEL_EARLY = 16384,    /* with more rows it is prefetched into the second-level cache this far ahead, */
    PANEL_NEAR = 2048,      /* and from there into the first this far ahead */
    MOVED_BY = 128,         /* one operand has no sign: weights of eight bits are moved, and sums of x tell what that brings;
                             * the sums may pass 32 bits on their way, and come back */
};

typedef struct PanelProduct PanelProduct;

struct PanelProduct {
    const int8_t *x;          /* [rows][stride], bytes */
    const int32_t *x_totals;  /* of rows of eight bits */
    ptrdiff_t steps, stride;
    const void *weight;       /* panels, or what `write_out` makes them of, or Coded */
    Result to;
    /* Some steps of the panel at `channel`; NULL: panels they are. */
    void (*write_out)(const PanelProduct *of, ptrdiff_t channel, ptrdiff_t first, ptrdiff_t steps, int8_t *panel);
    int has_codes;
};

/* What is to be prefetched meanwhile, this many bytes ahead of each step (with codes: a pair ahead of each pair): the first line
 * there, the one or two others, or all. `is_again`: with many rows also what was fetched early, because it is needed soon. */
typedef struct {
    const uint8_t *at;
    ptrdiff_t step;
    int has_first, has_others, is_again;
} Meanwhile;

/* Lines `first` to `last` of what is prefetched with a step. */
INLINE void fetch_step(int rows, Meanwhile next, const uint8_t *at, int first, int last) {
    UNROLL for (int i = first; i <= last; i++) {
        if (rows <= FEW_ROWS) {
            fetch_line(at + i * ALIGNMENT);
        } else {
            fetch_line_early(at + i * ALIGNMENT);
            if (next.is_again) fetch_line(at + i * ALIGNMENT + PANEL_NEAR - PANEL_EARLY);
        }
    }
}

/* Some steps of a panel times the rows of a tile. */
typedef struct {
    const int8_t *x;
    const void *w;
    ptrdiff_t steps, stride, first; /* of the panel's steps */
    Meanwhile next;
    CodedPanel codes;
} PanelCall;

/* Sums [rows][2 halves of the panel], which begin at zero with the first step. */
INLINE_512 void begin_sums(int rows, ptrdiff_t first, const __m512i *sums, __m512i *total) {
    if (first == 0)
        UNROLL for (int r = 0; r < rows; r++) total[2 * r] = total[2 * r + 1] = _mm512_setzero_si512();
    else
        UNROLL for (int r = 0; r < rows; r++) total[2 * r] = sums[2 * r], total[2 * r + 1] = sums[2 * r + 1];
}

INLINE_512 void end_sums(int rows, const __m512i *total, __m512i *sums) {
    UNROLL for (int r = 0; r < rows; r++) sums[2 * r] = total[2 * r], sums[2 * r + 1] = total[2 * r + 1];
}

INLINE_512 void panel_rows(const PanelCall *of, int rows, __m512i *sums) {
    const __m512i sign = _mm512_set1_epi8((char)MOVED_BY);
    const int8_t *const x = of->x, *const w = of->w;
    const ptrdiff_t steps = of->steps, stride = of->stride;
    const Meanwhile next = of->next;
    __m512i total[PANEL_ROWS * 2];
    begin_sums(rows, of->first, sums, total);
    AS_A_LOOP for (ptrdiff_t k = 0; k < steps; k++) {
        const int8_t *const at = w + k * PANEL_STEP;
        const __m512i first = _mm512_xor_si512(_mm512_loadu_si512(at), sign);
        const __m512i second = _mm512_xor_si512(_mm512_loadu_si512(at + 64), sign);
        if (next.has_first) fetch_step(rows, next, next.at + k * next.step, 0, 0);
        if (next.has_others) fetch_step(rows, next, next.at + k * next.step, 1, 1);
        UNROLL for (int r = 0; r < rows; r++) {
            const __m512i levels = broadcast(x + r * stride + 4 * k);
            ADD_PRODUCTS(total[2 * r], first, levels);
            ADD_PRODUCTS(total[2 * r + 1], second, levels);
        }
    }
    end_sums(rows, total, sums);
}

/* A step of a weight of bfloat16: two inputs of the first half of the channels, and of the second. */
INLINE_512 void add_halves(int rows, __m512i first, __m512i second, const int8_t *x, ptrdiff_t stride, __m512i *total) {
    UNROLL for (int r = 0; r < rows; r++) {
        const __m512i both = broadcast(x + r * stride);
        ADD_HALVES(total[2 * r], first, both);
        ADD_HALVES(total[2 * r + 1], second, both);
    }
}

/* The upper bytes of a pair: of its first step, and of its second. */
typedef struct {
    __m512i one, other;
} UpperBytes;

INLINE_512 UpperBytes upper_bytes(const uint8_t *pair, __m512i table) {
    const __m512i codes = _mm512_loadu_si512(pair + PAIR_NUMBERS), low_bits = _mm512_set1_epi8(CODES - 1);
    return (UpperBytes){_mm512_shuffle_epi8(table, _mm512_and_si512(codes, low_bits)),
                        _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(codes, 4), low_bits))};
}

/* Puts one in its place. */
INLINE_512 UpperBytes with_stray(UpperBytes bytes, uint32_t stray) {
    const uint64_t place = 1ull << (stray >> 8 & (STEP_NUMBERS - 1));
    const int is_other = stray >> 14 & 1;
    return (UpperBytes){_mm512_mask_set1_epi8(bytes.one, is_other ? 0 : place, (char)stray),
                        _mm512_mask_set1_epi8(bytes.other, is_other ? place : 0, (char)stray)};
}

INLINE_512 __m512i table_of(const CodedPanel *of) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)of->table));
}

INLINE_512 void coded_rows(const PanelCall *of, int rows, __m512i *sums) {
    const uint8_t *at = of->w;
    const int8_t *x = of->x;
    const ptrdiff_t stride = of->stride, end = (of->first + of->steps) / 2;
    const __m512i table = table_of(&of->codes);
    const Meanwhile next = of->next;
    const uint32_t *stray = strays_from(of->codes.strays, of->first / 2);
    __m512i total[PANEL_ROWS * 2];
    begin_sums(rows, of->first, sums, total);
    ptrdiff_t pair = of->first / 2, strays_at = *stray >> 15;
    const uint8_t *line = next.at;
    AS_A_LOOP for (; pair < end; pair++, at += CODED_PAIR, x += 8, line += CODED_PAIR) {
        if (next.has_first) fetch_step(rows, next, line, 0, 0);
        if (next.has_others) fetch_step(rows, next, line, 1, 2);
        UpperBytes upper = upper_bytes(at, table);
        while (__builtin_expect(pair == strays_at, 0)) {
            upper = with_stray(upper, *stray);
            strays_at = *++stray >> 15;
        }
        const __m512i one = _mm512_loadu_si512(at), other = _mm512_loadu_si512(at + STEP_NUMBERS);
        add_halves(rows, _mm512_unpacklo_epi8(one, upper.one), _mm512_unpackhi_epi8(one, upper.one), x, stride, total);
        add_halves(rows, _mm512_unpacklo_epi8(other, upper.other), _mm512_unpackhi_epi8(other, upper.other), x + 4, stride,
                   total);
    }
    end_sums(rows, total, sums);
}

#define PANEL_TILE(ROWS)                                                                                            \
    TILE_512 panel_##ROWS(const PanelCall *of, __m512i *sums) { panel_rows(of, ROWS, sums); }                       \
    TILE_512 wide_coded_##ROWS(const PanelCall *of, __m512i *sums) { coded_rows(of, ROWS, sums); }
PANEL_TILE(1) PANEL_TILE(2) PANEL_TILE(3) PANEL_TILE(4) PANEL_TILE(5) PANEL_TILE(6)
PANEL_TILE(7) PANEL_TILE(8) PANEL_TILE(9) PANEL_TILE(10) PANEL_TILE(11) PANEL_TILE(12)

#define ALL_TILES(KIND)                                                                                             \
    {KIND##_1, KIND##_2, KIND##_3, KIND##_4, KIND##_5, KIND##_6, KIND##_7, KIND##_8, KIND##_9, KIND##_10, KIND##_11, KIND##_12}
static void (*const panel_tiles[2][PANEL_ROWS])(const PanelCall *, __m512i *) = { /* [has_codes][rows - 1] */
    ALL_TILES(panel), ALL_TILES(wide_coded),
};
#undef PANEL_TILE
#undef ALL_TILES

/* A row's sums of a panel, as results of the channels from `channel` on; see MOVED_BY. */
INLINE_512 void put_panel(const PanelProduct *of, ptrdiff_t row, ptrdiff_t channel, const __m512i *sums, int moved_by) {
    for (int half = 0; half < 2; half++) {
        const ptrdiff_t c = channel + half * (PANEL / 2), left = of->to.channels - c;
        __m512 found = _mm512_castsi512_ps(sums[half]);
        if (!of->has_codes) {
            const uint32_t moved = moved_by ? (uint32_t)of->x_totals[row] * (uint32_t)moved_by : 0;
            found = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[half], _mm512_set1_epi32((int32_t)moved)));
        }
        put_eight(&of->to, row, c, left, _mm512_castps512_ps256(found));
        put_eight(&of->to, row, c + 8, left - 8, _mm512_extractf32x8_ps(found, 1));
    }
}

/* Where some steps of a panel lie that need not be expanded. */
INLINE const uint8_t *held_at(const PanelProduct *of, ptrdiff_t channel, ptrdiff_t first) {
    const ptrdiff_t steps = channel / PANEL * of->steps + first;
    if (of->has_codes) return ((const Coded *)of->weight)->pairs + steps * CODED_STEP;
    return (const uint8_t *)of->weight + steps * PANEL_STEP;
}

/* Of four bits that are written out later: a tile fetches one of the blocks of channels. */
INLINE Meanwhile next_int4(const PanelProduct *of, Tile tile, ptrdiff_t channel, ptrdiff_t first) {
    if (first >= of->steps) channel += PANEL, first = 0;
    if (tile.number >= PANEL / TOGETHER) return (Meanwhile){0};
    const Int4 from = channels_of(*(const Int4 *)of->weight, channel + tile.number * TOGETHER, 4 * of->steps);
    return (Meanwhile){from.levels + first * INT4_STEP, INT4_STEP, 1, 0, 0};
}

/* While the steps of the panel at `channel` from `first` on are multiplied. A tile alone fetches what it needs itself; of several
 * the first ones fetch the next part. */
INLINE Meanwhile meanwhile(const PanelProduct *of, Tile tile, ptrdiff_t channel, ptrdiff_t first, ptrdiff_t steps) {
    if (of->write_out) return next_int4(of, tile, channel, first + steps);
    const uint8_t *const held = held_at(of, channel, first);
    const ptrdiff_t step = of->has_codes ? CODED_STEP : PANEL_STEP;
    if (tile.of == 1) return (Meanwhile){held + (tile.rows <= FEW_ROWS ? PANEL_AHEAD : PANEL_EARLY), step, 1, 1, 1};
    return (Meanwhile){held + steps * step, step, tile.number == 0, tile.number == 1, 0};
}

/* Rows, at most PANEL_STRETCH of them, times the panel that begins with `channel`. */
static IN_512 void multiply_panel(const PanelProduct *of, Share rows, ptrdiff_t channel) {
    __m512i sums[PANEL_STRETCH * 2];
    int8_t written[PANEL_PART * PANEL_STEP] __attribute__((aligned(ALIGNMENT)));
    const ptrdiff_t count = rows.end - rows.begin;
    /* It is needed in the cache only if it is multiplied more than once. */
    const ptrdiff_t most = of->write_out || count > PANEL_ROWS ? PANEL_PART : of->steps;
    for (ptrdiff_t k = 0; k < of->steps; k += most) {
        const ptrdiff_t steps = of->steps - k < most ? of->steps - k : most;
        PanelCall call = {.steps = steps, .stride = of->stride, .first = k};
        call.w = of->write_out ? (const void *)written : held_at(of, channel, k);
        if (of->write_out) of->write_out(of, channel, k, steps, written);
        if (of->has_codes) call.codes = coded_panel(of->weight, channel);
        for (Tile tile = first_tile(rows, PANEL_ROWS); tile.rows; tile = tile_after(tile, rows)) {
            call.x = of->x + tile.row * of->stride + 4 * k;
            call.next = meanwhile(of, tile, channel, k, steps);
            panel_tiles[of->has_codes][tile.rows - 1](&call, sums + 2 * (tile.row - rows.begin));
        }
    }
    for (ptrdiff_t r = rows.begin; r < rows.end; r++) put_panel(of, r, channel, sums + 2 * (r - rows.begin), MOVED_BY);
}

#include "tiles.h"
#include "streams.h"

/* For all threads of a team. */
static void panels_in_team(const PanelProduct *of, ptrdiff_t rows) {
    if (is_streamed(of, rows)) {
        streams_in_team(of, rows);
        return;
    }
    if (has_tiles) {
        tiles_in_team(of, rows);
        return;
    }
    for (ptrdiff_t row = 0; row < rows; row += PANEL_STRETCH) {
        const Share stretch = {row, row + PANEL_STRETCH < rows ? row + PANEL_STRETCH : rows};
#pragma omp for schedule(guided) nowait
        for (ptrdiff_t c = 0; c < of->to.channels; c += PANEL) multiply_panel(of, stretch, c);
    }
}

/* --- entry points */

static PanelProduct int8_panels(const int8_t *x, const int32_t *x_totals, ptrdiff_t width, const void *panels, Result to) {
    return (PanelProduct){x, x_totals, width / 4, width, panels, to, NULL, 0};
}

static PanelProduct wide_coded_product(const uint16_t *x, ptrdiff_t stride, ptrdiff_t width, const Coded *w, Result to) {
    return (PanelProduct){(const int8_t *)x, NULL, width / 2, stride, w, to, NULL, 1};
}

/* --- four bits, expanded to eight for enough rows to be worth it: the sums are the same */

enum { WRITTEN_OUT_FOR = 32, TILED_OUT_FOR = 12 }; /* rows, at least */

INLINE int is_written_out(ptrdiff_t rows) { return has_wide && rows >= (has_tiles ? TILED_OUT_FOR : WRITTEN_OUT_FOR); }

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
                const __m512i high = _mm512_and_si512(_mm512_srli_epi16(both, 4), low_bits);
                _mm512_storeu_si512(to + j * PANEL_STEP,
                                    int4_values(_mm512_and_si512(both, low_bits), first_steps, first_lows));
                _mm512_storeu_si512(to + (8 + j) * PANEL_STEP, int4_values(high, second_steps, second_lows));
            }
        }
    }
}

static PanelProduct int4_panels(const int8_t *x, const int32_t *x_totals, ptrdiff_t width, const Int4 *w, Result to) {
    return (PanelProduct){x, x_totals, width / 4, width, w, to, write_int4_out, 0};
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
