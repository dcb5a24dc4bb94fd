/* The tokeniser: text to lowered words with one space behind each.
 *
 * A word is a maximal run of at least `least` word characters: what the pattern \b\w\w+\b finds if
 * that is two. Which bytes and code points are word characters, and how ASCII lowers, are the
 * caller's two tables. Words are collected in `text`, so that a run of n words is a slice of it,
 * until it is full; then fl_words_forget drops those that are done with, and fl_words_fill goes on.
 *
 * fl_chars.h fills the same buffers with single characters, and fl_units.h chooses between them. */
#ifndef FL_WORDS_H
#define FL_WORDS_H

#include <string.h>

#include "fl_common.h"

/* What a table says of a byte: 0 and 1 as below, else the byte to store in its place. */
#define FL_WORDS_SEPARATOR 0
#define FL_WORDS_MULTIBYTE 1
/* Bytes behind `text` that must be there, and zero at first. */
#define FL_WORDS_PADDING 32
/* Least capacity of `text`. */
#define FL_WORDS_LEAST 256

/* A table, and what fl_words_shortcut says of it. */
typedef struct {
    const uint8_t *kept; /* 256 */
    int32_t shortcut;
} fl_words_bytes;

/* What is collected: words, characters, or characters within words (fl_chars.h). */
typedef enum { FL_WORDS_WORD = 0, FL_WORDS_CHAR = 1, FL_WORDS_CHAR_WB = 2 } fl_words_kind;

typedef struct {
    const fl_words_bytes *bytes;
    const uint64_t *word_bits;  /* bit c: is code point c a word character; only read for c > 127.
                                 * Where characters are collected: is it white space; any c */
    fl_words_kind kind;
    int32_t least;              /* characters of the shortest word, 1 or 2 */
    uint8_t *text;              /* text_capacity + FL_WORDS_PADDING */
    int32_t *starts;            /* fl_words_starts_capacity(text_capacity) */
    int32_t *limits;            /* as many; see fl_chars.h */
    int32_t text_capacity;      /* FL_WORDS_LEAST .. 2^30 */
    int32_t used;               /* bytes of text in use, the unfinished word included */
    int32_t n_words;            /* finished words; starts[n_words] is where the next begins */
    int32_t more_bytes;         /* bytes less code points of the unfinished word */
    int32_t n_checked;          /* words that are known to be no stop words */
    int32_t segment;            /* see fl_chars.h */
    const uint8_t *document;
    int64_t length, position;
} fl_words;

/* Entries of `starts` that go with a text buffer: a word takes two bytes or more, a character
 * one. */
FL_INLINE int64_t fl_words_starts_capacity(fl_words_kind kind, int64_t text_capacity)
{
    return (kind == FL_WORDS_WORD ? text_capacity / 2 : text_capacity) + 2;
}

/* ---- sixty-four bytes at once ---- */

#define FL_WORDS_CHUNK 64
#define FL_WORDS_COPY 16

/* ASCII word characters by arithmetic, which compilers turn into vector instructions: the byte,
 * with lower_bit set in letters, or 0. Only used where fl_words_shortcut finds the caller's table
 * to say the same. */
FL_INLINE uint8_t fl_words_kept(uint8_t c, uint8_t lower_bit)
{
    uint8_t is_letter = (uint8_t)((c | 32) - 'a') < 26 ? 255 : 0;
    uint8_t is_other = (uint8_t)(c - '0') < 10 || c == '_' ? 255 : 0;
    return (uint8_t)((is_letter & (c | lower_bit)) | (is_other & c));
}

/* 0 if fl_words_kept differs from a table or bytes stand the other way round, else 64 plus the
 * lower_bit with which it agrees. */
FL_INLINE int32_t fl_words_shortcut(const uint8_t *kept)
{
    const uint64_t one = 1;
    uint8_t first;
    uint8_t lower_bit = kept['A'] == 'a' ? 32 : 0;
    memcpy(&first, &one, 1);
    for (int32_t c = 0; c < 128; c++)
        if (kept[c] != fl_words_kept((uint8_t)c, lower_bit))
            return 0;
    return first == 1 ? 64 + lower_bit : 0;
}

/* The word that begins at `begin` has ended. If it has too few characters it is taken back: without
 * a branch, since the lengths of words cannot be predicted. */
FL_INLINE void fl_words_end_word(fl_words *w, int32_t begin)
{
    int32_t is_long = w->used - begin - w->more_bytes >= w->least;
    w->text[w->used] = ' ';
    w->used = is_long ? w->used + 1 : begin;
    w->n_words += is_long;
    w->starts[w->n_words] = w->used;
    w->more_bytes = 0;
}

#ifdef FL_WIDE_TEXT
/* Bytes as they are stored, those that separate words as spaces; bit i of *in_words says whether
 * byte i does not. All must be ASCII. */
FL_INLINE __m512i fl_words_lower_wide(__m512i x, uint8_t lower_bit, uint64_t *in_words)
{
    const __m512i low = _mm512_set1_epi8(32), spaces = _mm512_set1_epi8(' ');
    __m512i from_a = _mm512_sub_epi8(_mm512_or_si512(x, low), _mm512_set1_epi8('a'));
    __m512i from_0 = _mm512_sub_epi8(x, _mm512_set1_epi8('0'));
    uint64_t letters = _mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26));
    uint64_t others = _mm512_cmplt_epu8_mask(from_0, _mm512_set1_epi8(10))
                      | _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('_'));
    x = _mm512_or_si512(x, _mm512_maskz_set1_epi8(letters, (char)lower_bit));
    *in_words = letters | others;
    return _mm512_mask_mov_epi8(spaces, *in_words, x);
}

/* Of up to 32 spaces, given as bits among those of the bytes kept, the places behind them, the
 * first of which is `used` in text. A few more are written. */
FL_INLINE void fl_words_put_starts(int32_t *starts, int32_t used, uint64_t spaces, uint64_t kept)
{
    static const uint8_t places[FL_WORDS_CHUNK] = {
        1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
        23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
        45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64,
    };
    __m512i behind = _mm512_maskz_compress_epi8(_pext_u64(spaces, kept),
                                                _mm512_loadu_si512(places));
    const __m512i from = _mm512_set1_epi32(used);
    __m128i first = _mm512_castsi512_si128(behind), second = _mm512_extracti32x4_epi32(behind, 1);
    _mm512_storeu_si512(starts, _mm512_add_epi32(_mm512_cvtepu8_epi32(first), from));
    _mm512_storeu_si512(starts + 16, _mm512_add_epi32(_mm512_cvtepu8_epi32(second), from));
}

/* Take chunks, of which there must be room for one, as long as there is room and they are ASCII;
 * returns whether the first was. What stays of all 64 bytes, word characters and a space behind
 * each word, is found by masks and moved together. */
FL_INLINE int fl_words_take_chunks(fl_words *w)
{
    int64_t before = w->position;
    int32_t used = w->used, n_words = w->n_words;
    int32_t length = used - w->starts[n_words] - w->more_bytes;
    /* The word under way: whether there is one, of one character. */
    uint64_t goes_on = length > 0, is_one = length == 1;
    uint64_t needs_two = 0 - (uint64_t)(w->least > 1);
    while (w->position < w->length && used < w->text_capacity - FL_WORDS_CHUNK) {
        int64_t left = w->length - w->position;
        int32_t n = left < FL_WORDS_CHUNK ? (int32_t)left : FL_WORDS_CHUNK;
        uint64_t in_words, single, ended, kept;
        __m512i x = _mm512_maskz_loadu_epi8(~UINT64_C(0) >> (FL_WORDS_CHUNK - n),
                                            w->document + w->position);
        if (_mm512_movepi8_mask(x) != 0)
            break;
        x = fl_words_lower_wide(x, (uint8_t)(w->bytes->shortcut & 32), &in_words);
        if (FL_UNLIKELY((is_one & needs_two & ~in_words) != 0)) {
            used = w->starts[n_words];
            w->more_bytes = 0;
            goes_on = 0;
        }
        /* Whether the last of 64 is alone is not known yet. */
        single = in_words & ~(in_words << 1 | goes_on) & ~(in_words >> 1 | UINT64_C(1) << 63);
        single &= needs_two;
        ended = ~in_words & ((in_words & ~single) << 1 | goes_on);
        kept = (in_words & ~single) | ended;
        _mm512_storeu_si512(w->text + used, _mm512_maskz_compress_epi8(kept, x));
        fl_words_put_starts(w->starts + n_words + 1, used, ended, kept);
        n_words += (int32_t)_mm_popcnt_u64(ended);
        used += (int32_t)_mm_popcnt_u64(kept);
        w->position += n;
        w->more_bytes = ended != 0 ? 0 : w->more_bytes;
        goes_on = in_words >> 63;
        is_one = goes_on & ~(in_words >> 62);
    }
    w->used = used;
    w->n_words = n_words;
    return w->position > before;
}
#else
#ifndef FL_SSE2
/* Bit i says whether byte i of 64 is zero; all must be below 128. */
FL_INLINE uint64_t fl_words_zero_bytes(const uint8_t *bytes)
{
    uint64_t zero = 0;
    for (int32_t k = 0; k < 8; k++) {
        uint64_t x, high;
        memcpy(&x, bytes + 8 * k, 8);
        high = ~(x + 0x7f7f7f7f7f7f7f7fu) & 0x8080808080808080u;
        /* The product gathers the eight high bits in the last byte. */
        zero |= ((high >> 7) * 0x0102040810204080u >> 56) << (8 * k);
    }
    return zero;
}
#endif

/* Let kept[i] be byte i of 64 as it is stored, or 0 if it separates words, and bit i of *separators
 * say whether it does. Returns whether all are ASCII. */
FL_INLINE int fl_words_lower(const uint8_t *from, uint8_t lower_bit, uint8_t *kept,
                             uint64_t *separators)
{
#ifdef FL_SSE2
    /* Differences that wrap to the least signed numbers: one comparison finds a range. */
    const __m128i a = _mm_set1_epi8((char)('a' - 128)), zero = _mm_set1_epi8((char)('0' - 128));
    const __m128i letters = _mm_set1_epi8(26 - 128), digits = _mm_set1_epi8(10 - 128);
    const __m128i bar = _mm_set1_epi8('_'), low = _mm_set1_epi8(32);
    const __m128i lowers = _mm_set1_epi8((char)lower_bit);
    int any = 0;
    uint64_t words = 0;
    for (int32_t k = 0; k < FL_WORDS_CHUNK; k += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(from + k));
        __m128i letter = _mm_cmplt_epi8(_mm_sub_epi8(_mm_or_si128(x, low), a), letters);
        __m128i digit = _mm_cmplt_epi8(_mm_sub_epi8(x, zero), digits);
        __m128i is_kept = _mm_or_si128(_mm_or_si128(letter, digit), _mm_cmpeq_epi8(x, bar));
        x = _mm_or_si128(x, _mm_and_si128(letter, lowers));
        _mm_storeu_si128((__m128i *)(void *)(kept + k), _mm_and_si128(x, is_kept));
        words |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_kept) << k;
        any |= _mm_movemask_epi8(x);
    }
    *separators = ~words;
    return any == 0;
#else
    uint8_t any = 0;
    for (int32_t i = 0; i < FL_WORDS_CHUNK; i++) {
        any |= from[i];
        kept[i] = fl_words_kept(from[i], lower_bit);
    }
    *separators = fl_words_zero_bytes(kept);
    return any < 128;
#endif
}

/* Append bytes; up to FL_WORDS_COPY behind them are written too. */
FL_INLINE void fl_words_append(fl_words *w, const uint8_t *bytes, int32_t n)
{
    memcpy(w->text + w->used, bytes, FL_WORDS_COPY);
    for (int32_t k = FL_WORDS_COPY; FL_UNLIKELY(k < n); k += FL_WORDS_COPY)
        memcpy(w->text + w->used + k, bytes + k, FL_WORDS_COPY);
    w->used += n;
}

/* Take the next chunk if it is ASCII; 0 if it is not. There must be room for it. */
FL_INLINE int fl_words_take_chunks(fl_words *w)
{
    uint8_t chunk[FL_WORDS_CHUNK], kept[FL_WORDS_CHUNK + FL_WORDS_COPY];
    const uint8_t *from = w->document + w->position;
    int64_t left = w->length - w->position;
    int32_t n = left < FL_WORDS_CHUNK ? (int32_t)left : FL_WORDS_CHUNK, begin = 0;
    int32_t word = w->starts[w->n_words];
    uint64_t separators;
    if (n < FL_WORDS_CHUNK) {
        memset(chunk, ' ', sizeof chunk);
        memcpy(chunk, from, (size_t)n);
        from = chunk;
    }
    memset(kept + FL_WORDS_CHUNK, 0, FL_WORDS_COPY);
    if (!fl_words_lower(from, (uint8_t)(w->bytes->shortcut & 32), kept, &separators))
        return 0;
    if (n < FL_WORDS_CHUNK)
        separators &= ((uint64_t)1 << n) - 1;
    for (; separators != 0; separators &= separators - 1) {
        int32_t end = fl_lowest_bit(separators);
        fl_words_append(w, kept + begin, end - begin);
        fl_words_end_word(w, word);
        word = w->used;
        begin = end + 1;
    }
    fl_words_append(w, kept + begin, n - begin);
    w->position += n;
    return 1;
}
#endif

/* ---- byte by byte ---- */

/* The code point at p, of whose bytes `left` may be read; *size becomes its length. What is not
 * the beginning of a code point is one byte that means nothing. */
FL_INLINE uint32_t fl_words_code_point(const uint8_t *p, int64_t left, int32_t *size)
{
    uint32_t lead = p[0];
    int32_t n = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code;
    if (n > left)
        n = 1;
    code = n == 1 ? 0 : lead & (0x7fu >> n);
    for (int32_t k = 1; k < n; k++)
        code = code << 6 | (p[k] & 0x3fu);
    *size = n;
    return code < 0x110000u ? code : 0;
}

/* Take one byte or code point. */
FL_INLINE void fl_words_take_one(fl_words *w)
{
    const uint8_t *p = w->document + w->position;
    uint8_t c = w->bytes->kept[*p];
    int32_t size = 1;
    if (c > FL_WORDS_MULTIBYTE) {
        w->text[w->used++] = c;
    } else if (c == FL_WORDS_SEPARATOR) {
        fl_words_end_word(w, w->starts[w->n_words]);
    } else {
        uint32_t code = fl_words_code_point(p, w->length - w->position, &size);
        if (w->word_bits[code >> 6] >> (code & 63) & 1) {
            memcpy(w->text + w->used, p, (size_t)size);
            w->used += size;
            w->more_bytes += size - 1;
        } else {
            fl_words_end_word(w, w->starts[w->n_words]);
        }
    }
    w->position += size;
}

/* ---- the whole ---- */

FL_INLINE void fl_words_begin(fl_words *w, const fl_words_bytes *bytes, const uint8_t *document,
                              int64_t length)
{
    w->bytes = bytes;
    w->document = document;
    w->length = length;
    w->position = 0;
    w->used = w->n_words = w->more_bytes = w->n_checked = 0;
    w->segment = -1;
    w->starts[0] = 0;
}

/* Collect words until the document ends or text is full. At the end, which is what it returns, the
 * last word is finished. Each byte read is at most one written, and one for the last space. */
FL_INLINE int fl_words_fill(fl_words *words)
{
    /* A copy, which stores to text cannot change, stays in registers. */
    fl_words w = *words;
    int is_end;
    while (w.position < w.length && w.used < w.text_capacity - 4) {
        int fits = w.bytes->shortcut && w.used < w.text_capacity - FL_WORDS_CHUNK;
        int64_t stop = w.position + FL_WORDS_CHUNK;
        stop = stop < w.length ? stop : w.length;
        if (fits && fl_words_take_chunks(&w))
            continue;
        /* Where one byte is not ASCII others often follow. */
        while (w.position < stop && w.used < w.text_capacity - 4)
            fl_words_take_one(&w);
    }
    is_end = w.position >= w.length && w.used < w.text_capacity;
    if (is_end)
        fl_words_end_word(&w, w.starts[w.n_words]);
    *words = w;
    return is_end;
}

/* Forget the words before `first`, so that text has room again. */
FL_INLINE void fl_words_forget(fl_words *w, int32_t first)
{
    int32_t from = w->starts[first];
    memmove(w->text, w->text + from, (size_t)(w->used - from));
    w->used -= from;
    w->n_words -= first;
    w->n_checked -= first;
    for (int32_t i = 0; i <= w->n_words; i++)
        w->starts[i] = w->starts[first + i] - from;
}

#endif
