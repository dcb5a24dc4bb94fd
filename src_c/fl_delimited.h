/* Delimited text (CSV, TSV) -> where its cells are, and cells -> numbers and categories.

     line  = [ cell { delimiter cell } ] { return } newline
     cell  = '"' { any but '"' | '""' } '"'
           | { any but delimiter, return and newline, the first no '"' }

   Lines without a character are skipped. That is RFC 4180 with what else Python's csv module takes
   in its strict mode: quotes within a cell that does not begin with one stand for themselves.

   Contract. text[position .. end) follows the rows taken before; FL_CELLS_PADDING further bytes may
   be read, and stop no search when they are no part of the text: a row that does not end before
   `end` is left for the next call, with more text. Rows are committed one by one. No row is copied:
   the quotes that stand for one are closed up where they are, so that each cell is a slice. */
#ifndef FL_DELIMITED_H
#define FL_DELIMITED_H

#include "fl_common.h"
#include "fl_decimal.h"
#include "fl_strings.h"

#define FL_CELLS_PADDING 64

typedef enum {
    FL_CELLS_DONE = 0, /* no other row is complete */
    FL_CELLS_FULL,     /* an array is full */
    /* errors of the row at position, of its cell number n_found (from 1) */
    FL_CELLS_AFTER_QUOTE,
    FL_CELLS_AFTER_RETURN,
    FL_CELLS_WIDTH, /* n_found cells */
    FL_CELLS_LONG
} fl_cells_status;

/* A cell of a row whose first byte is text[b]: text[b + begin .. b + begin + size). */
typedef struct {
    int32_t begin, size;
} fl_cell;

typedef struct {
    /* row_room numbers; the place of each row's first byte, and its line, from 1 */
    int64_t *row_begins, *row_lines;
    fl_cell *cells; /* cell_room of them, row by row */
    int64_t row_room, cell_room;
    int64_t width; /* cells of a row; 0: those of the first one, to which it is set */
    uint8_t delimiter;

    int64_t n_rows, n_lines; /* so far */
    int64_t n_found;
} fl_cells;

fl_cells_status fl_cells_parse(fl_cells *s, uint8_t *text, int64_t *position, int64_t end);

/* One column: cell i is cells[i * stride], in the row that begins at row_begins[i]. */
typedef struct {
    const uint8_t *text; /* with FL_CELLS_PADDING bytes after the last cell */
    const int64_t *row_begins;
    const fl_cell *cells;
    int64_t stride;
} fl_column;

FL_INLINE struct fl_string fl_cell_at(const fl_column *column, int64_t i)
{
    fl_cell cell = column->cells[i * column->stride];
    struct fl_string found = {column->text + column->row_begins[i] + cell.begin, cell.size};
    return found;
}

/* The numbers in cells start .. stop - 1, with spaces around them or not. Ends early at a cell that
 * fl_decimal.h does not finish, such as one that holds none; returns where. */
FL_INLINE int64_t fl_cell_numbers(const fl_column *column, int64_t start, int64_t stop, double *out)
{
    for (int64_t i = start; i < stop; i++) {
        struct fl_string s = fl_cell_at(column, i);
        const uint8_t *p = s.bytes, *last = s.bytes + s.size;
        fl_decimal_kind kind;
        double value = 0.0;
        while (p < last && *p == ' ') {
            p++;
        }
        while (last > p && last[-1] == ' ') {
            last--;
        }
        /* what follows the cell may look like more of the number: then it is not read up to `last`
         * and left to the caller */
        if (p == last || fl_decimal(p, &value, &kind) != last || kind != FL_DECIMAL_DONE) {
            return i;
        }
        out[i - start] = value;
    }
    return stop;
}

/* Strings of one's own that outlive the text: where the next is copied to, and up to where. */
typedef struct {
    uint8_t *next, *end;
} fl_arena;

/* Numbers of cells start .. stop - 1. Of those that are new to `known`, the bytes are copied to the
 * arena. Ends early where one that may be new finds no room in either; returns where. */
FL_INLINE int64_t fl_number_cells(const fl_column *column, struct fl_numbered *known,
                                  fl_arena *arena, int64_t start, int64_t stop, int32_t *codes)
{
    for (int64_t i = start; i < stop; i++) {
        struct fl_string s = fl_cell_at(column, i);
        int64_t n = known->n;
        if (arena->end - arena->next < s.size) {
            return i;
        }
        int64_t number = fl_number(known, s);
        if (number < 0) {
            return i;
        }
        if (known->n > n) {
            memcpy(arena->next, s.bytes, (size_t)s.size);
            known->strings[number].bytes = arena->next;
            arena->next += s.size;
        }
        codes[i - start] = (int32_t)number;
    }
    return stop;
}

/* The same for strings that are known; -1 for others. */
FL_INLINE void fl_find_cells(const fl_column *column, const struct fl_numbered *known,
                             int64_t start, int64_t stop, int32_t *codes)
{
    for (int64_t i = start; i < stop; i++) {
        codes[i - start] = (int32_t)fl_known_number(known, fl_cell_at(column, i));
    }
}

#endif
