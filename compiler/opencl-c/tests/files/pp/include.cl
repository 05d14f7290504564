// RUN: preprocess
// HEADER: guarded.h #ifndef GUARDED\n#define GUARDED\nguarded __LINE__ __FILE__\n#endif
// HEADER: once.h #pragma once\nonce __INCLUDE_LEVEL__
// HEADER: a/b.h #include "c.h"\n#include "./../once.h"
// HEADER: a/c.h beside
// HEADER: imported.h imported
#include "guarded.h"
#include <guarded.h>
// OUT: guarded 3 "guarded.h"
#define NAME(x) <x.h>
#include NAME(once)
#include "once.h"
// OUT: once 1
#include "a/b.h"
// OUT: beside
#import "imported.h"
#include "imported.h"
// OUT: imported
#if __has_include("once.h") && __has_include(NAME(once)) && !__has_include(<absent.h>)
there
#endif
// OUT: there
