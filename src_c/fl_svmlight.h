/* svmlight (LIBSVM) text -> arrays of the caller.

     line    = [ target [ blank "qid:" integer ] { blank index ":" number } ] [ "#" anything ]
     target  = number, or with `multilabel` numbers with commas between them, or nothing

   Blanks are space, tab, carriage return, vertical tab and form feed; a line without a target, a
   feature or more than a comment is skipped. Indices of a row may come in any order (the row is
   sorted), but none twice.

   Contract. `text[position .. end)` holds whole lines, so text[end - 1] is a newline, and
   FL_SVM_PADDING further bytes may be read (whatever they hold). Rows are committed one by one.
   When an array is full, the call stops before the row that did not fit and returns FL_SVM_FULL:
   the caller takes what is there, sets the n_ fields back to 0 (or, when no row was committed,
   brings larger arrays) and calls again with the same position. Nothing is allocated here. */
#ifndef FL_SVMLIGHT_H
#define FL_SVMLIGHT_H

#include "fl_common.h"

#define FL_SVM_PADDING 80

typedef enum {
    FL_SVM_DONE = 0,      /* all lines are read */
    FL_SVM_FULL,          /* an array is full */
    /* errors: position is the line's, token_begin and token_end the token's */
    FL_SVM_NO_TARGET,
    FL_SVM_BAD_TARGET,
    FL_SVM_INFINITE_TARGET,
    FL_SVM_NO_QUERY_ID,
    FL_SVM_BAD_QUERY_ID,
    FL_SVM_NO_COLON,
    FL_SVM_BAD_INDEX,
    FL_SVM_NEGATIVE_INDEX,
    FL_SVM_ZERO_INDEX,
    FL_SVM_LARGE_INDEX,
    FL_SVM_BAD_VALUE,
    FL_SVM_INFINITE_VALUE,
    FL_SVM_REPEATED_INDEX
} fl_svm_status;

/* A number that fl_decimal.h leaves to the caller: text[begin .. end) belongs into
 * labels[position] or values[position]; `line` counts from 1. */
typedef struct {
    int64_t is_label, position, begin, end, line;
} fl_svm_hard;

typedef struct {
    /* Arrays: entries, labels, rows. label_ends is written only with multilabel, query_ids only
     * with query_id. row_ends and label_ends count from the first row since the last reset. */
    double *values;
    int32_t *columns;
    double *labels;
    int64_t *row_ends, *row_lines, *label_ends, *query_ids;
    fl_svm_hard *hard;
    int64_t entry_room, label_room, row_room, hard_room;

    int multilabel, query_id;
    int64_t lowest_index; /* 0 or 1: what indices must at least be */

    int64_t n_entries, n_labels, n_rows, n_hard; /* since the last reset */
    int64_t n_lines, min_index, max_index;       /* of the whole text; min above max: no entry */
    int64_t token_begin, token_end;
} fl_svm;

typedef fl_svm_status fl_svm_parser(fl_svm *s, const uint8_t *text, int64_t *position,
                                    int64_t end);

/* Any processor's, and that for an instruction set of fl_dispatch.h that runs: all do the same. */
fl_svm_status fl_svm_parse(fl_svm *s, const uint8_t *text, int64_t *position, int64_t end);
fl_svm_parser *fl_svm_parser_of(int32_t isa);

#endif
