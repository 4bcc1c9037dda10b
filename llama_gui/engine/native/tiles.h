/* Products in the tile registers of AMX: 16 rows of x times 16 channels, 64 bytes of each at a time.
 *
 * Half a panel is what such a register takes of a weight, as it lies: 16 steps of 16 channels (64 bytes, from step to step PANEL_STEP).
 * Rows of x are read where they are. With eight bits all sums are the same whole numbers as those of wide_panels.h. With bfloat16
 * they are others, so there all rows go through tiles, however few: a row and a channel have one chain over chunks of 32 inputs,
 * whose products the processor adds up by itself, first those of even inputs and of odd ones. (Intel's reference for TDPBF16PS.)
 *
 * torch's kernels use tiles, too, in the same threads, and may believe that what they configured is there still: what is found is
 * put back. */

enum {
    TILE_ROWS = 16,
    TILE_STEPS = 16, /* a chunk */
    TILE_BYTES = 64, /* of a row of x in a chunk */
    TILE_BLOCK = 2 * TILE_ROWS,  /* rows that are multiplied together */
    TILE_STRETCH = 256,          /* rows that are multiplied with a panel before the next */
    TILE_PART = 512,             /* steps of a panel that all of these rows are multiplied with before the next */
    TILE_CODES = 128,            /* the same where codes are expanded, */
    TILE_FEW_CODES = 32,         /* and where a block is all rows there are: then more would stand in each other's way */
    TILE_AHEAD = 8192,           /* how many bytes ahead codes are prefetched, into the second-level cache */
};

#if defined(__linux__) && !defined(OLD_ASSEMBLER)
#define TILES 1
#include <sys/syscall.h>
#include <unistd.h>
enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */

/* The kernel keeps these registers only of processes that have asked; false where it is too old. */
static int may_use_tiles(void) { return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0; }

/* As the instruction wants it. */
typedef struct {
    uint8_t palette, start, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} TileShapes;

#define LOAD_TILE(N, at, stride) \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #N : : "r"(at), "r"((ptrdiff_t)(stride)) : "memory")
#define STORE_TILE(N, at, stride) \
    __asm__ volatile("tilestored %%tmm" #N ", (%0,%1,1)" : : "r"(at), "r"((ptrdiff_t)(stride)) : "memory")
#define ZERO_TILE(N) __asm__ volatile("tilezero %%tmm" #N : :)
#define MULTIPLY_TILES(of_bytes, X, W, SUMS)                                                           \
    do {                                                                                               \
        if (of_bytes) __asm__ volatile("tdpbssd %%tmm" #W ", %%tmm" #X ", %%tmm" #SUMS : :);           \
        else __asm__ volatile("tdpbf16ps %%tmm" #W ", %%tmm" #X ", %%tmm" #SUMS : :);                  \
    } while (0)

INLINE void configure(const TileShapes *to) { __asm__ volatile("ldtilecfg %0" : : "m"(*to)); }

/* `first`: rows of 0, 1 and 4; `second`: of 2, 3 and 5. A weight is in 6 and 7. */
static void shape_all(ptrdiff_t first, ptrdiff_t second) {
    TileShapes shapes = {.palette = 1};
    const uint8_t a = (uint8_t)first, b = (uint8_t)second;
    const uint8_t each[8] = {a, a, b, b, a, b, TILE_STEPS, TILE_STEPS};
    for (int i = 0; i < 8; i++) shapes.bytes[i] = TILE_BYTES;
    memcpy(shapes.rows, each, sizeof each);
    configure(&shapes);
}

/* For a block of so many rows. Sums are in 0 (first rows, first half of the channels), 1 (the second half), and 2 and 3 (the other
 * rows), x in 4 and 5, the weight in 6 and 7. */
static void shape_tiles(ptrdiff_t rows) {
    if (rows > TILE_ROWS) shape_all(TILE_ROWS, rows - TILE_ROWS);
    else shape_all(rows, TILE_ROWS); /* the second ones are not used */
}

/* What was configured before, to be put back. */
INLINE TileShapes found_shapes(void) {
    TileShapes found;
    __asm__ volatile("sttilecfg %0" : "=m"(found));
    return found;
}

INLINE void put_back(const TileShapes *found) {
    if (found->palette) configure(found);
    else __asm__ volatile("tilerelease" : :);
}

/* Chunks of a panel times a block of rows. `next`: what is to be prefetched meanwhile, as many bytes as these are; NULL: nothing. */
typedef struct {
    const int8_t *x, *panel;
    ptrdiff_t chunks, stride;
    const char *next;
} TileCall;

INLINE void tile_chunks(const TileCall *of, int of_bytes, int is_tall) {
    const int8_t *x = of->x, *panel = of->panel;
    const char *next = of->next;
    AS_A_LOOP for (ptrdiff_t i = 0; i < of->chunks; i++, x += TILE_BYTES, panel += TILE_STEPS * PANEL_STEP) {
        LOAD_TILE(6, panel, PANEL_STEP);
        LOAD_TILE(4, x, of->stride);
        MULTIPLY_TILES(of_bytes, 4, 6, 0);
        LOAD_TILE(7, panel + TILE_BYTES, PANEL_STEP);
        MULTIPLY_TILES(of_bytes, 4, 7, 1);
        if (is_tall) {
            LOAD_TILE(5, x + TILE_ROWS * of->stride, of->stride);
            MULTIPLY_TILES(of_bytes, 5, 6, 2);
            MULTIPLY_TILES(of_bytes, 5, 7, 3);
        }
        if (next) {
            UNROLL for (int line = 0; line < TILE_STEPS * PANEL_STEP / ALIGNMENT; line += 2) {
                fetch_line_early(next + line * ALIGNMENT);
                fetch_line_early(next + line * ALIGNMENT + ALIGNMENT);
            }
            next += TILE_STEPS * PANEL_STEP;
        }
    }
}

static __attribute__((noinline)) void tile_calls(const TileCall *of, int of_bytes, int is_tall) {
    if (of_bytes && is_tall) tile_chunks(of, 1, 1);
    else if (of_bytes) tile_chunks(of, 1, 0);
    else if (is_tall) tile_chunks(of, 0, 1);
    else tile_chunks(of, 0, 0);
}

/* Steps behind the last whole chunk: with zeros in the place of what is not there. */
static void tile_rest(const TileCall *of, ptrdiff_t rows, ptrdiff_t steps, int of_bytes) {
    int8_t x[TILE_BLOCK * TILE_BYTES] __attribute__((aligned(ALIGNMENT))) = {0};
    int8_t panel[TILE_STEPS * PANEL_STEP] __attribute__((aligned(ALIGNMENT))) = {0};
    for (ptrdiff_t r = 0; r < rows; r++) memcpy(x + r * TILE_BYTES, of->x + r * of->stride, 4 * steps);
    memcpy(panel, of->panel, steps * PANEL_STEP);
    const TileCall call = {x, panel, 1, TILE_BYTES, NULL};
    tile_calls(&call, of_bytes, rows > TILE_ROWS);
}

INLINE void zero_sums(void) {
    ZERO_TILE(0);
    ZERO_TILE(1);
    ZERO_TILE(2);
    ZERO_TILE(3);
}

/* From row to row `stride` bytes. */
INLINE void load_sums(const int8_t *sums, ptrdiff_t stride, int is_tall) {
    LOAD_TILE(0, sums, stride);
    LOAD_TILE(1, sums + TILE_BYTES, stride);
    if (!is_tall) return;
    LOAD_TILE(2, sums + TILE_ROWS * stride, stride);
    LOAD_TILE(3, sums + TILE_ROWS * stride + TILE_BYTES, stride);
}

INLINE void store_sums(int8_t *sums, ptrdiff_t stride, int is_tall) {
    STORE_TILE(0, sums, stride);
    STORE_TILE(1, sums + TILE_BYTES, stride);
    if (!is_tall) return;
    STORE_TILE(2, sums + TILE_ROWS * stride, stride);
    STORE_TILE(3, sums + TILE_ROWS * stride + TILE_BYTES, stride);
}

/* Of the steps of a panel. `is_alone`: no other block of rows is multiplied meanwhile, so sums stay in the tiles. */
typedef struct {
    int is_first, is_last, is_alone;
} Stretch;

/* Some steps of a panel times a block of rows, whose sums [rows][PANEL] begin at zero with the first step. */
static void tile_block(TileCall call, ptrdiff_t rows, ptrdiff_t steps, int of_bytes, Stretch part, int8_t *sums) {
    const ptrdiff_t stride = PANEL * sizeof(float);
    const int is_tall = rows > TILE_ROWS;
    if (part.is_first) zero_sums();
    else if (!part.is_alone) load_sums(sums, stride, is_tall);
    call.chunks = steps / TILE_STEPS;
    tile_calls(&call, of_bytes, is_tall);
    if (steps % TILE_STEPS) {
        call.x += call.chunks * TILE_BYTES, call.panel += call.chunks * TILE_STEPS * PANEL_STEP;
        tile_rest(&call, rows, steps % TILE_STEPS, of_bytes);
    }
    if (part.is_last || !part.is_alone) store_sums(sums, stride, is_tall);
}

/* Expands some steps, an even number of them, of a panel in codes: bfloat16 [steps][PANEL][2 inputs]. */
static IN_512 void write_codes_out(const PanelProduct *of, ptrdiff_t channel, ptrdiff_t first, ptrdiff_t steps, int8_t *panel) {
    const CodedPanel codes = coded_panel(of->weight, channel);
    const __m512i table = table_of(&codes);
    const uint32_t *stray = strays_from(codes.strays, first / 2);
    const uint8_t *at = held_at(of, channel, first);
    ptrdiff_t strays_at = *stray >> 15;
    AS_A_LOOP for (ptrdiff_t pair = first / 2; pair < (first + steps) / 2; pair++, at += CODED_PAIR, panel += 2 * PANEL_STEP) {
        UNROLL for (int line = 0; line < 3; line++) fetch_line_early(at + TILE_AHEAD + line * ALIGNMENT);
        UpperBytes upper = upper_bytes(at, table);
        while (__builtin_expect(pair == strays_at, 0)) {
            upper = with_stray(upper, *stray);
            strays_at = *++stray >> 15;
        }
        const __m512i one = _mm512_loadu_si512(at), other = _mm512_loadu_si512(at + STEP_NUMBERS);
        _mm512_store_si512(panel, _mm512_unpacklo_epi8(one, upper.one));
        _mm512_store_si512(panel + 64, _mm512_unpackhi_epi8(one, upper.one));
        _mm512_store_si512(panel + PANEL_STEP, _mm512_unpacklo_epi8(other, upper.other));
        _mm512_store_si512(panel + PANEL_STEP + 64, _mm512_unpackhi_epi8(other, upper.other));
    }
}

/* Rows, at most TILE_STRETCH of them, times the panel that begins with `channel`. `shaped`: for how many rows tiles are. */
static IN_512 void multiply_panel_in_tiles(const PanelProduct *of, Share rows, ptrdiff_t channel, ptrdiff_t *shaped) {
    int8_t sums[TILE_STRETCH * PANEL * sizeof(float)] __attribute__((aligned(ALIGNMENT)));
    int8_t written[TILE_PART * PANEL_STEP] __attribute__((aligned(ALIGNMENT)));
    const ptrdiff_t count = rows.end - rows.begin;
    const int is_held = of->write_out == NULL && !of->has_codes;
    const int is_alone = count <= TILE_BLOCK;
    const ptrdiff_t most = of->has_codes ? (is_alone ? TILE_FEW_CODES : TILE_CODES) : is_held && is_alone ? of->steps : TILE_PART;
    for (ptrdiff_t k = 0; k < of->steps; k += most) {
        const ptrdiff_t steps = of->steps - k < most ? of->steps - k : most;
        const Stretch part = {k == 0, k + steps == of->steps, is_alone};
        TileCall call = {.stride = of->stride, .panel = is_held ? (const int8_t *)held_at(of, channel, k) : written};
        if (of->has_codes) write_codes_out(of, channel, k, steps, written);
        else if (of->write_out) of->write_out(of, channel, k, steps, written);
        for (ptrdiff_t row = 0; row < count; row += TILE_BLOCK) {
            const ptrdiff_t left = count - row < TILE_BLOCK ? count - row : TILE_BLOCK;
            if (left != *shaped) shape_tiles(*shaped = left);
            call.x = of->x + (rows.begin + row) * of->stride + 4 * k;
            call.next = is_held && row == 0 ? (const char *)call.panel + (is_alone ? PANEL_EARLY : steps * PANEL_STEP) : NULL;
            tile_block(call, left, steps, !of->has_codes, part, sums + row * PANEL * sizeof(float));
        }
    }
    for (ptrdiff_t r = 0; r < count; r++) put_panel(of, rows.begin + r, channel, (__m512i *)sums + 2 * r, 0);
}

/* For all threads of a team: FUNCTION multiplies at most TILE_STRETCH rows with STEP channels. */
#define IN_TILES(FUNCTION, STEP)                                                                        \
    const TileShapes found = found_shapes();                                                            \
    ptrdiff_t shaped = 0;                                                                               \
    for (ptrdiff_t row = 0; row < rows; row += TILE_STRETCH) {                                          \
        const Share stretch = {row, row + TILE_STRETCH < rows ? row + TILE_STRETCH : rows};             \
        _Pragma("omp for schedule(guided) nowait")                                                      \
        for (ptrdiff_t c = 0; c < of->to.channels; c += STEP) FUNCTION(of, stretch, c, &shaped);        \
    }                                                                                                   \
    put_back(&found);

static void tiles_in_team(const PanelProduct *of, ptrdiff_t rows) { IN_TILES(multiply_panel_in_tiles, PANEL) }
#else
#define TILES 0
static int may_use_tiles(void) { return 0; }
static void tiles_in_team(const PanelProduct *of, ptrdiff_t rows) { (void)of, (void)rows; }
#endif
