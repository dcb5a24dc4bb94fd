/* Text to characters, in the buffers of fl_words.h: starts[i] is where code point i begins.
 *
 * FL_WORDS_CHAR: every code point; white space that is longer than one character becomes one space.
 * FL_WORDS_CHAR_WB: every word (what white space parts) with a space before and one behind it, its
 * segment. limits[i] is the unit at which the segment of unit i ends, once that is known: units
 * from `segment` on are of an unfinished one, and segment is -1 if there is none.
 *
 * bytes->kept[c] is what the ASCII character c is stored as. */
#ifndef FL_CHARS_H
#define FL_CHARS_H

#include "fl_words.h"

/* Bytes that one step may write: a space before and behind, and a code point. */
#define FL_CHARS_ROOM 8

FL_INLINE int fl_chars_is_space(const fl_words *w, uint32_t code)
{
    return (int)(w->word_bits[code >> 6] >> (code & 63) & 1);
}

FL_INLINE void fl_chars_put(fl_words *w, const uint8_t *bytes, int32_t size)
{
    memcpy(w->text + w->used, bytes, (size_t)size);
    w->used += size;
    w->starts[++w->n_words] = w->used;
}

/* The code point at a position, as it is stored. */
FL_INLINE uint32_t fl_chars_at(const fl_words *w, int64_t position, int32_t *size)
{
    const uint8_t *p = w->document + position;
    *size = 1;
    return *p < 128 ? *p : fl_words_code_point(p, w->length - position, size);
}

FL_INLINE void fl_chars_end_segment(fl_words *w)
{
    const uint8_t space = ' ';
    fl_chars_put(w, &space, 1);
    for (int32_t i = w->segment; i < w->n_words; i++)
        w->limits[i] = w->n_words;
    w->segment = -1;
}

/* Skip the white space that begins at the position; returns how many characters it has, or two
 * for more. */
FL_INLINE int32_t fl_chars_skip_spaces(fl_words *w)
{
    int32_t n = 0, size;
    while (w->position < w->length && fl_chars_is_space(w, fl_chars_at(w, w->position, &size))) {
        w->position += size;
        n += n < 2;
    }
    return n;
}

FL_INLINE void fl_chars_take_one(fl_words *w)
{
    const uint8_t space = ' ';
    const uint8_t *p = w->document + w->position;
    int32_t size;
    uint32_t code = fl_chars_at(w, w->position, &size);
    if (fl_chars_is_space(w, code)) {
        int32_t n = fl_chars_skip_spaces(w);
        if (w->kind == FL_WORDS_CHAR)
            fl_chars_put(w, n > 1 ? &space : p, n > 1 ? 1 : size);
        else if (w->segment >= 0)
            fl_chars_end_segment(w);
        return;
    }
    if (w->kind == FL_WORDS_CHAR_WB && w->segment < 0) {
        w->segment = w->n_words;
        fl_chars_put(w, &space, 1);
    }
    fl_chars_put(w, *p < 128 ? w->bytes->kept + *p : p, size);
    w->position += size;
}

/* Collect characters until the document ends, which is what it returns, or text is full. */
FL_INLINE int fl_chars_fill(fl_words *words)
{
    fl_words w = *words;
    while (w.position < w.length && w.used < w.text_capacity - FL_CHARS_ROOM)
        fl_chars_take_one(&w);
    if (w.position >= w.length && w.segment >= 0)
        fl_chars_end_segment(&w);
    *words = w;
    return w.position >= w.length;
}

/* What fl_words_forget leaves to do. */
FL_INLINE void fl_chars_forget(fl_words *w, int32_t first)
{
    if (w->segment >= 0)
        w->segment -= first;
    for (int32_t i = 0; i < w->n_words; i++)
        w->limits[i] = w->limits[first + i] - first;
}

#endif
