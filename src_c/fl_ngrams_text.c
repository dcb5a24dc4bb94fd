/* fl_text.c for the module of n-grams: an object of its own, since modules are compiled side by
 * side and two of them must not write one. */
#include "fl_text.c"
