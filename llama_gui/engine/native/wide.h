/* Shared by all products in 512-bit registers, for CPUs with AVX-512 and VNNI, which adds four products of bytes to a 32-bit sum
 * in one instruction. */

#define TARGET_512 "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
/* Without bfloat16, whose instruction is used in assembly only: older compilers do not know it. */
#define IN_512 __attribute__((target(TARGET_512)))
#define INLINE_512 static inline __attribute__((always_inline, target(TARGET_512)))
#define TILE_512 static __attribute__((noinline, target(TARGET_512))) void

/* sum += a dot product in each 32-bit lane.
 * ADD_PRODUCTS: of 4 unsigned bytes and 4 signed ones. ADD_HALVES: of 2 bfloat16. ADD_PRODUCTS_16: of 2 int16.
 * ADD_PRODUCTS_OF: as ADD_PRODUCTS, the 4 signed bytes being those in memory at `at`, for all lanes; ADD_PRODUCTS_16_OF likewise.
 * In assembly, because gcc copies the sums between registers when it compiles the intrinsics. */
#define ADD_PRODUCTS(sum, bytes, signed_bytes) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(signed_bytes))
#define ADD_HALVES(sum, halves, others) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(halves), "v"(others))
#define ADD_PRODUCTS_16(sum, words, others) __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(words), "v"(others))
#define ADD_PRODUCTS_OF(sum, bytes, at) \
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(bytes), "m"(*(const Four *)(at)))
#define ADD_PRODUCTS_16_OF(sum, words, at) \
    __asm__("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(words), "m"(*(const Four *)(at)))

typedef int32_t Four __attribute__((may_alias, aligned(1)));

enum { FURTHER = 1024, FURTHER_WITH_TILES = 2048 }; /* bytes */

/* What the memory is to fetch while something is multiplied: bytes from that on, and of which of its streams: `count` from
 * `first` on; `is_near`: into the first-level cache. The processor's own fetching reached half of what this does (measured on
 * Zen 5). */
typedef struct {
    ptrdiff_t bytes;
    int first, count, is_near;
} Fetched;

/* `count` streams that run through the weight. CPUs with AMX want it earlier, and nearer (measured on Emerald Rapids). */
INLINE Fetched further(int count) { return (Fetched){has_tiles ? FURTHER_WITH_TILES : FURTHER, 0, count, has_tiles}; }

/* What two streams have `bytes` further on: the first two tiles fetch one of them each. */
INLINE Fetched next_near(Tile tile, ptrdiff_t bytes) {
    if (tile.of == 1) return (Fetched){bytes, 0, 2, 0};
    return (Fetched){bytes, (int)tile.number, tile.number < 2, 0};
}

/* The line behind `at`, if `stream` is one of those. */
INLINE void fetch_stream(Fetched ahead, int stream, const void *at) {
    if (stream < ahead.first || stream >= ahead.first + ahead.count) return;
    if (ahead.is_near) fetch_line((const char *)at + ahead.bytes);
    else fetch_line_early((const char *)at + ahead.bytes);
}

INLINE_512 __m512i both_halves(const void *first, const void *second) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(first)), _mm256_loadu_si256(second), 1);
}

INLINE_512 __m256i both_quarters(const void *first, const void *second) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)), _mm_loadu_si128(second), 1);
}

INLINE_512 __m512 both_floats(__m256 first, __m256 second) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
}

INLINE_512 __m512i broadcast(const void *at) { return _mm512_set1_epi32(four_bytes(at)); }
