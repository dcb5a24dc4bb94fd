"""Trees in brackets to numbers of productions, and which nodes are the children of which."""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memset

from .strings cimport free_numbered, grow_numbered

EMPTY, OUTSIDE, UNCLOSED, BARE = FL_TREE_EMPTY, FL_TREE_OUTSIDE, FL_TREE_UNCLOSED, FL_TREE_BARE


cdef void *new(int64_t n, size_t size) except NULL:
    """Memory for n things."""
    cdef void *memory = PyMem_RawMalloc(max(n, 1) * size)
    if memory == NULL:
        raise MemoryError()
    return memory


cdef class Brackets:
    """A parser of trees, one behind the other in one text.

    `text` is UTF-8, with at most `n_words` words and as many opening brackets as
    `production` and `children` have places; `starts` has one more, and begins with 0.
    """

    cdef fl_brackets b
    cdef const uint8_t[::1] text
    cdef int32_t[::1] production, children
    cdef int64_t[::1] starts

    def __cinit__(self, const uint8_t[::1] text not None, int64_t n_words,
                  int32_t[::1] production not None, int64_t[::1] starts not None,
                  int32_t[::1] children not None):
        cdef int64_t n_nodes = production.shape[0]
        memset(&self.b, 0, sizeof(fl_brackets))
        self.text, self.production, self.starts = text, production, starts
        self.children = children
        self.b.text = &text[0] if text.shape[0] else NULL
        self.b.starts = &starts[0]
        if n_nodes:
            self.b.production, self.b.children = &production[0], &children[0]
        self.b.open = <fl_open *> new(n_nodes, sizeof(fl_open))
        self.b.waiting = <int32_t *> new(n_nodes, sizeof(int32_t))
        # a bracket stands in its own production and in that of its parent
        self.b.sequence = <int32_t *> new(2 * n_nodes + n_words, sizeof(int32_t))
        self.b.kept = <int32_t *> new(2 * n_nodes + n_words, sizeof(int32_t))

    def __dealloc__(self):
        free_numbered(&self.b.words)
        free_numbered(&self.b.productions)
        PyMem_RawFree(self.b.open)
        PyMem_RawFree(self.b.waiting)
        PyMem_RawFree(self.b.sequence)
        PyMem_RawFree(self.b.kept)

    def read(self, const int64_t[::1] ends, int64_t[::1] sizes, Py_ssize_t tree, int64_t budget):
        """Read tree `tree` and those behind it, until about `budget` bytes are read. Tree i
        ends before ends[i], and gets sizes[i] nodes. Returns (the next tree, what is wrong with it
        or 0)."""
        cdef int status = FL_TREE_FULL
        cdef int64_t before, stop = self.b.at + budget
        while status == FL_TREE_FULL:
            if fl_is_full(&self.b.words):
                grow_numbered(&self.b.words)
            if fl_is_full(&self.b.productions):
                grow_numbered(&self.b.productions)
            with nogil:
                status = FL_TREE_PARSED
                while status == FL_TREE_PARSED and tree < ends.shape[0] and self.b.at < stop:
                    before = self.b.first_node
                    status = fl_read_tree(&self.b, ends[tree], stop)
                    if status == FL_TREE_PARSED:
                        sizes[tree] = self.b.n_nodes - before
                        tree += 1
        return tree, 0 if status == FL_TREE_MORE else status


def by_production(const int32_t[::1] production, const int64_t[::1] ends,
                  const int32_t[::1] of_tree, int64_t[::1] begins, int32_t[::1] order,
                  int32_t[::1] ordered, int32_t[::1] rank):
    """The nodes of each tree by production, then by number, and the place of each in that.

    Tree t has the nodes ends[t] ... ends[t + 1] - 1, which count from 0 in `ordered` and `rank`;
    `begins` holds zeros, one more than there are productions and as many as trees. Two sorts by
    counting: all nodes by production, then those by tree.
    """
    cdef Py_ssize_t k, n = production.shape[0], n_trees = ends.shape[0] - 1
    cdef int64_t v, place
    with nogil:
        for k in range(n):
            begins[production[k] + 1] += 1
        for k in range(1, begins.shape[0]):
            begins[k] += begins[k - 1]
        for k in range(n):
            place = begins[production[k]]
            begins[production[k]] = place + 1
            order[place] = k
        for k in range(n_trees):
            begins[k] = ends[k]
        for k in range(n):
            v = order[k]
            place = begins[of_tree[v]]
            begins[of_tree[v]] = place + 1
            ordered[place] = <int32_t> (v - ends[of_tree[v]])
            rank[v] = <int32_t> (place - ends[of_tree[v]])
