/* A mixture of experts in the place of a layer's MLP: a router sends each row through a few of many. See `experts.py`.
 *
 * A row and one of its experts are a pair. Pairs lie in the order of the experts, and for each expert in the order of the rows, so
 * that the weights of an expert are read once, and a row's results are added in the order of its experts' numbers, whatever
 * other rows there are. */

/* --- who goes where */

/* The softmax over all experts, in place; `all` is a multiple of eight. */
static void weigh(float *logits, ptrdiff_t count, ptrdiff_t all) {
    float largest = logits[0];
    for (ptrdiff_t e = 1; e < count; e++)
        if (logits[e] > largest) largest = logits[e];
    for (ptrdiff_t e = count; e < all; e++) logits[e] = -__builtin_inff();
    __m256 sums = _mm256_setzero_ps();
    for (ptrdiff_t e = 0; e < all; e += 8) {
        const __m256 power = exponential(_mm256_sub_ps(_mm256_loadu_ps(logits + e), _mm256_set1_ps(largest)));
        _mm256_storeu_ps(logits + e, power);
        sums = _mm256_add_ps(sums, power);
    }
    const __m256 total = _mm256_set1_ps(sum_of_floats(sums));
    for (ptrdiff_t e = 0; e < all; e += 8) _mm256_storeu_ps(logits + e, _mm256_div_ps(_mm256_loadu_ps(logits + e), total));
}

/* The numbers of the largest weights, of equal ones the first, in ascending order. So many in any case, whatever is no number. */
static void choose(const float *weights, const Experts *experts, int32_t *number) {
    const float *const plus = experts->correction;
    for (ptrdiff_t n = 0; n < experts->chosen; n++) {
        ptrdiff_t best = -1, at = 0;
        float most = 0;
        for (ptrdiff_t e = 0, next = 0; e < experts->count; e++) {
            if (next < n && number[next] == e) next++; /* it is chosen */
            else {
                const float weight = plus ? weights[e] + plus[e] : weights[e];
                if (best < 0 || weight > most) best = e, at = next, most = weight;
            }
        }
        memmove(number + at + 1, number + at, (n - at) * sizeof *number);
        number[at] = (int32_t)best;
    }
}

/* So that the weights of the chosen ones add up to 1. */
static void normalise(float *weights, const int32_t *number, ptrdiff_t chosen) {
    float total = 0;
    for (ptrdiff_t n = 0; n < chosen; n++) total += weights[number[n]];
    if (total < 1e-12f) total = 1e-12f; /* where a correction chooses, it may be 0; as in `experts.py` */
    for (ptrdiff_t n = 0; n < chosen; n++) weights[number[n]] /= total;
}

/* Counts the pairs of each expert, and gives each pair its place. */
static void order_pairs(const Experts *experts, ptrdiff_t rows, const Routing *to) {
    const ptrdiff_t pairs = rows * experts->chosen;
    int32_t *const begins = to->begins;
    memset(begins, 0, (experts->count + 1) * sizeof *begins);
    for (ptrdiff_t p = 0; p < pairs; p++) begins[to->number[p] + 1]++;
    for (ptrdiff_t e = 0; e < experts->count; e++) begins[e + 1] += begins[e];
    for (ptrdiff_t p = 0; p < pairs; p++) { /* begins move to the ends, which are the next begins */
        const int32_t place = to->place[p] = begins[to->number[p]]++;
        to->row[place] = (int32_t)(p / experts->chosen);
        to->expert[place] = to->number[p];
    }
    for (ptrdiff_t e = experts->count; e > 0; e--) begins[e] = begins[e - 1];
    begins[0] = 0;
}

static void route(const Layer *layer, const float *x, ptrdiff_t rows, const Routing *to) {
    const Experts *const experts = layer->experts;
    const ptrdiff_t hidden = layer->gate_up.width, all = padded_count(experts);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++)
        norm_row(x + r * hidden, experts->router_norm ? experts->router_norm : layer->mlp_norm, hidden, layer->eps,
                 to->normed + r * hidden);
    dots_in_team(to->normed, rows, hidden, experts->router, experts->count, all, to->weights);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        float *const weights = to->weights + r * all;
        int32_t *const number = to->number + r * experts->chosen;
        for (ptrdiff_t e = 0; e < experts->count && experts->router_bias; e++) weights[e] += experts->router_bias[e];
        if (experts->by_sigmoid) {
            for (ptrdiff_t e = 0; e < experts->count; e++) weights[e] = sigmoid(weights[e]);
        } else {
            weigh(weights, experts->count, all);
        }
        choose(weights, experts, number);
        if (experts->normalises) normalise(weights, number, experts->chosen);
        for (ptrdiff_t n = 0; n < experts->chosen && experts->scales; n++) weights[number[n]] *= experts->scales[number[n]];
        if (experts->expert_norm)
            norm_row(x + r * hidden, experts->expert_norm, hidden, layer->eps, to->normed + r * hidden);
    }
    if (omp_get_thread_num() == 0) order_pairs(experts, rows, to);
#pragma omp barrier
}

/* --- the products of some experts, with all their pairs */

typedef struct {
    ptrdiff_t begin, end;     /* experts */
    ptrdiff_t first, pairs;   /* of them */
} Some;

/* As many experts from `begin` on as have at most `most` pairs together. */
static Some some_from(const Experts *experts, const int32_t *begins, ptrdiff_t begin, ptrdiff_t most) {
    ptrdiff_t end = begin + 1;
    while (end < experts->count && begins[end + 1] - begins[begin] <= most) end++;
    return (Some){begin, end, begins[begin], begins[end] - begins[begin]};
}

/* Where the rows of a linear begin that come behind `row` others. */
static Prepared behind(const Prepared *all, ptrdiff_t row, ptrdiff_t width) {
    Prepared part = *all;
    if (part.of_rows.levels) {
        part.of_rows.levels += row * width, part.of_rows.scales += row, part.of_rows.totals += row;
        part.of_rows.sums += row * (width / GROUP);
    }
    if (part.of_blocks.levels) {
        part.of_blocks.levels += row * width, part.of_blocks.scales += row * blocks_of(width);
        part.of_blocks.sums += row * block_sums(Q4_K, width), part.of_blocks.offsets += row * block_sums(Q6_K, width);
    }
    if (part.arranged) part.arranged += row * up_to(width, BLOCK);
    if (part.for_codes) part.for_codes += row * coded_row_bytes(width);
    return part;
}

/* Prepares the row of pair `p` for the linear of its expert. */
static void prepare_pair(const Linear *linears, const Routing *of, Some some, ptrdiff_t p, const float *x, const Space *space) {
    const ptrdiff_t e = of->expert[p], begin = of->begins[e];
    const Prepared to = behind(&space->prepared, begin - some.first, linears[e].width);
    prepare_row(&linears[e], x, p - begin, of->begins[e + 1] - begin, &to);
}

/* For all threads of a team: the prepared rows, times the linear of each expert, into `space->y`. */
static void multiply_pairs(const Linear *linears, const Routing *of, Some some, const Space *space) {
    for (ptrdiff_t e = some.begin; e < some.end; e++) {
        const ptrdiff_t rows = of->begins[e + 1] - of->begins[e], row = of->begins[e] - some.first;
        if (rows == 0) continue;
        Space own = *space;
        own.prepared = behind(&space->prepared, row, linears[e].width);
        /* Another thread may be at another expert: each adds up at the same place whatever the rows are. */
        if (own.sums) own.sums += omp_get_thread_num() * (half_sums(space->rows) - half_sums(rows));
        multiply_parts(&linears[e], &own, rows, space->y + row * linears[e].channels, 0);
    }
#pragma omp barrier
}

/* x += weights * results, for the pairs of all rows. */
static void add_pairs(const Experts *experts, const Routing *of, Some some, ptrdiff_t rows, ptrdiff_t hidden, const float *y,
                      float *x) {
    const ptrdiff_t stretches = (hidden + STRETCH - 1) / STRETCH;
#pragma omp for
    for (ptrdiff_t item = 0; item < rows * stretches; item++) {
        const ptrdiff_t r = item / stretches, begin = item % stretches * STRETCH;
        const ptrdiff_t end = begin + STRETCH < hidden ? begin + STRETCH : hidden;
        for (ptrdiff_t n = r * experts->chosen; n < (r + 1) * experts->chosen; n++) {
            const ptrdiff_t pair = of->place[n] - some.first;
            if (pair < 0 || pair >= some.pairs) continue;
            const __m256 weight = _mm256_set1_ps(of->weights[r * padded_count(experts) + of->number[n]]);
            const float *const made = y + pair * hidden;
            float *const to = x + r * hidden;
            for (ptrdiff_t k = begin; k < end; k += 8)
                _mm256_storeu_ps(to + k, _mm256_fmadd_ps(weight, _mm256_loadu_ps(made + k), _mm256_loadu_ps(to + k)));
        }
    }
}

/* For all threads of a team: what an MLP makes of the prepared rows, into `space->y`. */
static void multiply_mlp(const Linear *gate_up, const Linear *down, Activation gate, ptrdiff_t rows, const Space *space) {
    multiply_prepared(gate_up, space, rows, space->y, 0);
    gate_rows(space->y, rows, down->width, gate, space->inner);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) prepare_row(down, space->inner + r * down->width, r, rows, &space->prepared);
    multiply_prepared(down, space, rows, space->y, 0);
}

/* For all threads of a team: adds to x what the shared expert makes of each normed row. */
static void pass_shared(const Layer *layer, float *x, ptrdiff_t rows, const Space *space) {
    const Linear *const gate_up = layer->experts->shared_gate_up, *const down = layer->experts->shared_down;
    const float *const gate = layer->experts->shared_gate;
    const ptrdiff_t hidden = gate_up->width;
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) prepare_row(gate_up, space->routing.normed + r * hidden, r, rows, &space->prepared);
    multiply_mlp(gate_up, down, (Activation)layer->gate, rows, space);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        const float much = gate ? sigmoid(dot(space->routing.normed + r * hidden, gate, hidden)) : 1.0f;
        const float *const made = space->y + r * hidden;
        float *const to = x + r * hidden;
        for (ptrdiff_t k = 0; k < hidden; k += 8)
            _mm256_storeu_ps(to + k, _mm256_fmadd_ps(_mm256_set1_ps(much), _mm256_loadu_ps(made + k), _mm256_loadu_ps(to + k)));
    }
}

/* For all threads of a team: adds to `sums` what the experts of each row of x make of it. */
static void add_experts(const Layer *layer, const float *x, ptrdiff_t rows, const Space *space, float *sums) {
    const Experts *const experts = layer->experts;
    const Routing *const routing = &space->routing;
    const ptrdiff_t hidden = layer->gate_up.width, inner = layer->down.width;
    route(layer, x, rows, routing);
    const ptrdiff_t most = pairs_at_once(experts, rows);
    for (Some some = some_from(experts, routing->begins, 0, most);;
         some = some_from(experts, routing->begins, some.end, most)) {
#pragma omp for
        for (ptrdiff_t p = some.first; p < some.first + some.pairs; p++)
            prepare_pair(experts->gate_up, routing, some, p, routing->normed + routing->row[p] * hidden, space);
        multiply_pairs(experts->gate_up, routing, some, space);
        gate_rows(space->y, some.pairs, inner, (Activation)layer->gate, space->inner);
#pragma omp for
        for (ptrdiff_t p = some.first; p < some.first + some.pairs; p++)
            prepare_pair(experts->down, routing, some, p, space->inner + (p - some.first) * inner, space);
        multiply_pairs(experts->down, routing, some, space);
        add_pairs(experts, routing, some, rows, hidden, space->y, sums);
        if (some.end == experts->count) break;
    }
}

/* The same beside an MLP, where both have norms of their own, and there is one of their sum (Gemma 4). */
static void pass_beside(const Layer *layer, float *x, ptrdiff_t rows, const Space *space) {
    const Experts *const experts = layer->experts;
    const ptrdiff_t hidden = layer->gate_up.width;
    enter(experts->shared_gate_up, x, layer->mlp_norm, layer->eps, rows, space);
    multiply_mlp(experts->shared_gate_up, experts->shared_down, (Activation)layer->gate, rows, space);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        norm_row(space->y + r * hidden, experts->after_shared, hidden, layer->eps, space->beside + r * hidden);
        memset(space->mixed + r * hidden, 0, hidden * sizeof *space->mixed);
    }
    add_experts(layer, x, rows, space, space->mixed);
#pragma omp for
    for (ptrdiff_t r = 0; r < rows; r++) {
        float *const row = space->mixed + r * hidden, *const to = x + r * hidden;
        const float *const beside = space->beside + r * hidden;
        norm_row(row, experts->after_experts, hidden, layer->eps, row);
        for (ptrdiff_t k = 0; k < hidden; k += 8)
            _mm256_storeu_ps(row + k, _mm256_add_ps(_mm256_loadu_ps(beside + k), _mm256_loadu_ps(row + k)));
        norm_row(row, layer->post_mlp_norm, hidden, layer->eps, row);
        for (ptrdiff_t k = 0; k < hidden; k += 8)
            _mm256_storeu_ps(to + k, _mm256_add_ps(_mm256_loadu_ps(to + k), _mm256_loadu_ps(row + k)));
    }
}

/* For all threads of a team: adds to x what its experts make of each normed row, and an MLP with them. */
static void pass_experts(const Layer *layer, float *x, ptrdiff_t rows, const Space *space) {
    if (layer->experts->after_experts) {
        pass_beside(layer, x, rows, space);
        return;
    }
    add_experts(layer, x, rows, space, x);
    if (layer->experts->shared_gate_up) pass_shared(layer, x, rows, space);
}
