/* How the rows and channels of a product with weights in few bits are shared out among threads and tiles. */

enum { TOGETHER = 8 };        /* channels that lie side by side in weights of four to six bits */
enum { NEAR = 2 * TOGETHER }; /* channels that all rows are multiplied with before the next */
enum { FEW = 4 };             /* rows that wait for the memory */
enum { MANY = 5 };            /* rows of a tile of two places, for which the registers just suffice: of up to ten rows that
                               * saves a tile, of more of them FEW at a time are faster */
enum { MOST_SUMS = 10 };      /* of a tile: its rows times the places of the weight that it multiplies them with */
enum { CACHE = 1 << 18 };     /* bytes of rows that stay in the second-level cache */

/* A tile is a function of its own, for its number of rows and of places: gcc finds no good registers in one for many. */
#define TILE static __attribute__((noinline)) void

typedef struct Product Product;

struct Product {
    const int8_t *x;         /* [rows][width] */
    const int16_t *x_sums;   /* of groups of x, [rows][sums]; of eight bits there are none */
    const float *x_scales;   /* of blocks of x, [rows][scales]; of eight and of four bits there are none */
    ptrdiff_t width, sums, scales;
    const void *weight;
    int most;                /* rows of a tile */
    /* Memory is read faster in several streams: [rows - 1] places of a weight that few rows are multiplied with at once,
     * and of how many channels each of them is. */
    const int8_t *places;
    int unit;
    int has_pairs;           /* twice TOGETHER channels are multiplied at a time, which share what is broadcast */
    /* Some rows (at most `most`) times each of these channels, and those that lie `apart`, 2 * `apart`… behind it. */
    void (*multiply)(const Product *of, ptrdiff_t row, int rows, Share channels, int places, ptrdiff_t apart);
    Result to;
};

/* Rows that stay in the cache times the channels of a thread. */
static void multiply_share(const Product *of, Share rows, Share channels) {
    const ptrdiff_t count = rows.end - rows.begin;
    if (count <= FEW && of->places[count - 1] > 1) {
        const int places = of->places[count - 1];
        const ptrdiff_t part = (channels.end - channels.begin) / (places * of->unit) * of->unit;
        of->multiply(of, rows.begin, (int)count, (Share){channels.begin, channels.begin + part}, places, part);
        channels.begin += places * part; /* what does not fit */
    }
    /* Few channels at a time, so that the weights are read from memory once. */
    for (ptrdiff_t c = channels.begin; c < channels.end; c += NEAR) {
        const Share near = {c, c + NEAR < channels.end ? c + NEAR : channels.end};
        const int is_pair = of->has_pairs && near.end - near.begin > TOGETHER;
        const ptrdiff_t most = of->most == MANY && count > 2 * MANY ? FEW : of->most;
        ptrdiff_t tiles = (count + most - 1) / most, row = rows.begin;
        for (; tiles > 0; tiles--) {
            const int some = (int)((rows.end - row + tiles - 1) / tiles); /* shared out evenly */
            if (is_pair) of->multiply(of, row, some, (Share){c, c + TOGETHER}, 2, TOGETHER);
            else of->multiply(of, row, some, near, 1, 0);
            row += some;
        }
    }
}

/* For all threads of a team. */
static void multiply_in_team(const Product *of, ptrdiff_t rows) {
    const Share channels = share_of(of->to.channels, NEAR);
    ptrdiff_t stretch = CACHE / of->width / 8 * 8; /* rows that stay in the cache */
    if (stretch < 8) stretch = 8;
    for (ptrdiff_t row = 0; row < rows; row += stretch)
        multiply_share(of, (Share){row, row + stretch < rows ? row + stretch : rows}, channels);
}

static void multiply_all(const Product *of, ptrdiff_t rows) {
#pragma omp parallel
    multiply_in_team(of, rows);
}
