// RUN: preprocess
#define ID(x) x
#define HERE __LINE__
__LINE__ HERE ID(
__LINE__ HERE)
// OUT: 4 4 5 5
#line 40 "g.cl"
__LINE__ __FILE__ __FILE_NAME__ __BASE_FILE__
// OUT: 40 "g.cl" "g.cl" "t.cl"
# 7 "dir/h.cl" 2
__LINE__ __FILE_NAME__ __COUNTER__ __COUNTER__
// OUT: 7 "h.cl" 0 1
