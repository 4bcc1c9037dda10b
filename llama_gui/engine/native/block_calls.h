/* Products with weights in blocks as they are asked for: in wide registers where there are some. */

static Product block_product(const int8_t *x, const int16_t *x_sums, const float *x_scales, ptrdiff_t width,
                             const BlockWeight *w, Result to) {
    const int has_pairs = w->kind == Q4_K || w->kind == Q4_0 || w->kind == Q7_K;
    Product product = {
        .x = x, .x_sums = x_sums, .x_scales = x_scales, .width = width, .sums = block_sums(w->kind, width),
        .scales = blocks_of(width), .weight = w, .most = has_pairs ? MANY : 4, .places = block_places[w->kind],
        .unit = TOGETHER, .has_pairs = has_pairs, .multiply = multiply_blocks, .to = to,
    };
    if (has_wide && w->kind != Q7_K) { /* which is for CPUs without */
        product.most = WIDE_BLOCK_ROWS, product.places = wide_pair_places, product.has_pairs = 0;
        product.multiply = multiply_wide_blocks;
        if (has_tiles && has_tiled_numbers(w->kind)) product.in_tiles = blocks_in_tiles, product.least_tiled = LEAST_TILED_BLOCKS;
    }
    return product;
}

EXPORT int llama_gui_blocks(int kind, const int8_t *x, ptrdiff_t rows, ptrdiff_t width, uint8_t *first, uint8_t *second,
                            uint8_t *third, uint8_t *fourth, ptrdiff_t channels, const float *x_scales, void *y,
                            int result) {
    const BlockWeight w = {{{first, second, third, fourth}, 0}, (BlockKind)kind};
    int16_t *x_sums = aligned(rows * block_sums(w.kind, width) * sizeof *x_sums);
    if (x_sums == NULL) return 1;
    sum_blocks(w.kind, x, rows * width, x_sums);
    const Result to = {y, channels, channels, NULL, NULL, NULL, (Kind)result, 0};
    const Product product = block_product(x, x_sums, x_scales, width, &w, to);
    multiply_all(&product, rows);
    release(x_sums);
    return 0;
}
