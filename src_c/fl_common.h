/* Compiler differences, operations on 64-bit integers that processors have and C lacks, and debug
 * checks: the only file with GNU or MSVC extensions. */
#ifndef FL_COMMON_H
#define FL_COMMON_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER)
#  include <intrin.h>
#  define FL_INLINE static __forceinline
#  define FL_RESTRICT __restrict
#  if defined(_M_X64) || defined(_M_IX86)
#    define FL_PREFETCH(p) _mm_prefetch((const char *)(p), _MM_HINT_T0)
#    define FL_PREFETCH_L2(p) _mm_prefetch((const char *)(p), _MM_HINT_T1)
#  else
#    define FL_PREFETCH(p) __prefetch((const void *)(p))
#    define FL_PREFETCH_L2(p) FL_PREFETCH(p)
#  endif
#  define FL_KEEP_SCALAR() ((void)0)
#  define FL_LIKELY(c) (c)
#  define FL_UNLIKELY(c) (c)
#elif defined(__GNUC__) || defined(__clang__)
#  define FL_INLINE static inline __attribute__((always_inline))
#  define FL_RESTRICT __restrict__
/* Compilers take a function that only prefetches for one without effect, and drop calls of it. */
#  define FL_PREFETCH(p)                         \
      do {                                       \
          __builtin_prefetch((const void *)(p)); \
          __asm__ __volatile__("");              \
      } while (0)
#  define FL_PREFETCH_L2(p)                            \
      do {                                             \
          __builtin_prefetch((const void *)(p), 0, 2); \
          __asm__ __volatile__("");                    \
      } while (0)
#  define FL_KEEP_SCALAR() __asm__ __volatile__("")
#  define FL_LIKELY(c) __builtin_expect(!!(c), 1)
#  define FL_UNLIKELY(c) __builtin_expect(!!(c), 0)
#else
#  define FL_INLINE static inline
#  define FL_RESTRICT restrict
#  define FL_PREFETCH(p) ((void)(p))
#  define FL_PREFETCH_L2(p) ((void)(p))
#  define FL_KEEP_SCALAR() ((void)0)
#  define FL_LIKELY(c) (c)
#  define FL_UNLIKELY(c) (c)
#endif

/* FL_PREFETCH_L2 fetches into the second-level cache only. The first would lose what is needed now
 * to what is needed hundreds of lines later, and can wait for few lines at once. */

/* FL_KEEP_SCALAR() in the body of a loop keeps compilers from vectorising it. Loads through an
 * index become loads of pieces and shuffles, 9 instructions per entry where 3 do. */

/* FL_CPU_SUPPORTS("avx2"): whether processor and system have an instruction set of x86; only
 * where FL_X86 is defined. */
#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#  define FL_X86
#  define FL_CPU_SUPPORTS(isa) (__builtin_cpu_supports(isa) != 0)
#endif

/* SSE2, which every x86-64 has: FL_SSE2 is defined where its intrinsics may be used. -DFL_NO_SSE2
 * takes the code of other processors there, too. */
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(FL_NO_SSE2)
#  include <emmintrin.h>
#  define FL_SSE2
#endif

/* FL_WIDE_TEXT is defined where text may be read in registers of 64 bytes whose bytes can be moved
 * together: AVX-512 with VBMI2, and BMI2. */
#if defined(__AVX512VBMI2__) && defined(__AVX512BW__) && defined(__AVX512DQ__) \
    && defined(__AVX512VL__) && defined(__BMI2__)
#  include <immintrin.h>
#  define FL_WIDE_TEXT
#endif
/* Whether this processor has all of that. */
#define FL_CPU_READS_WIDE_TEXT() \
    (FL_CPU_SUPPORTS("avx512vbmi2") && FL_CPU_SUPPORTS("avx512bw") \
     && FL_CPU_SUPPORTS("avx512dq") && FL_CPU_SUPPORTS("avx512vl") && FL_CPU_SUPPORTS("bmi2"))

/* Checks that cost time: on only under FASTLIN_DEBUG, where a failure ends the process with the
 * file and line. */
#ifdef FL_DEBUG
#  include <assert.h>
#  define FL_ASSERT(c) assert(c)
#else
#  define FL_ASSERT(c) ((void)0)
#endif

/* Number of zeros below the lowest set bit of x > 0. */
FL_INLINE int fl_lowest_bit(uint64_t x)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(x);
#else
    x = (x & (0 - x)) - 1; /* as many ones */
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (int)((x * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

/* Number of zeros above the highest set bit of x > 0. */
FL_INLINE int fl_leading_zeros(uint64_t x)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_clzll(x);
#else
    for (int shift = 1; shift < 64; shift *= 2) {
        x |= x >> shift;
    }
    return x == UINT64_MAX ? 0 : 64 - fl_lowest_bit(x + 1);
#endif
}

/* high * 2^64 + low = a * b. */
FL_INLINE uint64_t fl_multiply_wide(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__SIZEOF_INT128__)
    *low = a * b;
    return (uint64_t)(__extension__(((unsigned __int128)a * b) >> 64));
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

#endif
