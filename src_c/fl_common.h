/* Compiler differences, status codes and debug checks: with fl_bits.h the only file with GNU or
 * MSVC extensions. */
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
#  else
#    define FL_PREFETCH(p) __prefetch((const void *)(p))
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
#  define FL_KEEP_SCALAR() __asm__ __volatile__("")
#  define FL_LIKELY(c) __builtin_expect(!!(c), 1)
#  define FL_UNLIKELY(c) __builtin_expect(!!(c), 0)
#else
#  define FL_INLINE static inline
#  define FL_RESTRICT restrict
#  define FL_PREFETCH(p) ((void)(p))
#  define FL_KEEP_SCALAR() ((void)0)
#  define FL_LIKELY(c) (c)
#  define FL_UNLIKELY(c) (c)
#endif

/* FL_KEEP_SCALAR() in the body of a loop keeps compilers from vectorising it. Loads through an
 * index become loads of pieces and shuffles, 9 instructions per entry where 3 do. */

/* FL_CPU_SUPPORTS("avx2"): whether processor and system have an instruction set of x86; only
 * where FL_X86 is defined. */
#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#  define FL_X86
#  define FL_CPU_SUPPORTS(isa) (__builtin_cpu_supports(isa) != 0)
#endif

/* Checks that cost time: on only under FASTLIN_DEBUG, where a failure ends the process with the
 * file and line. */
#ifdef FL_DEBUG
#  include <assert.h>
#  define FL_ASSERT(c) assert(c)
#else
#  define FL_ASSERT(c) ((void)0)
#endif

#endif
