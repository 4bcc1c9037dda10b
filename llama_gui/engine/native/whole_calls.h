/* The entry points of products with weights of eight and of four bits: the latter in 512-bit registers where the CPU has them. */

static Product int8_product(const int8_t *x, ptrdiff_t width, const int8_t *w, Result to) {
    return (Product){
        .x = x, .width = width, .weight = w, .most = 8, .places = int8_places, .unit = 1, .multiply = multiply_int8, .to = to,
    };
}

EXPORT int llama_gui_int8(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const int8_t *w, ptrdiff_t channels,
                          const float *scales, const float *row_scales, void *y, int kind) {
    const Result to = {y, channels, channels, scales, NULL, row_scales, (Kind)kind, 0};
    const Product product = int8_product(x, width, w, to);
    multiply_all(&product, rows);
    return 0;
}

INLINE int32_t total_of(const int8_t *x, ptrdiff_t width) {
    int32_t total = 0;
    for (ptrdiff_t k = 0; k < width; k++) total += x[k];
    return total;
}

/* Rows of eight bits times panels, or weights expanded to panels. 1: there is no memory. */
static int multiply_with_panels(PanelProduct product, ptrdiff_t rows) {
    int32_t *totals = aligned(rows * sizeof *totals);
    if (totals == NULL) return 1;
    for (ptrdiff_t r = 0; r < rows; r++) totals[r] = total_of(product.x + r * product.stride, product.stride);
    product.x_totals = totals;
#pragma omp parallel
    panels_in_team(&product, rows);
    release(totals);
    return 0;
}

/* `width` is a multiple of four. */
EXPORT int llama_gui_int8_panels(const int8_t *x, ptrdiff_t rows, ptrdiff_t width, const void *panels, ptrdiff_t channels,
                                 const float *scales, const float *row_scales, void *y, int kind) {
    const Result to = {y, channels, channels, scales, NULL, row_scales, (Kind)kind, 0};
    return multiply_with_panels(int8_panels(x, NULL, width, panels, to), rows);
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
    const Result to = {y, channels, channels, scales, NULL, row_scales, (Kind)kind, 0};
    if (is_written_out(rows)) return multiply_with_panels(int4_panels(x, NULL, width, &w, to), rows);
    int16_t *x_sums = aligned(rows * (width / GROUP) * sizeof *x_sums);
    if (x_sums == NULL) return 1;
    sum_groups(x, rows * (width / GROUP), x_sums);
    const Product product = int4_product(x, x_sums, width, &w, to);
    multiply_all(&product, rows);
    release(x_sums);
    return 0;
}
