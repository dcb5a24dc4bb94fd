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
    const uint8_t *text; /* UTF-8 */
    int64_t at;          /* the next byte */
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

/* What a byte begins: a word, or goes on with one; a bracket; a character that parts words; one of
 * several bytes that may do so. */
enum fl_byte_kind { FL_IN_WORD, FL_OPENS, FL_CLOSES, FL_PARTS, FL_MAY_PART };

static const uint8_t fl_byte_kinds[256] = {
    ['('] = FL_OPENS, [')'] = FL_CLOSES, ['\t'] = FL_PARTS, ['\n'] = FL_PARTS, ['\v'] = FL_PARTS,
    ['\f'] = FL_PARTS, ['\r'] = FL_PARTS, [28] = FL_PARTS, [29] = FL_PARTS, [30] = FL_PARTS,
    [31] = FL_PARTS, [' '] = FL_PARTS, [0xc2] = FL_MAY_PART, [0xe1] = FL_MAY_PART,
    [0xe2] = FL_MAY_PART, [0xe3] = FL_MAY_PART,
};

/* Bytes of the character at p, which begins with one that may part, if it is one of those beyond
 * ASCII that Python's str.isspace knows, and else 0. */
FL_INLINE int64_t fl_wide_space(const uint8_t *p) {
    const uint32_t two = (p[0] & 31u) << 6 | (p[1] & 63u);
    uint32_t c;
    if (p[0] == 0xc2) return 2 * (two == 0x85 || two == 0xa0);
    c = (two << 6 & 0xffff) | (p[2] & 63u);
    return 3 * (c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
                c == 0x202f || c == 0x205f || c == 0x3000);
}

/* Where the word that goes on at `at` ends. */
FL_INLINE int64_t fl_word_end(const uint8_t *text, int64_t at, int64_t end) {
    for (; at < end; at++) {
        const int kind = fl_byte_kinds[text[at]];
        if (kind != FL_IN_WORD && (kind != FL_MAY_PART || fl_wide_space(text + at))) break;
    }
    return at;
}

FL_INLINE int fl_is_full(const struct fl_numbered *known) { return known->n == known->capacity; }

/* Number so many bytes. */
FL_INLINE int32_t fl_number_of(struct fl_numbered *known, const void *bytes, int64_t size) {
    struct fl_string s;
    s.bytes = (const uint8_t *)bytes;
    s.size = size;
    return (int32_t)fl_number(known, s);
}

/* Close the innermost bracket; it becomes a node. */
FL_INLINE int fl_close(struct fl_brackets *b) {
    const struct fl_open *open = &b->open[--b->n_open];
    const int64_t size = b->n_sequence - open->sequence, known = b->productions.n;
    int32_t *kept = b->kept + b->n_kept;
    const int32_t label = b->sequence[open->sequence];
    if (size == 1) return FL_TREE_BARE;
    for (int64_t k = 0; k < size; k++) kept[k] = b->sequence[open->sequence + k];
    b->production[b->n_nodes] = fl_number_of(&b->productions, kept, size * (int64_t)sizeof *kept);
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
        const int64_t begin = b->at;
        const int kind = fl_byte_kinds[b->text[begin]];
        if (kind == FL_PARTS || kind == FL_MAY_PART) {
            const int64_t size = kind == FL_PARTS ? 1 : fl_wide_space(b->text + begin);
            b->at += size;
            if (size) continue;
        }
        if (fl_is_full(&b->words) || fl_is_full(&b->productions)) return FL_TREE_FULL;
        if (b->n_open == 0 && (kind != FL_OPENS || b->n_nodes > b->first_node)) {
            return FL_TREE_OUTSIDE;
        }
        b->at++;
        if (kind == FL_OPENS) {
            b->open[b->n_open].sequence = b->n_sequence;
            b->open[b->n_open++].children = b->n_waiting;
            b->sequence[b->n_sequence++] = FL_NO_LABEL;
        } else if (kind == FL_CLOSES) {
            const int status = fl_close(b);
            if (status != FL_TREE_MORE) return status;
        } else {
            int32_t word;
            b->at = fl_word_end(b->text, b->at, end);
            word = fl_number_of(&b->words, b->text + begin, b->at - begin);
            b->sequence[b->opened ? b->n_sequence - 1 : b->n_sequence++] = word;
        }
        b->opened = kind == FL_OPENS;
    }
    if (b->at < end) return FL_TREE_MORE;
    if (b->n_open) return FL_TREE_UNCLOSED;
    if (b->n_nodes == b->first_node) return FL_TREE_EMPTY;
    b->first_node = b->n_nodes;
    b->n_waiting = 0;
    return FL_TREE_PARSED;
}

#endif
