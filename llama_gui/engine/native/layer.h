/* Whole layers of the network in one call: norms, products, rotation, attention and the gate, on rows of float32 in place.
 *
 * One team of threads goes through all of it. A step of one conversation consists of short operations, which took a third
 * of the time of a small network while each of them was a call and a team of its own. */

/* The form in which a weight is multiplied; weights in blocks have `IN_BLOCKS` + their BlockKind. */
typedef enum {
    WHOLE_INT8, INT8_PANELS, WHOLE_INT4, HALF_BFLOAT16, HALF_FLOAT16, IN_CODES, IN_BLOCKS, LAST_FORM = IN_BLOCKS + Q7_K,
} Form;

/* A weight, or some channels of one: what `parts` are depends on the form. */
typedef struct {
    int64_t form, channels;
    void *parts[4];
    const float *scales, *bias;
} Part;

typedef struct {
    const Part *parts; /* behind one another */
    int64_t count, channels, width;
} Linear;

typedef enum { SILU = 0, GELU = 1, CLAMPED = 2, SQUARED = 3 } Activation; /* the last one has no gate */

/* In the place of an MLP; see experts.h. */
typedef struct {
    const Linear *gate_up, *down; /* of each expert, all of the same sizes and forms */
    const float *router;          /* [count][hidden] */
    const float *router_bias;     /* [count], or NULL */
    int64_t count, chosen;        /* a row goes through so many of them */
    int64_t normalises;           /* the weights of the chosen ones add up to 1 */
    const float *correction;      /* [count]: is added to the weights while some are chosen; or NULL */
    const Linear *shared_gate_up, *shared_down; /* of an MLP that all rows go through besides; or NULL */
    const float *shared_gate;     /* [hidden]: through a sigmoid, how much of that a row gets; or NULL */
    int64_t by_sigmoid;           /* a weight is that of its logit, in the place of the softmax of all */
    const float *scales;          /* [count]: multiply the weights; or NULL */
    const float *router_norm, *expert_norm; /* of what goes to the router, and into experts; or NULL: both get what the MLP would */
    const float *after_shared, *after_experts; /* norms of what each makes, before both are added and normed; or NULL */
} Experts;

typedef struct {
    Linear qkv, out, gate_up, down; /* the last two those of one expert, where there are some; or empty: there is no MLP */
    const float *attention_norm, *mlp_norm; /* or NULL */
    const float *q_norm, *k_norm; /* of each head or of all as one, before or after they are rotated; or NULL */
    const float *post_attention_norm, *post_mlp_norm; /* of what is added to x; or NULL */
    double eps;
    int64_t heads, kv_heads, dim, window;
    int64_t rotary_dim; /* the first numbers of each head that are rotated */
    int64_t gate;       /* an Activation */
    int64_t whole_norms; /* q_norm and k_norm are of all heads as one */
    int64_t norms_turned; /* each head is normed after it was rotated, and not before */
    const Experts *experts; /* or NULL */
    const float *sinks;     /* of each head, or NULL; see `put_seen` */
    double cap;             /* of scores, or 0; see `cap_scores` */
    int64_t borrows;        /* qkv makes queries only, which attend to what another layer keeps */
    const float *v_norm;    /* of each head of the values, or NULL */
    const Linear *input_gate, *input_out; /* of an input of the layer's own; or NULL */
    const float *input_norm;
    double scalar; /* everything is multiplied by it at the end */
    int64_t gates; /* qkv makes gates, too, behind the queries of each head */
    const DeltaNet *delta; /* in the place of attention; or NULL */
    const ShortConv *conv; /* the same */
    const Mamba *mamba;    /* the same */
} Layer;

/* How many rates go with a row of what is in the place of attention. */
static ptrdiff_t rates_of(const Layer *layer) {
    return layer->delta ? 2 * layer->delta->value_heads : layer->mamba ? layer->mamba->heads : 0;
}

/* Rows as the products need them: with a scale for each row, with one for each block of it, and arranged (`arrange_row`). */
typedef struct {
    int8_t *levels;
    float *scales;
    int16_t *sums, *offsets;
    int32_t *totals;
} Levels;

typedef struct {
    Levels of_rows, of_blocks;
    float *arranged;
    char *for_codes;
} Prepared;

/* What is found out about the rows of a call. A row and one of its experts are a pair. */
typedef struct {
    float *normed;         /* [rows][hidden] */
    float *weights;        /* of all experts: [rows][padded_count] */
    int32_t *number;       /* of those of a row, in ascending order: [rows][chosen] */
    int32_t *place;        /* the pair that each of them is: [rows][chosen] */
    int32_t *row, *expert; /* of each pair */
    int32_t *begins;       /* the first pair of each expert: [count + 1] */
} Routing;

/* The scratch memory of a call. */
typedef struct {
    ptrdiff_t rows;      /* of which there is room for a linear's */
    Routing routing;
    Prepared prepared;
    float *y, *inner;    /* results of the products, and of attention or the gate */
    float *own;          /* a row for each thread */
    float *normed, *rates; /* what a gated delta net or a state space gets */
    float *mixed, *beside; /* what experts make, and the MLP beside them, where both are normed */
    __m256 *sums;        /* for each thread, see half_products.h */
    ptrdiff_t own_width;
} Space;

/* Whether a linear has a part of some forms, `first` to `last`. */
static int has(const Linear *linear, int first, int last) {
    for (int64_t i = 0; i < linear->count; i++)
        if (linear->parts[i].form >= first && linear->parts[i].form <= last) return 1;
    return 0;
}

enum { LEAST_PAIRS = 64 }; /* that are in memory at once */

/* As many as any expert can have, and all of few rows. */
static ptrdiff_t pairs_at_once(const Experts *experts, ptrdiff_t rows) {
    const ptrdiff_t most = rows > LEAST_PAIRS ? rows : LEAST_PAIRS, all = rows * experts->chosen;
    return most < all ? most : all;
}

INLINE ptrdiff_t padded_count(const Experts *experts) { return up_to(experts->count, 8); }

static Routing routing_for(const Experts *experts, ptrdiff_t rows, ptrdiff_t hidden, Stock *from) {
    const size_t pairs = rows * experts->chosen * sizeof(int32_t);
    return (Routing){
        take(from, rows * hidden * sizeof(float)), take(from, rows * padded_count(experts) * sizeof(float)),
        take(from, pairs), take(from, pairs), take(from, pairs), take(from, pairs),
        take(from, (experts->count + 1) * sizeof(int32_t)),
    };
}

static int is_half(int64_t form) { return form == HALF_BFLOAT16 || form == HALF_FLOAT16; }

/* From two stocks, because glibc keeps freed memory only in pieces of at most 32 MiB: the system hands out larger ones page by page
 * each time. */
static Space space_for(const Layer *layer, ptrdiff_t rows, Stock *from, Stock *for_products) {
    const Linear *all[8] = {&layer->qkv, &layer->out, &layer->gate_up, &layer->down};
    int linears = 4;
    if (layer->experts && layer->experts->shared_gate_up)
        all[linears++] = layer->experts->shared_gate_up, all[linears++] = layer->experts->shared_down;
    if (layer->input_gate) all[linears++] = layer->input_gate, all[linears++] = layer->input_out;
    ptrdiff_t width = 0, made = 0, behind = 0;
    int has_rows = 0, has_blocks = 0, has_halves = 0, has_codes = 0;
    for (int i = 0; i < linears; i++) {
        if (all[i]->width > width) width = all[i]->width;
        if ((i % 2 == 0 || layer->post_attention_norm) && all[i]->channels > made) made = all[i]->channels;
        if (i % 2 == 1 && all[i]->width > behind) behind = all[i]->width;
        has_rows |= has(all[i], WHOLE_INT8, WHOLE_INT4), has_halves |= has(all[i], HALF_BFLOAT16, HALF_FLOAT16);
        has_blocks |= has(all[i], IN_BLOCKS, LAST_FORM), has_codes |= has(all[i], IN_CODES, IN_CODES);
    }
    Space space = {.own_width = up_to(width, STEP)};
    if (layer->experts && layer->experts->after_experts) {
        space.mixed = take(from, rows * layer->gate_up.width * sizeof(float));
        space.beside = take(from, rows * layer->gate_up.width * sizeof(float));
    }
    if (layer->experts) {
        space.routing = routing_for(layer->experts, rows, layer->gate_up.width, from);
        const ptrdiff_t pairs = pairs_at_once(layer->experts, rows);
        if (pairs > rows) rows = pairs;
        if (layer->down.channels > made) made = layer->down.channels;
    }
    space.rows = rows;
    if (has_rows)
        space.prepared.of_rows = (Levels){take(from, rows * width), take(from, rows * sizeof(float)),
                                          take(from, rows * (width / GROUP) * sizeof(int16_t)), NULL,
                                          take(from, rows * sizeof(int32_t))};
    if (has_blocks)
        space.prepared.of_blocks = (Levels){take(from, rows * width), take(from, rows * blocks_of(width) * sizeof(float)),
                                            take(from, rows * block_sums(Q4_K, width) * sizeof(int16_t)),
                                            take(from, rows * block_sums(Q6_K, width) * sizeof(int16_t)), NULL};
    if (has_halves) {
        space.prepared.arranged = take(from, rows * up_to(width, BLOCK) * sizeof(float));
        space.sums = take(from, omp_get_max_threads() * half_sums(rows) * sizeof(__m256));
    }
    if (has_codes) space.prepared.for_codes = take(from, rows * coded_row_bytes(width));
    if (rates_of(layer)) {
        space.normed = take(from, rows * layer->qkv.width * sizeof(float));
        space.rates = take(from, rows * rates_of(layer) * sizeof(float));
    }
    space.y = take(for_products, rows * made * sizeof(float));
    space.inner = take(from, rows * behind * sizeof(float));
    space.own = take(from, omp_get_max_threads() * space.own_width * sizeof(float));
    return space;
}

/* Where the sums of a row's groups are, for blocks of a kind; see `sum_blocks`. */
static int16_t *sums_for(BlockKind kind, const Levels *of) { return has_small_groups(kind) ? of->offsets : of->sums; }

/* Row `r` of `rows`, as the parts of a linear want it. */
static void prepare_row(const Linear *linear, const float *x, ptrdiff_t r, ptrdiff_t rows, const Prepared *to) {
    const ptrdiff_t width = linear->width;
    if (has(linear, WHOLE_INT8, WHOLE_INT4)) {
        int8_t *levels = to->of_rows.levels + r * width;
        to->of_rows.scales[r] = quantise_row(x, width, levels);
        const int has_int4 = has(linear, WHOLE_INT4, WHOLE_INT4), writes_out = has_int4 && is_written_out(rows);
        if (writes_out || has(linear, INT8_PANELS, INT8_PANELS)) to->of_rows.totals[r] = total_of(levels, width);
        if (has_int4 && !writes_out) sum_groups(levels, width / GROUP, to->of_rows.sums + r * (width / GROUP));
    }
    if (has(linear, IN_BLOCKS, LAST_FORM)) {
        int8_t *levels = to->of_blocks.levels + r * width;
        float *scales = to->of_blocks.scales + r * blocks_of(width);
        for (ptrdiff_t k = 0; k < width; k += K_BLOCK)
            scales[k / K_BLOCK] = quantise_row(x + k, inputs_of(k, width), levels + k);
        for (int64_t i = 0; i < linear->count; i++) {
            if (linear->parts[i].form < IN_BLOCKS) continue;
            const BlockKind kind = (BlockKind)(linear->parts[i].form - IN_BLOCKS);
            sum_blocks(kind, levels, width, sums_for(kind, &to->of_blocks) + r * block_sums(kind, width));
        }
    }
    if (has(linear, IN_CODES, IN_CODES)) prepare_coded_row(x, r, width, to->for_codes);
    if (is_half(linear->parts[0].form))
        arrange_row(x, r, rows, width, linear->parts[0].form == HALF_FLOAT16 ? FLOAT16 : BFLOAT16, to->arranged);
}

/* For all threads of a team, which do not wait for each other: the rows that `prepare_row` made, times all parts, into `y`
 * [rows][channels]; `adds` to what is there. */
static void multiply_parts(const Linear *linear, const Space *space, ptrdiff_t rows, float *y, int adds) {
    const ptrdiff_t width = linear->width;
    const Levels *of_rows = &space->prepared.of_rows, *of_blocks = &space->prepared.of_blocks;
    for (int64_t i = 0; i < linear->count; i++) {
        const Part *part = &linear->parts[i];
        const Result to = {
            y, part->channels, linear->channels, part->scales, part->bias,
            part->scales ? of_rows->scales : NULL, /* of whole numbers both have some */
            FLOAT32, adds,
        };
        if (part->form == WHOLE_INT8) {
            const Product product = int8_product(of_rows->levels, width, part->parts[0], to);
            multiply_in_team(&product, rows);
        } else if (part->form == INT8_PANELS) {
            const PanelProduct product = int8_panels(of_rows->levels, of_rows->totals, width, part->parts[0], to);
            panels_in_team(&product, rows);
        } else if (part->form == WHOLE_INT4 && is_written_out(rows)) {
            const Int4 w = {part->parts[0], part->parts[1], part->parts[2]};
            const PanelProduct product = int4_panels(of_rows->levels, of_rows->totals, width, &w, to);
            panels_in_team(&product, rows);
        } else if (part->form == WHOLE_INT4) {
            const Int4 w = {part->parts[0], part->parts[1], part->parts[2]};
            const Product product = int4_product(of_rows->levels, of_rows->sums, width, &w, to);
            multiply_in_team(&product, rows);
        } else if (part->form == IN_CODES) {
            const Coded w = {part->parts[0], part->parts[1], part->parts[2], part->parts[3]};
            multiply_codes_in_team(space->prepared.for_codes, rows, width, &w, to);
        } else if (is_half(part->form)) {
            const Kind kind = part->form == HALF_FLOAT16 ? FLOAT16 : BFLOAT16;
            half_in_team(space->prepared.arranged, rows, width, part->parts[0], kind, &to, space->sums);
        } else {
            BlockWeight w = {.kind = (BlockKind)(part->form - IN_BLOCKS)};
            memcpy(w.blocks.parts, part->parts, sizeof part->parts);
            const Product product =
                block_product(of_blocks->levels, sums_for(w.kind, of_blocks), of_blocks->scales, width, &w, to);
            multiply_in_team(&product, rows);
        }
        y += part->channels;
    }
}

static void multiply_prepared(const Linear *linear, const Space *space, ptrdiff_t rows, float *y, int adds) {
    multiply_parts(linear, space, rows, y, adds);
#pragma omp barrier
}

/* Norms rows where there is a norm, and prepares them for a linear. */
static void enter(const Linear *linear, const float *x, const float *norm, double eps, ptrdiff_t rows, const Space *space) {
    float *own = space->own + omp_get_thread_num() * space->own_width;
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        const float *row = x + r * linear->width;
        if (norm) {
            norm_row(row, norm, linear->width, eps, own);
            row = own;
        }
        prepare_row(linear, row, r, rows, &space->prepared);
    }
}

/* Multiply the rows in `space->inner`, norm them where there is a norm, and add them to x; `space->y` is free then. */
static void leave(const Linear *linear, float *x, const float *norm, double eps, ptrdiff_t rows, const Space *space) {
    const ptrdiff_t width = linear->channels;
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++)
        prepare_row(linear, space->inner + r * linear->width, r, rows, &space->prepared);
    multiply_prepared(linear, space, rows, norm ? space->y : x, norm == NULL);
    if (norm == NULL) return;
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        float *row = space->y + r * width, *to = x + r * width;
        norm_row(row, norm, width, eps, row);
        for (ptrdiff_t k = 0; k < width; k += 8)
            _mm256_storeu_ps(to + k, _mm256_add_ps(_mm256_loadu_ps(to + k), _mm256_loadu_ps(row + k)));
    }
}

/* Turns the halves of a head against each other; the sines of the first half are negative. See `rotary.rotate`. */
INLINE void rotate_head(float *head, const float *cosines, const float *sines, ptrdiff_t dim) {
    const ptrdiff_t half = dim / 2;
    ptrdiff_t d = 0;
    for (; d + 8 <= half; d += 8) {
        __m256 first = _mm256_loadu_ps(head + d), second = _mm256_loadu_ps(head + half + d);
        __m256 turned = _mm256_mul_ps(second, _mm256_loadu_ps(sines + d));
        _mm256_storeu_ps(head + d, _mm256_fmadd_ps(first, _mm256_loadu_ps(cosines + d), turned));
        turned = _mm256_mul_ps(first, _mm256_loadu_ps(sines + half + d));
        _mm256_storeu_ps(head + half + d, _mm256_fmadd_ps(second, _mm256_loadu_ps(cosines + half + d), turned));
    }
    for (; d < half; d++) {
        const float first = head[d], second = head[half + d];
        head[d] = first * cosines[d] + second * sines[d];
        head[half + d] = second * cosines[half + d] + first * sines[half + d];
    }
}

/* The queries and keys of a row, all heads of each as one, in place. */
INLINE void norm_all_heads(const Layer *layer, float *y) {
    const ptrdiff_t queries = layer->heads * layer->dim;
    norm_row(y, layer->q_norm, queries, layer->eps, y);
    norm_row(y + queries, layer->k_norm, layer->kv_heads * layer->dim, layer->eps, y + queries);
}

INLINE void scale_head(float *head, float scale, ptrdiff_t dim) {
    for (ptrdiff_t d = 0; d < dim; d++) head[d] *= scale;
}

/* Cosines and sines, [rows][rotary_dim]; what the queries of each row are multiplied by, or NULL. */
typedef struct {
    const float *cosines, *sines, *scales;
} Turns;

/* Queries and keys of all rows, and values that are normed, in place. */
static void turn_heads(const Layer *layer, const Turns *turns, ptrdiff_t rows, float *y) {
    const ptrdiff_t dim = layer->dim, rotary = layer->rotary_dim, kept = layer->borrows ? 0 : layer->kv_heads;
    const ptrdiff_t turned = layer->heads + kept, between = layer->gates ? layer->heads * dim : 0;
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        if (layer->whole_norms) norm_all_heads(layer, y + r * layer->qkv.channels);
        for (ptrdiff_t h = 0; h < turned; h++) {
            float *head = y + r * layer->qkv.channels + h * dim + (h < layer->heads ? 0 : between);
            const float *norm = h < layer->heads ? layer->q_norm : layer->k_norm;
            if (norm && !layer->whole_norms && !layer->norms_turned) norm_row(head, norm, dim, layer->eps, head);
            rotate_head(head, turns->cosines + r * rotary, turns->sines + r * rotary, rotary);
            if (norm && layer->norms_turned) norm_row(head, norm, dim, layer->eps, head);
            if (turns->scales && h < layer->heads) scale_head(head, turns->scales[r], dim);
        }
        for (ptrdiff_t h = 0; h < (layer->v_norm ? kept : 0); h++) {
            float *head = y + r * layer->qkv.channels + (turned + h) * dim;
            norm_row(head, layer->v_norm, dim, layer->eps, head);
        }
    }
}

enum { STRETCH = 1024 }; /* numbers that one thread gates at a time */

/* Both are kept within limits; a number that is none stays so. See `gating.py`. */
INLINE __m256 clamped(__m256 x, __m256 up) {
    const __m256 most = _mm256_set1_ps(7.0f), slope = _mm256_set1_ps(1.702f);
    const __m256 within = _mm256_max_ps(_mm256_set1_ps(-7.0f), _mm256_min_ps(most, up));
    const __m256 gated = _mm256_div_ps(silu(_mm256_mul_ps(_mm256_min_ps(most, x), slope)), slope);
    return _mm256_mul_ps(gated, _mm256_add_ps(within, _mm256_set1_ps(1.0f)));
}

INLINE void gate_stretch(const float *gate, const float *up, ptrdiff_t count, Activation activation, float *to) {
    for (ptrdiff_t k = 0; k < count; k += 8) {
        const __m256 x = _mm256_loadu_ps(gate + k), y = _mm256_loadu_ps(up + k);
        const __m256 gated = activation == CLAMPED ? clamped(x, y) : _mm256_mul_ps(activation == GELU ? gelu(x) : silu(x), y);
        _mm256_storeu_ps(to + k, gated);
    }
}

/* What is above 0, squared; a number that is none stays so. */
INLINE void square_stretch(const float *up, ptrdiff_t count, float *to) {
    for (ptrdiff_t k = 0; k < count; k += 8) {
        const __m256 above = _mm256_max_ps(_mm256_setzero_ps(), _mm256_loadu_ps(up + k));
        _mm256_storeu_ps(to + k, _mm256_mul_ps(above, above));
    }
}

/* GELU of `count` numbers of float32, a multiple of eight; with `by`, times those. */
EXPORT int llama_gui_gelu(const float *x, ptrdiff_t count, const float *by, float *y) {
#pragma omp parallel for
    for (ptrdiff_t begin = 0; begin < count; begin += STRETCH) {
        const ptrdiff_t end = begin + STRETCH < count ? begin + STRETCH : count;
        if (by) gate_stretch(x + begin, by + begin, end - begin, GELU, y + begin);
        else for (ptrdiff_t k = begin; k < end; k += 8) _mm256_storeu_ps(y + k, gelu(_mm256_loadu_ps(x + k)));
    }
    return 0;
}

/* act(gate) * up, gate and up side by side in each row; or of up alone. */
static void gate_rows(const float *y, ptrdiff_t rows, ptrdiff_t width, Activation activation, float *to) {
    const ptrdiff_t stretches = (width + STRETCH - 1) / STRETCH;
#pragma omp for
    for (ptrdiff_t item = 0; item < rows * stretches; item++) {
        const ptrdiff_t r = item / stretches, begin = item % stretches * STRETCH;
        const ptrdiff_t count = begin + STRETCH < width ? STRETCH : width - begin;
        if (activation == SQUARED) {
            square_stretch(y + r * width + begin, count, to + r * width + begin);
            continue;
        }
        const float *gate = y + r * 2 * width + begin;
        /* A call for each, so that the activation is a constant in the compiled loop. */
        if (activation == GELU) gate_stretch(gate, gate + width, count, GELU, to + r * width + begin);
        else if (activation == CLAMPED) gate_stretch(gate, gate + width, count, CLAMPED, to + r * width + begin);
        else gate_stretch(gate, gate + width, count, SILU, to + r * width + begin);
    }
}

/* A layer, its number in a part of the caches, which of the rotations its heads get, and where its own numbers begin
 * among those that are given. */
typedef struct {
    const Layer *layer;
    int64_t number, turns, part, begins;
} Pass;

/* The rows of some conversations, on their way through layers. */
typedef struct {
    float *x; /* [rows][hidden] */
    ptrdiff_t rows;
    DeltaSpans states;
    const Turns *turns;
    const Span *spans; /* [parts of the caches][count] */
    ptrdiff_t count;
    Kind kept;          /* in the caches */
    const float *given; /* [rows that attend][given_stride], or NULL */
    ptrdiff_t given_stride;
} Rows;

/* Moves rows to the front of `rows` [..][width]: those of the tokens that attend. */
static void gather_attending(const Span *spans, ptrdiff_t count, ptrdiff_t width, float *rows) {
    ptrdiff_t to = 0;
    for (ptrdiff_t s = 0; s < count; to += spans[s].attending, s++) {
        const ptrdiff_t from = spans[s].row + spans[s].length - spans[s].attending;
        if (from > to) memmove(rows + to * width, rows + from * width, spans[s].attending * width * sizeof(float));
    }
}

static ptrdiff_t attending(const Span *spans, ptrdiff_t count) {
    ptrdiff_t rows = 0;
    for (ptrdiff_t s = 0; s < count; s++) rows += spans[s].attending;
    return rows;
}

static void pass_experts(const Layer *layer, float *x, ptrdiff_t rows, const Space *space);

/* The input of a layer's own: x += norm(out(gelu(gate(x)) * given)). */
static void pass_input(const Layer *layer, const float *given, ptrdiff_t stride, float *x, ptrdiff_t rows, const Space *space) {
    const ptrdiff_t width = layer->input_out->width;
    enter(layer->input_gate, x, NULL, layer->eps, rows, space);
    multiply_prepared(layer->input_gate, space, rows, space->y, 0);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++)
        gate_stretch(space->y + r * width, given + r * stride, width, GELU, space->inner + r * width);
    leave(layer->input_out, x, layer->input_norm, layer->eps, rows, space);
}

static void scale_rows(float *x, ptrdiff_t rows, ptrdiff_t width, float scale) {
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) scale_head(x + r * width, scale, width);
}

/* Moves the gates of each head behind all queries. */
static void part_gates(const Layer *layer, ptrdiff_t rows, const Space *space) {
    const ptrdiff_t dim = layer->dim, queries = layer->heads * dim;
    float *const gates = space->own + omp_get_thread_num() * space->own_width; /* as wide as what goes into `out` */
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        float *const row = space->y + r * layer->qkv.channels;
        for (ptrdiff_t h = 0; h < layer->heads; h++) {
            memcpy(gates + h * dim, row + (2 * h + 1) * dim, dim * sizeof *row);
            memmove(row + h * dim, row + 2 * h * dim, dim * sizeof *row);
        }
        memcpy(row + queries, gates, queries * sizeof *row);
    }
}

/* Multiplies what the heads see. */
static void gate_heads(const Layer *layer, ptrdiff_t rows, const Space *space) {
    const ptrdiff_t queries = layer->heads * layer->dim;
    const __m256 one = _mm256_set1_ps(1.0f);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        const float *const gates = space->y + r * layer->qkv.channels + queries;
        float *const seen = space->inner + r * queries;
        for (ptrdiff_t k = 0; k < queries; k += 8) {
            const __m256 falls = exponential(_mm256_sub_ps(_mm256_setzero_ps(), _mm256_loadu_ps(gates + k)));
            _mm256_storeu_ps(seen + k, _mm256_div_ps(_mm256_loadu_ps(seen + k), _mm256_add_ps(one, falls)));
        }
    }
}

/* For all threads of a team: from what qkv has made to what goes into `out`. */
static void attend_in_layer(const Pass *pass, const Rows *all, const Space *space, int *failed) {
    const Layer *const layer = pass->layer;
    const ptrdiff_t stride = layer->qkv.channels, dim = layer->dim;
    const ptrdiff_t k = layer->heads * dim * (layer->gates ? 2 : 1), v = k + layer->kv_heads * dim;
    const Attention attention = {
        .q = space->y, .k = layer->borrows ? NULL : space->y + k, .v = layer->borrows ? NULL : space->y + v, .q_stride = stride, .k_stride = stride, .v_stride = stride,
        .heads = layer->heads, .kv_heads = layer->kv_heads, .dim = dim, .window = layer->window,
        .scale = 1.0f / __builtin_sqrtf((float)dim), .y = space->inner, .kind = all->kept,
        .sinks = layer->sinks, .cap = (float)layer->cap,
    };
    if (layer->gates) part_gates(layer, all->rows, space);
    turn_heads(layer, &all->turns[pass->turns], all->rows, space->y);
    attend_in_team(&attention, all->spans + pass->part * all->count, all->count, pass->number, failed);
#pragma omp barrier
    if (layer->gates) gate_heads(layer, all->rows, space);
}

/* How fast each head forgets, and what else is made of normed rows in float32: `weight` [rates][hidden]. */
static void make_rates(const Layer *layer, const Rows *all, const float *weight, const Space *space) {
    const ptrdiff_t hidden = layer->qkv.width, rates = rates_of(layer);
#pragma omp for
    for (ptrdiff_t r = 0; r < all->rows; r++)
        norm_row(all->x + r * hidden, layer->attention_norm, hidden, layer->eps, space->normed + r * hidden);
    dots_in_team(space->normed, all->rows, hidden, weight, rates, rates, space->rates);
}

/* The same of a gated delta net. */
static void delta_in_layer(const Layer *layer, const Rows *all, const Space *space) {
    const DeltaNet *const net = layer->delta;
    const KeptShape shape = {net->number, layer->qkv.channels, rates_of(layer)};
    make_rates(layer, all, net->rates, space);
    if (omp_get_thread_num() == 0)
        keep_rows(&shape, space->y, space->rates, all->states.pieces, all->states.begins[all->states.conversations]);
    delta_in_team(net, space->y, space->rates, &all->states, space->inner);
}

static void mamba_in_layer(const Layer *layer, const Rows *all, const Space *space) {
    make_rates(layer, all, layer->mamba->rates, space);
    mamba_in_team(layer->mamba, space->y, space->rates, all->rows, &all->states, space->inner);
}

/* For all threads of a team. Only rows that attend come out, at the front of x. */
static void pass_in_team(const Pass *pass, const Rows *all, const Space *space, int *failed) {
    const Layer *const layer = pass->layer;
    const Span *const spans = all->spans + pass->part * all->count;
    enter(&layer->qkv, all->x, layer->attention_norm, layer->eps, all->rows, space);
    multiply_prepared(&layer->qkv, space, all->rows, space->y, 0);
    if (layer->delta) delta_in_layer(layer, all, space);
    else if (layer->mamba) mamba_in_layer(layer, all, space);
    else if (layer->conv) convolve_in_team(layer->conv, space->y, &all->states, space->inner);
    else attend_in_layer(pass, all, space, failed);
    const ptrdiff_t rows = attending(spans, all->count);
    if (rows < all->rows) {
/* No sections: for those clang calls what libiomp5md.def does not name. */
#pragma omp for
        for (ptrdiff_t part = 0; part < 2; part++)
            gather_attending(spans, all->count, part ? layer->out.width : layer->qkv.width, part ? space->inner : all->x);
    }
    leave(&layer->out, all->x, layer->post_attention_norm, layer->eps, rows, space);
    if (layer->experts) {
        pass_experts(layer, all->x, rows, space);
    } else if (layer->gate_up.count) {
        enter(&layer->gate_up, all->x, layer->mlp_norm, layer->eps, rows, space);
        multiply_prepared(&layer->gate_up, space, rows, space->y, 0);
        gate_rows(space->y, rows, layer->down.width, (Activation)layer->gate, space->inner);
        leave(&layer->down, all->x, layer->post_mlp_norm, layer->eps, rows, space);
    }
    if (layer->input_gate) pass_input(layer, all->given + pass->begins, all->given_stride, all->x, rows, space);
    if (layer->scalar != 1) scale_rows(all->x, rows, layer->qkv.width, (float)layer->scalar);
}

/* `x` through some layers. 1: there was no memory. */
EXPORT int llama_gui_layers(const Pass *passes, ptrdiff_t layers, float *x, ptrdiff_t rows, const Turns *turns,
                            const Span *spans, ptrdiff_t count, int cache_kind, const float *given, ptrdiff_t given_stride,
                            const DeltaPiece *pieces, const int64_t *begins, ptrdiff_t conversations) {
    const DeltaSpans states = {pieces, begins, conversations};
    const Rows all = {x, rows, states, turns, spans, count, (Kind)cache_kind, given, given_stride};
    size_t most[2] = {0, 0};
    for (ptrdiff_t i = 0; i < layers; i++) {
        Stock wanted[2] = {{NULL, 0}, {NULL, 0}};
        space_for(passes[i].layer, rows, &wanted[0], &wanted[1]);
        for (int n = 0; n < 2; n++)
            if (wanted[n].taken > most[n]) most[n] = wanted[n].taken;
    }
    char *const memory = aligned(most[0]), *const for_products = aligned(most[1]);
    int failed = memory == NULL || for_products == NULL;
    if (!failed) {
#pragma omp parallel
        for (ptrdiff_t i = 0; i < layers; i++) {
            Stock stocks[2] = {{memory, 0}, {for_products, 0}};
            const Space space = space_for(passes[i].layer, rows, &stocks[0], &stocks[1]);
            pass_in_team(&passes[i], &all, &space, &failed);
        }
    }
    release(memory);
    release(for_products);
    return failed;
}
