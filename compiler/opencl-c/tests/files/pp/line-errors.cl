// RUN: preprocess
#line 40 "g.cl"
#error here
// ERROR: g.cl:40:2: here
#line x
// ERROR: g.cl:42:7: #line directive requires a positive integer argument
#line 3000000000
// ERROR: g.cl:44:7: #line number is too large
