/* Weights of bfloat16, stored without loss in three quarters of their bytes.
 *
 * The upper byte of a number in bfloat16, its sign and most of its exponent, is one of few in a network: among the numbers of 32
 * channels the 16 commonest are all but one in some thousands. So lower bytes are kept as they are, upper ones as codes of four
 * bits, and a list says where others stand: strays. (That exponents say little is what DFloat11 lives on, Zhang et al. 2025,
 * arXiv:2504.11651, with codes of different lengths. Those of one length become numbers in registers, faster than the memory
 * brings them.)
 *
 * Channels lie in panels, PANEL of them side by side, and a step of a panel is two inputs. Two steps are a pair: their lower
 * bytes, step after step, then the codes, those of the first step in the lower bits. Bytes lie so that unpacking them yields the
 * first half of the channels, and the second. */

enum {
    PANEL = 32, /* channels */
    CODES = 16,
    STEP_NUMBERS = 2 * PANEL,
    PAIR_NUMBERS = 2 * STEP_NUMBERS,
    CODED_PAIR = PAIR_NUMBERS * 3 / 2, /* bytes */
    CODED_STEP = CODED_PAIR / 2,
};

#define NO_STRAY UINT32_MAX

/* A stray is a whole number: its pair << 15 | its place among the lower bytes there << 8 | its upper byte. */
typedef struct {
    const uint8_t *pairs;   /* [panels][steps / 2][CODED_PAIR] */
    const uint8_t *tables;  /* [panels][CODES]: the upper bytes */
    const uint32_t *begins; /* [panels]: of their strays */
    const uint32_t *strays; /* of each panel in order, and behind them NO_STRAY */
} Coded;

typedef struct {
    const uint8_t *table;
    const uint32_t *strays;
} CodedPanel;

INLINE CodedPanel coded_panel(const Coded *of, ptrdiff_t channel) {
    const ptrdiff_t panel = channel / PANEL;
    return (CodedPanel){of->tables + panel * CODES, of->strays + of->begins[panel]};
}

INLINE const uint32_t *strays_from(const uint32_t *strays, ptrdiff_t pair) {
    while (*strays >> 15 < (size_t)pair) strays++; /* NO_STRAY's is beyond all pairs */
    return strays;
}

/* Among the lower bytes of a step, of a channel's first input there; that of the second lies behind it. */
INLINE ptrdiff_t place_of(ptrdiff_t lane) {
    const ptrdiff_t half = lane / (PANEL / 2), word = 2 * (lane % (PANEL / 2));
    return word / 8 * 16 + half * 8 + word % 8;
}

/* --- to codes */

/* The upper bytes of each panel that have codes, commonest first, and how many other numbers there are. `rows`: bfloat16
 * [channels][width]; `width` is a multiple of four. */
EXPORT int llama_gui_choose_codes(const uint16_t *rows, ptrdiff_t channels, ptrdiff_t width, uint8_t *tables, int64_t *strays) {
    const ptrdiff_t panels = (channels + PANEL - 1) / PANEL;
#pragma omp parallel for if (channels * width > WORTH_SHARING)
    for (ptrdiff_t panel = 0; panel < panels; panel++) {
        const ptrdiff_t left = channels - panel * PANEL, count = (left < PANEL ? left : PANEL) * width;
        const uint16_t *const numbers = rows + panel * PANEL * width;
        int32_t found[4][256] = {{0}}; /* four tables, so that a count need not wait for the one before */
        for (ptrdiff_t i = 0; i < count; i += 4)
            for (int j = 0; j < 4; j++) found[j][numbers[i + j] >> 8]++;
        for (int i = 0; i < 256; i++) found[0][i] += found[1][i] + found[2][i] + found[3][i];
        strays[panel] = count;
        for (int code = 0; code < CODES; code++) {
            int best = 0;
            for (int i = 1; i < 256; i++)
                if (found[0][i] > found[0][best]) best = i;
            tables[panel * CODES + code] = (uint8_t)best;
            strays[panel] -= found[0][best];
            found[0][best] = 0;
        }
    }
    return 0;
}

/* Two steps of some channels, at most a panel of them, whose rows lie `width` numbers apart: what follows the last stray. */
static uint32_t *code_pair(const uint16_t *from, ptrdiff_t channels, ptrdiff_t width, const uint8_t *code_of, ptrdiff_t pair,
                           uint8_t *to, uint32_t *strays) {
    uint8_t upper[PAIR_NUMBERS] = {0}, codes[PAIR_NUMBERS] = {0};
    memset(to, 0, PAIR_NUMBERS); /* of what stands behind the last channel */
    for (ptrdiff_t c = 0; c < channels; c++)
        for (ptrdiff_t k = 0; k < 4; k++) {
            const uint16_t number = from[c * width + 4 * pair + k];
            const ptrdiff_t place = k / 2 * STEP_NUMBERS + place_of(c) + k % 2;
            to[place] = (uint8_t)number;
            upper[place] = (uint8_t)(number >> 8);
            codes[place] = code_of[number >> 8];
        }
    uint8_t of_all = 0;
    for (ptrdiff_t i = 0; i < STEP_NUMBERS; i++) {
        to[PAIR_NUMBERS + i] = (uint8_t)((codes[i] & (CODES - 1)) | codes[STEP_NUMBERS + i] << 4);
        of_all |= codes[i] | codes[STEP_NUMBERS + i];
    }
    if (of_all & CODES)
        for (ptrdiff_t i = 0; i < PAIR_NUMBERS; i++)
            if (codes[i] & CODES) *strays++ = (uint32_t)(pair << 15 | i << 8 | upper[i]);
    return strays;
}

/* With the codes that were chosen; `begins` leave room for NO_STRAY behind the strays of each panel. */
EXPORT int llama_gui_code_panels(const uint16_t *rows, ptrdiff_t channels, ptrdiff_t width, const uint8_t *tables,
                                 const uint32_t *begins, uint8_t *pairs, uint32_t *strays) {
    const ptrdiff_t panels = (channels + PANEL - 1) / PANEL;
#pragma omp parallel for if (channels * width > WORTH_SHARING)
    for (ptrdiff_t panel = 0; panel < panels; panel++) {
        const ptrdiff_t left = channels - panel * PANEL, count = left < PANEL ? left : PANEL;
        uint8_t code_of[256];
        uint32_t *next = strays + begins[panel];
        memset(code_of, CODES, sizeof code_of); /* none */
        for (int code = CODES - 1; code >= 0; code--) code_of[tables[panel * CODES + code]] = (uint8_t)code;
        for (ptrdiff_t pair = 0; pair < width / 4; pair++)
            next = code_pair(rows + panel * PANEL * width, count, width, code_of, pair,
                             pairs + (panel * (width / 4) + pair) * CODED_PAIR, next);
        *next = NO_STRAY;
    }
    return 0;
}

/* --- and back */

/* Some channels as they were: bfloat16 [count][width]. */
EXPORT int llama_gui_coded_rows(ptrdiff_t width, const uint8_t *pairs, const uint8_t *tables, const uint32_t *begins,
                                const uint32_t *strays, const int64_t *channels, ptrdiff_t count, uint16_t *y) {
    const Coded of = {pairs, tables, begins, strays};
#pragma omp parallel for if (count * width > WORTH_SHARING)
    for (ptrdiff_t i = 0; i < count; i++) {
        const ptrdiff_t panel = channels[i] / PANEL, place = place_of(channels[i] % PANEL);
        const CodedPanel codes = coded_panel(&of, channels[i]);
        const uint8_t *at = pairs + panel * (width / 4) * CODED_PAIR + place;
        uint16_t *const row = y + i * width;
        for (ptrdiff_t k = 0; k < width; k += 4, at += CODED_PAIR)
            for (int j = 0; j < 2; j++) {
                const uint8_t both = at[PAIR_NUMBERS + j];
                row[k + j] = (uint16_t)(at[j] | codes.table[both & (CODES - 1)] << 8);
                row[k + 2 + j] = (uint16_t)(at[STEP_NUMBERS + j] | codes.table[both >> 4] << 8);
            }
        for (const uint32_t *stray = codes.strays; *stray != NO_STRAY; stray++) {
            const ptrdiff_t step = *stray >> 14 & 1, behind = (*stray >> 8 & (STEP_NUMBERS - 1)) - place;
            if (behind != 0 && behind != 1) continue;
            uint16_t *const number = row + (*stray >> 15) * 4 + 2 * step + behind;
            *number = (uint16_t)((*number & 0xFF) | (*stray & 0xFF) << 8);
        }
    }
    return 0;
}
