/* Few rows times several panels at once, on CPUs with AMX: their cores get more from the memory in several streams than in one.
 * (Measured on Emerald Rapids, whose two cores read 23 GB/s in one stream each and 29 in four or eight; Zen 4 gains nothing.)
 *
 * With eight bits the sums are exact. With bfloat16 in codes they are those of tiles (tiles.h), but without tiles, into which
 * nothing gets that has not gone through memory. As a tile does, a chunk of 32 inputs has a chain of products for its even inputs
 * and one for the odd ones, from zero on; both are added up, and then to the sum of the chunks before. Everything is rounded to the
 * nearest, and numbers that are too small for all their digits are zero, as operands and as results. (Intel's reference for
 * TDPBF16PS. The bits were compared on that CPU, and `native_trials.py` compares them wherever this runs.) */

enum {
    STREAMS = 4,
    MANY_STREAMS = 8,      /* for a row of eight bits, */
    WORTH_MANY = 128,      /* with at least so many panels: else threads would wait for each other at the end */
    STREAMED_ROWS = 3,     /* of eight bits, at most; of bfloat16 one */
    STREAM_AHEAD = 2048,   /* how many bytes ahead each stream is prefetched */
    CHUNK_PAIRS = TILE_STEPS / 2,
};

INLINE int is_streamed(const PanelProduct *of, ptrdiff_t rows) {
    return has_tiles && of->write_out == NULL && rows > 0 && rows <= (of->has_codes ? 1 : STREAMED_ROWS);
}

#if TILES
enum { FLUSHED = 0x8040 }; /* in the register that controls arithmetic: numbers that are too small are zero */

/* Sums [streams][rows][2 halves of a panel] of eight bits; from panel to panel `apart` bytes. */
INLINE_512 void streamed_rows(const PanelProduct *of, const int8_t *w, ptrdiff_t apart, int rows, int streams, __m512i *sums) {
    const __m512i sign = _mm512_set1_epi8((char)MOVED_BY);
    const int8_t *const x = of->x;
    const ptrdiff_t steps = of->steps, stride = of->stride;
    __m512i total[2 * STREAMED_ROWS * STREAMS];
    UNROLL for (int i = 0; i < 2 * rows * streams; i++) total[i] = _mm512_setzero_si512();
    AS_A_LOOP for (ptrdiff_t k = 0; k < steps; k++, w += PANEL_STEP) {
        __m512i levels[STREAMED_ROWS];
        UNROLL for (int r = 0; r < rows; r++) levels[r] = broadcast(x + r * stride + 4 * k);
        UNROLL for (int i = 0; i < streams; i++) {
            const int8_t *const at = w + i * apart;
            const __m512i first = _mm512_xor_si512(_mm512_loadu_si512(at), sign);
            const __m512i second = _mm512_xor_si512(_mm512_loadu_si512(at + 64), sign);
            fetch_line(at + STREAM_AHEAD);
            fetch_line(at + STREAM_AHEAD + ALIGNMENT);
            UNROLL for (int r = 0; r < rows; r++) {
                ADD_PRODUCTS(total[2 * (i * rows + r)], first, levels[r]);
                ADD_PRODUCTS(total[2 * (i * rows + r) + 1], second, levels[r]);
            }
        }
    }
    UNROLL for (int i = 0; i < 2 * rows * streams; i++) sums[i] = total[i];
}

/* --- bfloat16 in codes */

/* Inputs of a chunk in float32. */
typedef struct {
    float even[TILE_STEPS], odd[TILE_STEPS];
} __attribute__((aligned(ALIGNMENT))) WideChunk;

/* The strays of a panel that are still to come, and the pair of the next one. */
typedef struct {
    const uint32_t *next;
    ptrdiff_t pair;
} Strays;

INLINE_512 __m512 first_inputs(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }

INLINE_512 __m512 second_inputs(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xFFFF0000)));
}

/* The first `pairs` of a chunk's pairs of steps. */
INLINE_512 WideChunk wide_chunk(const int8_t *x, ptrdiff_t pairs) {
    const __m512i both = _mm512_maskz_loadu_epi32((__mmask16)((1u << 2 * pairs) - 1), x);
    WideChunk found;
    _mm512_store_ps(found.even, first_inputs(both));
    _mm512_store_ps(found.odd, second_inputs(both));
    return found;
}

/* A step: two inputs of the first half of the channels, and of the second. */
INLINE_512 void add_step(__m512i first, __m512i second, const WideChunk *x, ptrdiff_t step, __m512 *even, __m512 *odd) {
    const __m512 a = _mm512_set1_ps(x->even[step]), b = _mm512_set1_ps(x->odd[step]);
    even[0] = _mm512_fmadd_ps(first_inputs(first), a, even[0]);
    even[1] = _mm512_fmadd_ps(first_inputs(second), a, even[1]);
    odd[0] = _mm512_fmadd_ps(second_inputs(first), b, odd[0]);
    odd[1] = _mm512_fmadd_ps(second_inputs(second), b, odd[1]);
}

/* A pair of steps. */
INLINE_512 void add_pair(const uint8_t *at, UpperBytes upper, const WideChunk *x, ptrdiff_t pair, __m512 *even, __m512 *odd) {
    const __m512i one = _mm512_loadu_si512(at), other = _mm512_loadu_si512(at + STEP_NUMBERS);
    add_step(_mm512_unpacklo_epi8(one, upper.one), _mm512_unpackhi_epi8(one, upper.one), x, 2 * pair, even, odd);
    add_step(_mm512_unpacklo_epi8(other, upper.other), _mm512_unpackhi_epi8(other, upper.other), x, 2 * pair + 1, even, odd);
}

/* Puts the strays of a pair into their places; the next pair that has any. */
INLINE_512 ptrdiff_t put_strays(ptrdiff_t pair, int streams, Strays *strays, UpperBytes *upper) {
    ptrdiff_t next = PTRDIFF_MAX;
    UNROLL for (int i = 0; i < streams; i++) {
        for (; strays[i].pair == pair; strays[i].pair = *++strays[i].next >> 15) upper[i] = with_stray(upper[i], *strays[i].next);
        if (strays[i].pair < next) next = strays[i].pair;
    }
    return next;
}

/* Sums [streams][2 halves of a panel]. */
INLINE_512 void chained_row(const PanelProduct *of, ptrdiff_t channel, int streams, __m512 *sums) {
    const uint8_t *at = held_at(of, channel, 0);
    const ptrdiff_t pairs = of->steps / 2, apart = pairs * CODED_PAIR;
    __m512i tables[STREAMS];
    Strays strays[STREAMS];
    ptrdiff_t strays_at = PTRDIFF_MAX;
    UNROLL for (int i = 0; i < streams; i++) {
        const CodedPanel codes = coded_panel(of->weight, channel + i * PANEL);
        tables[i] = table_of(&codes);
        strays[i] = (Strays){codes.strays, *codes.strays >> 15};
        if (strays[i].pair < strays_at) strays_at = strays[i].pair;
        sums[2 * i] = sums[2 * i + 1] = _mm512_setzero_ps();
    }
    AS_A_LOOP for (ptrdiff_t begin = 0; begin < pairs; begin += CHUNK_PAIRS) {
        const ptrdiff_t end = begin + CHUNK_PAIRS < pairs ? begin + CHUNK_PAIRS : pairs;
        const WideChunk x = wide_chunk(of->x + 8 * begin, end - begin);
        __m512 even[2 * STREAMS], odd[2 * STREAMS];
        UNROLL for (int i = 0; i < 2 * streams; i++) even[i] = odd[i] = _mm512_setzero_ps();
        AS_A_LOOP for (ptrdiff_t pair = begin; pair < end; pair++, at += CODED_PAIR) {
            UpperBytes upper[STREAMS];
            UNROLL for (int i = 0; i < streams; i++) {
                UNROLL for (int line = 0; line < 3; line++) fetch_line(at + i * apart + STREAM_AHEAD + line * ALIGNMENT);
                upper[i] = upper_bytes(at + i * apart, tables[i]);
            }
            if (__builtin_expect(pair == strays_at, 0)) strays_at = put_strays(pair, streams, strays, upper);
            UNROLL for (int i = 0; i < streams; i++)
                add_pair(at + i * apart, upper[i], &x, pair - begin, even + 2 * i, odd + 2 * i);
        }
        UNROLL for (int i = 0; i < 2 * streams; i++) sums[i] = _mm512_add_ps(sums[i], _mm512_add_ps(even[i], odd[i]));
    }
}

/* --- both */

#define STREAMED(ROWS, STREAMS)                                                                                     \
    TILE_512 streamed_##ROWS##_##STREAMS(const PanelProduct *of, ptrdiff_t channel, __m512i *sums) {                \
        const int8_t *const w = (const int8_t *)held_at(of, channel, 0);                                            \
        streamed_rows(of, w, of->steps * PANEL_STEP, ROWS, STREAMS, sums);                                          \
    }
STREAMED(1, 4) STREAMED(1, 8) STREAMED(2, 4) STREAMED(3, 4)
#undef STREAMED

TILE_512 chained_1(const PanelProduct *of, ptrdiff_t channel, __m512i *sums) { chained_row(of, channel, 1, (__m512 *)sums); }
TILE_512 chained_4(const PanelProduct *of, ptrdiff_t channel, __m512i *sums) { chained_row(of, channel, STREAMS, (__m512 *)sums); }

/* They are no part of this, so the compiler cannot move what they compute out of it. */
static void chained(const PanelProduct *of, ptrdiff_t channel, int panels, __m512i *sums) {
    const unsigned control = _mm_getcsr();
    _mm_setcsr(control | FLUSHED);
    if (panels == 1) chained_1(of, channel, sums);
    else chained_4(of, channel, sums);
    _mm_setcsr(control);
}

static void streamed(const PanelProduct *of, ptrdiff_t rows, ptrdiff_t channel, int panels, __m512i *sums) {
    if (panels == MANY_STREAMS) streamed_1_8(of, channel, sums);
    else if (rows == 1) streamed_1_4(of, channel, sums);
    else if (rows == 2) streamed_2_4(of, channel, sums);
    else streamed_3_4(of, channel, sums);
}

static IN_512 void multiply_panels(const PanelProduct *of, ptrdiff_t rows, ptrdiff_t channel, int panels) {
    __m512i sums[2 * STREAMED_ROWS * STREAMS]; /* more than of a row and many streams */
    if (of->has_codes) chained(of, channel, panels, sums);
    else streamed(of, rows, channel, panels, sums);
    for (int i = 0; i < panels; i++)
        for (ptrdiff_t r = 0; r < rows; r++) put_panel(of, r, channel + i * PANEL, sums + 2 * (i * rows + r), MOVED_BY);
}

/* One that is left over. */
static void multiply_last(const PanelProduct *of, ptrdiff_t rows, ptrdiff_t channel) {
    if (of->has_codes) multiply_panels(of, rows, channel, 1);
    else multiply_panel(of, (Share){0, rows}, channel);
}

/* For all threads of a team. */
static void streams_in_team(const PanelProduct *of, ptrdiff_t rows) {
    const ptrdiff_t panels = (of->to.channels + PANEL - 1) / PANEL;
    const int together = rows == 1 && !of->has_codes && panels >= WORTH_MANY ? MANY_STREAMS : STREAMS;
#pragma omp for schedule(guided) nowait
    for (ptrdiff_t panel = 0; panel < panels; panel += together) {
        if (panel + together <= panels) multiply_panels(of, rows, panel * PANEL, together);
        else for (ptrdiff_t last = panel; last < panels; last++) multiply_last(of, rows, last * PANEL);
    }
}
#else
static void streams_in_team(const PanelProduct *of, ptrdiff_t rows) { (void)of, (void)rows; }
#endif
