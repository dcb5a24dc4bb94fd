/* Trees in brackets, such as "(S (NP (D the) (N dog)) (VP (V barks)))", to numbers.
 *
 * A bracket is a node. What follows it is a label, unless that is a bracket too, and then words and
 * brackets: these, and of brackets the labels, are its production. A stack, `sequence`, holds what
 * is known of the productions of all open brackets, one behind the other: the number of the label,
 * those of words as they are, those of labels as -1 less the number. Nodes are numbered as they
 * close, children before their parent, and so their children stand together on a second stack when
 * they do. Distinct words and productions are numbered by the table of `fl_strings.h`, which
 * compares them whole: equal numbers are equal productions, not equal hashes.
 */
#ifndef FL_BRACKETS_H
#define FL_BRACKETS_H

#include "fl_strings.h"

#define FL_NO_LABEL INT32_MAX

/* What became of a tree: parsed, more to do, or a table to be made larger first; or what is wrong
 * with it. */
enum fl_tree_status {
    FL_TREE_PARSED,
    FL_TREE_MORE,
    FL_TREE_FULL,
    FL_TREE_EMPTY,
    FL_TREE_OUTSIDE,
    FL_TREE_UNCLOSED,
    FL_TREE_BARE
};

/* Where an open bracket began on the two stacks. */
struct fl_open {
    int64_t sequence, children;
};

struct fl_brackets {
    const uint32_t *text; /* code points */
    int64_t at;           /* the next one */
    int64_t n_open, n_sequence, n_waiting, n_kept, n_nodes, n_children;
    int64_t first_node; /* of this tree */
    int opened;         /* whether the last thing read was an opening bracket */
    struct fl_numbered words, productions;
    struct fl_open *open;
    int32_t *sequence, *waiting;
    int32_t *kept; /* the distinct productions */
    /* of each node, and where its children begin in `children` */
    int32_t *production;
    int64_t *starts;
    int32_t *children;
};

/* The characters that Python's str.isspace knows. */
FL_INLINE int fl_separates(uint32_t c) {
    if (c <= 32) return c == 32 || (c >= 9 && c <= 13) || c >= 28;
    if (c < 0x85) return 0;
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

FL_INLINE int fl_is_full(const struct fl_numbered *known) { return known->n == known->capacity; }

/* Number `size` items of four bytes each. */
FL_INLINE int32_t fl_number_of(struct fl_numbered *known, const void *items, int64_t size) {
    struct fl_string s;
    s.bytes = (const uint8_t *)items;
    s.size = 4 * size;
    return (int32_t)fl_number(known, s);
}

/* Close the innermost bracket; it becomes a node. */
FL_INLINE int fl_close(struct fl_brackets *b) {
    const struct fl_open *open = &b->open[--b->n_open];
    const int64_t size = b->n_sequence - open->sequence, known = b->productions.n;
    int32_t *kept = b->kept + b->n_kept;
    const int32_t label = b->sequence[open->sequence];
    if (size == 1) return FL_TREE_BARE;
    memcpy(kept, b->sequence + open->sequence, (size_t)size * sizeof *kept);
    b->production[b->n_nodes] = fl_number_of(&b->productions, kept, size);
    if (b->productions.n > known) b->n_kept += size;
    for (int64_t k = open->children; k < b->n_waiting; k++) {
        b->children[b->n_children++] = b->waiting[k];
    }
    b->starts[b->n_nodes + 1] = b->n_children;
    b->n_waiting = open->children;
    b->waiting[b->n_waiting++] = (int32_t)(b->n_nodes++ - b->first_node);
    b->n_sequence = open->sequence;
    if (b->n_open) b->sequence[b->n_sequence++] = -1 - label;
    return FL_TREE_MORE;
}

/* Go on in the tree that ends before `end`, at most to about `stop`. */
FL_INLINE int fl_read_tree(struct fl_brackets *b, int64_t end, int64_t stop) {
    while (b->at < end && b->at < stop) {
        const uint32_t c = b->text[b->at];
        const int64_t begin = b->at;
        if (fl_is_full(&b->words) || fl_is_full(&b->productions)) return FL_TREE_FULL;
        b->at++;
        if (fl_separates(c)) continue;
        if (b->n_open == 0 && (c != '(' || b->n_nodes > b->first_node)) return FL_TREE_OUTSIDE;
        if (c == '(') {
            b->open[b->n_open].sequence = b->n_sequence;
            b->open[b->n_open++].children = b->n_waiting;
            b->sequence[b->n_sequence++] = FL_NO_LABEL;
        } else if (c == ')') {
            const int status = fl_close(b);
            if (status != FL_TREE_MORE) return status;
        } else {
            int32_t word;
            while (b->at < end && b->text[b->at] != '(' && b->text[b->at] != ')' &&
                   !fl_separates(b->text[b->at])) {
                b->at++;
            }
            word = fl_number_of(&b->words, b->text + begin, b->at - begin);
            b->sequence[b->opened ? b->n_sequence - 1 : b->n_sequence++] = word;
        }
        b->opened = c == '(';
    }
    if (b->at < end) return FL_TREE_MORE;
    if (b->n_open) return FL_TREE_UNCLOSED;
    if (b->n_nodes == b->first_node) return FL_TREE_EMPTY;
    b->first_node = b->n_nodes;
    b->n_waiting = 0;
    return FL_TREE_PARSED;
}

#endif
