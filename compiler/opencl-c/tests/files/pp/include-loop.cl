// RUN: preprocess
// HEADER: loop.h #include "loop.h"
#include "loop.h"
// FATAL: loop.h:1:2: #include nested too deeply
