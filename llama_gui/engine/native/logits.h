/* How likely tokens are: the logarithm of the sum of e^x over a vocabulary, and which are the likeliest. */

enum { MASS_PIECES = 64 }; /* a fixed number, so that the result does not depend on the threads */
enum { RANK_BLOCK = 64, MOST_RANKED = 4096 };

typedef struct {
    ptrdiff_t from, to;
} Piece;

/* Whole blocks, but for the last one of all. */
INLINE Piece mass_piece(ptrdiff_t count, ptrdiff_t number) {
    const ptrdiff_t size = up_to((count + MASS_PIECES - 1) / MASS_PIECES, RANK_BLOCK);
    const ptrdiff_t from = number * size, to = from + size;
    return (Piece){from < count ? from : count, to < count ? to : count};
}

/* The numbers from `k` on, at most eight; -infinity, which counts as nothing, behind the last. */
INLINE __m256 eight_logits(const float *x, ptrdiff_t k, ptrdiff_t end) {
    if (k + 8 <= end) return _mm256_loadu_ps(x + k);
    float last[8];
    for (int i = 0; i < 8; i++) last[i] = k + i < end ? x[k + i] : -__builtin_inff();
    return _mm256_loadu_ps(last);
}

INLINE float largest_logit(const float *x, ptrdiff_t from, ptrdiff_t to) {
    __m256 largest = _mm256_set1_ps(-__builtin_inff()), unordered = _mm256_setzero_ps();
    for (ptrdiff_t k = from; k < to; k += 8) {
        __m256 value = eight_logits(x, k, to);
        largest = _mm256_max_ps(largest, value);
        unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(unordered) ? __builtin_nanf("") : largest_of(largest);
}

/* Of e^((x - largest) / divisor). */
INLINE float mass_of(const float *x, Piece piece, float largest, float divisor) {
    const __m256 shift = _mm256_set1_ps(largest), by = _mm256_set1_ps(divisor);
    __m256 sum = _mm256_setzero_ps();
    for (ptrdiff_t k = piece.from; k < piece.to; k += 8) {
        const __m256 value = _mm256_sub_ps(eight_logits(x, k, piece.to), shift);
        sum = _mm256_add_ps(sum, exponential(_mm256_div_ps(value, by)));
    }
    return sum_of_floats(sum);
}

INLINE float largest_piece(const float *largest) {
    float most = largest[0];
    for (int i = 1; i < MASS_PIECES; i++)
        if (most == most && !(largest[i] <= most)) most = largest[i]; /* a NaN stays */
    return most;
}

/* The largest of `count` numbers, and the sums of e^(x - largest) and of e^((x - largest) / divisor): NaN if any is NaN,
 * or the largest is infinite. `maxima`: of each block, if they are wanted. */
static void masses(const float *x, ptrdiff_t count, float divisor, float *maxima, double found[3]) {
    float largest[MASS_PIECES], sums[MASS_PIECES], cooled[MASS_PIECES];
#pragma omp parallel if (count > WORTH_SHARING)
    {
#pragma omp for
        for (ptrdiff_t i = 0; i < MASS_PIECES; i++) {
            const Piece piece = mass_piece(count, i);
            largest[i] = -__builtin_inff();
            for (ptrdiff_t k = piece.from; k < piece.to; k += RANK_BLOCK) {
                const float block = largest_logit(x, k, k + RANK_BLOCK < piece.to ? k + RANK_BLOCK : piece.to);
                if (maxima) maxima[k / RANK_BLOCK] = block;
                if (largest[i] == largest[i] && !(block <= largest[i])) largest[i] = block;
            }
        }
        const float most = largest_piece(largest);
#pragma omp for
        for (ptrdiff_t i = 0; i < MASS_PIECES; i++) {
            sums[i] = mass_of(x, mass_piece(count, i), most, 1);
            cooled[i] = divisor == 1 ? sums[i] : mass_of(x, mass_piece(count, i), most, divisor);
        }
    }
    found[0] = largest_piece(largest), found[1] = found[2] = 0;
    for (ptrdiff_t i = 0; i < MASS_PIECES; i++) found[1] += sums[i], found[2] += cooled[i];
}

EXPORT int llama_gui_mass(const float *x, ptrdiff_t count, double found[3]) {
    masses(x, count, 1, NULL, found);
    return 0;
}

/* The n-th largest of `count` numbers, none of them NaN, which are put into another order (Hoare 1961). */
static float nth_largest(float *x, ptrdiff_t count, ptrdiff_t n) {
    ptrdiff_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = x[n - 1];
        ptrdiff_t i = low, j = high;
        do {
            while (x[i] > pivot) i++;
            while (x[j] < pivot) j--;
            if (i <= j) {
                const float other = x[i];
                x[i++] = x[j], x[j--] = other;
            }
        } while (i <= j);
        if (j < n - 1) low = i;
        if (n - 1 < i) high = j;
    }
    return x[n - 1];
}

typedef struct {
    float value;
    int32_t place;
} Ranked;

/* The larger one first, and of equal ones the one that stands first. */
static int by_rank(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static ptrdiff_t kept_ranks(Ranked *found, ptrdiff_t count, ptrdiff_t ranks) {
    qsort(found, (size_t)count, sizeof *found, by_rank);
    return count < ranks ? count : ranks;
}

/* The `ranks` largest numbers, in order; `least`: that which is the last of them, or one below. */
static void rank_from(const float *x, ptrdiff_t count, const float *maxima, float least, ptrdiff_t ranks,
                      Ranked found[MOST_RANKED], float *values, int32_t *places) {
    const float nothing = -__builtin_inff(); /* what may not be drawn: of a grammar, nearly all */
    ptrdiff_t held = 0;
    int is_full = 0; /* then an equal one comes too late */
    for (ptrdiff_t k = 0; k < count; k += RANK_BLOCK) {
        if (maxima[k / RANK_BLOCK] < least || maxima[k / RANK_BLOCK] == nothing) continue;
        for (ptrdiff_t i = k; i < count && i < k + RANK_BLOCK; i++) {
            if (x[i] < least || x[i] == nothing || (is_full && x[i] == least)) continue;
            found[held++] = (Ranked){x[i], (int32_t)i};
            if (held < MOST_RANKED) continue;
            held = kept_ranks(found, held, ranks);
            least = found[held - 1].value, is_full = 1;
        }
    }
    held = kept_ranks(found, held, ranks);
    for (ptrdiff_t i = 0; held < ranks; i++)
        if (x[i] == nothing) found[held++] = (Ranked){nothing, (int32_t)i};
    for (ptrdiff_t i = 0; i < ranks; i++) values[i] = found[i].value, places[i] = found[i].place;
}

/* As `masses`, and the `ranks` largest numbers, in order, with their places: at most `count`, and fewer than
 * MOST_RANKED. Nothing is ranked where a mass is not finite. */
EXPORT int llama_gui_rank(const float *x, ptrdiff_t count, float divisor, ptrdiff_t ranks, float *values,
                          int32_t *places, double found[3]) {
    const ptrdiff_t blocks = (count + RANK_BLOCK - 1) / RANK_BLOCK;
    const ptrdiff_t searched = ranks < blocks ? blocks : count; /* as many blocks have a largest one that is as large */
    float *maxima = aligned((size_t)(blocks + searched) * sizeof *maxima + MOST_RANKED * sizeof(Ranked));
    if (!maxima) return 1;
    float *copy = maxima + blocks;
    masses(x, count, divisor, maxima, found);
    if (found[1] > 0 && found[1] < __builtin_inf()) {
        memcpy(copy, ranks < blocks ? maxima : x, (size_t)searched * sizeof *copy);
        Ranked *some = (Ranked *)(copy + searched); /* of the same size as two floats, and aligned as one */
        rank_from(x, count, maxima, nth_largest(copy, searched, ranks), ranks, some, values, places);
    }
    release(maxima);
    return 0;
}
