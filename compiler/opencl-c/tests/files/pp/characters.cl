// RUN: preprocess
??=define BRACKET ??( ??)
BRACKET größe \u00e9t\u00e9 a→b
// WARNING: 2:1: trigraph converted to the character it stands for [-Wtrigraphs]
// WARNING: 2:19: trigraph converted to the character it stands for [-Wtrigraphs]
// WARNING: 2:23: trigraph converted to the character it stands for [-Wtrigraphs]
// ERROR: 3:32: unexpected character <U+2192>
"open
// WARNING: 8:1: missing terminating '"' character [-Winvalid-pp-token]
// ERROR: 11:1: unterminated /* comment
/* never closed
