/* The names of lanes_256.h and lanes_512.h are free again. */

#undef NAMED
#undef INLINE_HERE
#undef TARGET_HERE
#undef Vector
#undef LANES
#undef LOAD
#undef STORE
#undef STREAM
#undef SET
#undef ADD
#undef MUL
#undef FMADD
#undef FNMADD
#undef SILU
