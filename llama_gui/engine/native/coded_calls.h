/* Products with weights of bfloat16 in codes as they are asked for: in wide registers where these multiply bfloat16, with rows
 * that are rounded to it, as they are in a network of bfloat16; else with rows of float32. */

/* From row to row, in bytes. Rows that begin a power of two apart would compete for few lines of the cache. */
INLINE ptrdiff_t coded_row_bytes(ptrdiff_t width) {
    return up_to(width * (ptrdiff_t)(has_wide_halves ? sizeof(uint16_t) : sizeof(float)), ALIGNMENT) + ALIGNMENT;
}

/* Row `r` as it is multiplied. */
static void prepare_coded_row(const float *x, ptrdiff_t r, ptrdiff_t width, char *rows) {
    char *const row = rows + r * coded_row_bytes(width);
    if (has_wide_halves) narrow_row(x, width, (uint16_t *)row);
    else memcpy(row, x, width * sizeof *x);
}

/* For all threads of a team; `x` as `prepare_coded_row` makes it. */
static void multiply_codes_in_team(const char *x, ptrdiff_t rows, ptrdiff_t width, const Coded *w, Result to) {
    const ptrdiff_t stride = coded_row_bytes(width);
    if (has_wide_halves) {
        const PanelProduct product = wide_coded_product((const uint16_t *)x, stride, width, w, to);
        panels_in_team(&product, rows);
    } else {
        const CodedProduct product = {(const float *)x, width, stride / (ptrdiff_t)sizeof(float), w, to};
        coded_in_team(&product, rows);
    }
}

/* Rows of float32; `width` is a multiple of four, see Coded. 1: there is no memory. */
EXPORT int llama_gui_codes(const float *x, ptrdiff_t rows, ptrdiff_t width, const uint8_t *pairs, const uint8_t *tables,
                           const uint32_t *begins, const uint32_t *strays, ptrdiff_t channels, const float *bias, float *y) {
    const Coded w = {pairs, tables, begins, strays};
    const Result to = {y, channels, channels, NULL, bias, NULL, FLOAT32, 0};
    char *prepared = aligned(rows * coded_row_bytes(width));
    if (prepared == NULL) return 1;
#pragma omp parallel
    {
#pragma omp for
        for (ptrdiff_t r = 0; r < rows; r++) prepare_coded_row(x + r * width, r, width, prepared);
        multiply_codes_in_team(prepared, rows, width, &w, to);
    }
    release(prepared);
    return 0;
}
