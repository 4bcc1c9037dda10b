/* What a `Vector` is, and how its operations are called, for what is written once for both widths of registers and
 * included behind this. lanes_end.h ends it. */

#define NAMED(name) name##_256
#define INLINE_HERE INLINE
#define TARGET_HERE
#define Vector __m256
#define LANES 8
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define STREAM _mm256_stream_ps
#define SET _mm256_set1_ps
#define ADD _mm256_add_ps
#define MUL _mm256_mul_ps
#define FMADD _mm256_fmadd_ps
#define FNMADD _mm256_fnmadd_ps
#define SILU silu
