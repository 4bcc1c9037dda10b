/* As lanes_256.h, of registers twice as wide. */

#define NAMED(name) name##_512
#define INLINE_HERE INLINE_512
#define TARGET_HERE IN_512
#define Vector __m512
#define LANES 16
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define STREAM _mm512_stream_ps
#define SET _mm512_set1_ps
#define ADD _mm512_add_ps
#define MUL _mm512_mul_ps
#define FMADD _mm512_fmadd_ps
#define FNMADD _mm512_fnmadd_ps
#define SILU wide_silu
