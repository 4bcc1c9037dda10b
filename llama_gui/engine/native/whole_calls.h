/* Products with weights of eight and of four bits as they are asked for: in wide registers where there are some. */

static int32_t total_of(const int8_t *x, ptrdiff_t width) {
    int32_t total = 0;
    for (ptrdiff_t k = 0; k < width; k++) total += x[k];
    return total;
}

/* The same in wide registers. */
static Product in_wide_rows(Product of) {
    of.most = WIDE_ROWS, of.places = wide_rows_places, of.multiply = multiply_wide_rows;
    return of;
}

/* `x_totals` are sums of whole rows. */
static Product int8_product(const int8_t *x, const int32_t *x_totals, ptrdiff_t width, const int8_t *w, Result to) {
    Product product = {
        .x = x, .x_totals = x_totals, .width = width, .stride = width, .weight = w, .most = 8, .places = int8_places, .unit = 1,
        .multiply = multiply_int8, .to = to,
    };
    return has_wide ? in_wide_rows(product) : product;
}

/* From row to row of x, in numbers. Rows that begin a power of two apart would meet in few lines of the cache. */
INLINE ptrdiff_t wide_stride(ptrdiff_t width) { return up_to(width, WIDE_BYTES / 2) + WIDE_BYTES / 2; }

/* Rows and weights of bfloat16, in wide registers. */
static Product bfloat16_product(const uint16_t *x, ptrdiff_t width, const uint16_t *w, Result to) {
    return in_wide_rows((Product){
        .x = (const int8_t *)x, .width = 2 * width, .stride = 2 * wide_stride(width), .weight = w, .unit = 1, .to = to,
    });
}

EXPORT int llama_gui_int8(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const int8_t *w, ptrdiff_t channels,
                          const float *scales, const float *row_scales, void *y, int kind) {
    int32_t *totals = aligned(rows * sizeof *totals);
    if (totals == NULL) return 1;
    for (ptrdiff_t r = 0; r < rows; r++) totals[r] = total_of(x + r * width, width);
    const Result to = {y, channels, channels, scales, NULL, row_scales, (Kind)kind, 0};
    const Product product = int8_product(x, totals, width, w, to);
    multiply_all(&product, rows);
    release(totals);
    return 0;
}

static Product int4_product(const int8_t *x, const int16_t *x_sums, ptrdiff_t width, const Int4 *w, Result to) {
    Product product = {
        .x = x, .x_sums = x_sums, .width = width, .sums = width / GROUP, .weight = w, .most = MANY, .places = int4_places,
        .unit = TOGETHER, .has_pairs = 1, .multiply = multiply_int4, .to = to,
    };
    if (has_wide) {
        product.most = WIDE_FOURS, product.places = wide_pair_places, product.has_pairs = 0;
        product.multiply = multiply_wide_int4;
    }
    return product;
}

EXPORT int llama_gui_int4(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const uint8_t *levels, const uint8_t *steps,
                          const int8_t *lows, ptrdiff_t channels, const float *scales, const float *row_scales, void *y,
                          int kind) {
    const Int4 w = {levels, steps, lows};
    int16_t *x_sums = aligned(rows * (width / GROUP) * sizeof *x_sums);
    if (x_sums == NULL) return 1;
    sum_groups(x, rows * (width / GROUP), x_sums);
    const Result to = {y, channels, channels, scales, NULL, row_scales, (Kind)kind, 0};
    const Product product = int4_product(x, x_sums, width, &w, to);
    multiply_all(&product, rows);
    release(x_sums);
    return 0;
}
