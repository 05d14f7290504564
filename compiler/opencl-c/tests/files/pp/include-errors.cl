// RUN: preprocess
// HEADER: outer.h #include "inner.h"
// HEADER: inner.h int x;\n#error in here
// HEADER: loop.h #include "loop.h"
#include "outer.h"
// ERROR: inner.h:2:2: in here
// LOG: In file included from t.cl:5:
// LOG: In file included from outer.h:1:
#include
// ERROR: 9:2: expected "FILENAME" or <FILENAME>
#include <absent.h>
// FATAL: 11:10: 'absent.h' file not found
