/* Vectors of FL_REAL for the instruction set that this compilation is for: at most as wide as
 * FL_LANES numbers. Included once per type and number of lanes, between FL_LANES_BEGIN and the
 * undefinitions at the end of fl_multi.inc.h, hence no guard.
 *
 * Loads and stores, sums, differences, products and choices only, each rounded by itself: so lane l
 * has the same bits in every instruction set. Compilers left alone with the loops keep the sums in
 * memory.
 *
 *   FL_V                        the type, of FL_V_SIZE numbers
 *   FL_V_LOAD(p) FL_V_STORE(p, v) FL_V_SET(x) FL_V_ADD(a, b) FL_V_SUB(a, b) FL_V_MUL(a, b)
 *   FL_V_MIN(a, b) FL_V_MAX(a, b)       b where a number is not one
 */
#if defined(FL_ISA_AVX512) && FL_LANES * FL_REAL_BYTES % 64 == 0
#  if FL_REAL_BYTES == 4
#    define FL_V __m512
#    define FL_V_OP(op) _mm512_##op##_ps
#  else
#    define FL_V __m512d
#    define FL_V_OP(op) _mm512_##op##_pd
#  endif
#  define FL_V_SIZE (64 / FL_REAL_BYTES)
#elif (defined(FL_ISA_AVX512) || defined(FL_ISA_AVX2)) && FL_LANES * FL_REAL_BYTES % 32 == 0
#  if FL_REAL_BYTES == 4
#    define FL_V __m256
#    define FL_V_OP(op) _mm256_##op##_ps
#  else
#    define FL_V __m256d
#    define FL_V_OP(op) _mm256_##op##_pd
#  endif
#  define FL_V_SIZE (32 / FL_REAL_BYTES)
#elif defined(FL_HAS_SSE2)
#  if FL_REAL_BYTES == 4
#    define FL_V __m128
#    define FL_V_OP(op) _mm_##op##_ps
#  else
#    define FL_V __m128d
#    define FL_V_OP(op) _mm_##op##_pd
#  endif
#  define FL_V_SIZE (16 / FL_REAL_BYTES)
#endif

#ifdef FL_V_OP
#  define FL_V_LOAD(p) FL_V_OP(loadu)(p)
#  define FL_V_STORE(p, v) FL_V_OP(storeu)(p, v)
#  define FL_V_SET(x) FL_V_OP(set1)(x)
#  define FL_V_ADD(a, b) FL_V_OP(add)(a, b)
#  define FL_V_SUB(a, b) FL_V_OP(sub)(a, b)
#  define FL_V_MUL(a, b) FL_V_OP(mul)(a, b)
#  define FL_V_MIN(a, b) FL_V_OP(min)(a, b)
#  define FL_V_MAX(a, b) FL_V_OP(max)(a, b)
#else
/* no instruction set known: the compiler makes what it can of single numbers */
#  define FL_V FL_REAL
#  define FL_V_SIZE 1
#  define FL_V_LOAD(p) (*(p))
#  define FL_V_STORE(p, v) (*(p) = (v))
#  define FL_V_SET(x) (x)
#  define FL_V_ADD(a, b) ((a) + (b))
#  define FL_V_SUB(a, b) ((a) - (b))
#  define FL_V_MUL(a, b) ((a) * (b))
#  define FL_V_MIN(a, b) ((a) < (b) ? (a) : (b))
#  define FL_V_MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
