/* How the rows and channels of a product with quantised weights are distributed among threads and tiles. */

enum { TOGETHER = 8 };        /* channels that lie side by side in weights of four to six bits */
enum { NEAR = 2 * TOGETHER }; /* channels that all rows are multiplied with before the next ones */
enum { FEW = 4 };             /* up to this many rows a product is limited by memory */
enum { MANY = 5 };            /* rows of a tile of two places, for which the registers just suffice: up to ten rows that saves
                               * a tile, more rows are faster FEW at a time */
enum { MOST_SUMS = 10 };      /* of a tile: its rows times the places of the weight that it multiplies them with */
enum { CACHE = 1 << 18 };     /* bytes of rows that stay in the second-level cache */
enum { LEFT_OVER = 8 };       /* one in this many channels goes to the first thread that is free, */
enum { LEFT_NEAR = 4 * NEAR }; /* this many at a time */
enum { MANY_WIDE = 64 };      /* rows that 512-bit registers multiply at least for each reading of a weight */

/* Whether the CPU has AVX-512 with VNNI, and whether it also multiplies bfloat16: asked when the library is loaded. */
static int has_wide, has_wide_halves;

/* Whether it also has AMX, and the system lets this process use it: see tiles.h. */
static int has_tiles;

/* How products of bytes are added up in registers of 256 bits: in pairs to sums of 16 bits, as every CPU can that this is for, or
 * in fours to sums of 32 bits, by an instruction that CPUs with AVX-VNNI have in one encoding, and those with AVX-512 and VNNI
 * in another. These have wider registers for most products; all sums are the same whole numbers. */
typedef enum { IN_PAIRS, IN_FOURS, IN_FOURS_512, WAYS } Adding;

static Adding adding; /* on this CPU; set with `has_wide` */

#if defined(OLD_ASSEMBLER) /* it does not know the first encoding: `llama_gui_use` does not choose it then */
#define VEX
#else
#define VEX "%{vex%} "
#endif
#define ADD_FOURS(encoding, sum, bytes, signed_bytes) \
    __asm__(encoding "vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(bytes), "x"(signed_bytes))

/* sum += bytes times signed bytes: in 16 bits of pairs, or in 32 bits. */
INLINE void add_products(Adding how, __m256i *sum, __m256i bytes, __m256i signed_bytes) {
    if (how == IN_FOURS) ADD_FOURS(VEX, *sum, bytes, signed_bytes);
    else if (how == IN_FOURS_512) ADD_FOURS("", *sum, bytes, signed_bytes);
    else ADD_16_BITS(*sum, _mm256_maddubs_epi16(bytes, signed_bytes));
}

/* Such sums in 32 bits: of both pairs, where these are apart. */
INLINE __m256i whole_sums(Adding how, __m256i sums) {
    return how == IN_PAIRS ? _mm256_madd_epi16(sums, _mm256_set1_epi16(1)) : sums;
}

/* The same times steps, which stand twice in 32 bits, in 16 bits with their sign. */
INLINE __m256i stepped_sums(Adding how, __m256i sums, __m256i steps) {
    return how == IN_PAIRS ? _mm256_madd_epi16(sums, steps) : _mm256_mullo_epi32(sums, _mm256_srai_epi32(steps, 16));
}

/* Each tile, by its number of rows and of places, is a separate function: gcc allocates registers badly in a common one. */
#define TILE static __attribute__((noinline)) void

typedef struct Product Product;

/* Some rows (at most `most`) that are multiplied together: tile `number` of `of`. */
typedef struct {
    ptrdiff_t row, number, of;
    int rows;
} Tile;

struct Product {
    const int8_t *x;         /* [rows][width] */
    const int16_t *x_sums;   /* of groups of x, [rows][sums]; not for int8 */
    const float *x_scales;   /* of blocks of x, [rows][scales]; not for int8 and int4 */
    ptrdiff_t width, sums, scales;
    const void *weight;
    int most;                /* rows of a tile */
    /* Memory is read faster in several streams: [rows - 1] places of a weight that few rows are multiplied with at once,
     * and of how many channels each of them is. */
    const int8_t *places;
    int unit;
    int has_pairs;           /* twice TOGETHER channels are multiplied at a time and share the broadcast inputs */
    /* A tile times each of these channels, and those that lie `apart`, 2 * `apart`… behind it. */
    void (*multiply)(const Product *of, Tile tile, Share channels, int places, ptrdiff_t apart);
    /* From `least_tiled` rows on, or NULL; see tile_blocks.h. */
    void (*in_tiles)(const Product *of, ptrdiff_t rows);
    int least_tiled;
    Result to;
};

/* Rows are distributed evenly; the tile after the last one has no rows. */
INLINE Tile tile_of(Share rows, ptrdiff_t row, ptrdiff_t number, ptrdiff_t of) {
    const ptrdiff_t left = of - number;
    return (Tile){row, number, of, left ? (int)((rows.end - row + left - 1) / left) : 0};
}

INLINE Tile first_tile(Share rows, ptrdiff_t most) {
    return tile_of(rows, rows.begin, 0, (rows.end - rows.begin + most - 1) / most);
}

INLINE Tile tile_after(Tile tile, Share rows) { return tile_of(rows, tile.row + tile.rows, tile.number + 1, tile.of); }

/* Rows that stay in the cache times the channels of a thread. */
static void multiply_share(const Product *of, Share rows, Share channels) {
    const ptrdiff_t count = rows.end - rows.begin;
    if (count <= FEW && of->places[count - 1] > 1) {
        const int places = of->places[count - 1];
        const ptrdiff_t part = (channels.end - channels.begin) / (places * of->unit) * of->unit;
        const Tile all = {rows.begin, 0, 1, (int)count};
        of->multiply(of, all, (Share){channels.begin, channels.begin + part}, places, part);
        channels.begin += places * part; /* what does not fit */
    }
    /* Few channels at a time, so that weights are read from memory only once. */
    for (ptrdiff_t c = channels.begin; c < channels.end; c += NEAR) {
        const Share near = {c, c + NEAR < channels.end ? c + NEAR : channels.end};
        const int is_pair = of->has_pairs && near.end - near.begin > TOGETHER;
        const ptrdiff_t most = of->most == MANY && count > 2 * MANY ? FEW : of->most;
        for (Tile tile = first_tile(rows, most); tile.rows; tile = tile_after(tile, rows)) {
            if (is_pair) of->multiply(of, tile, (Share){c, c + TOGETHER}, 2, TOGETHER);
            else of->multiply(of, tile, near, 1, 0);
        }
    }
}

/* For all threads of a team. Most channels are distributed evenly, so that each thread has long streams, and the last ones go to
 * whichever thread is free first: cores do not get equal shares of the memory's bandwidth. */
static void multiply_in_team(const Product *of, ptrdiff_t rows) {
    if (of->in_tiles && rows >= of->least_tiled) {
        of->in_tiles(of, rows);
        return;
    }
    const ptrdiff_t channels = of->to.channels, even = channels / LEFT_OVER / NEAR * NEAR * (LEFT_OVER - 1);
    const Share own = share_of(even, NEAR);
    ptrdiff_t stretch = CACHE / of->width / 8 * 8; /* rows that stay in the cache */
    const ptrdiff_t least = has_wide ? MANY_WIDE : 8;
    if (stretch < least) stretch = least;
    for (ptrdiff_t row = 0; row < rows; row += stretch) {
        const Share some = {row, row + stretch < rows ? row + stretch : rows};
        multiply_share(of, some, own);
#pragma omp for schedule(dynamic) nowait
        for (ptrdiff_t c = even; c < channels; c += LEFT_NEAR)
            multiply_share(of, some, (Share){c, c + LEFT_NEAR < channels ? c + LEFT_NEAR : channels});
    }
}

static void multiply_all(const Product *of, ptrdiff_t rows) {
#pragma omp parallel
    multiply_in_team(of, rows);
}
