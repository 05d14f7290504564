// RUN: vulkan
// Loops that are left from within others, conditions that share a branch, jumps into loops.
// run: loops
// arg: buffer i32 zero 8
// arg: value i32 5
// expect: 0 i32 [8 36 7 4 21 1 6 55]

int early(int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i * j == 6)
        return 10 * i + j - 6;
      if (j > i)
        break;
    }
  return -1;
}

int shared(int a, int b) {
  if (a > 2 && b < 7 || a == 1)
    return a + 31;
  return b;
}

int jumps(int n) {
  int count = 0;
  if (n & 1)
    goto middle;
top:
  count += 1;
middle:
  count += 2;
  if (--n > 3)
    goto top;
  return count;
}

int cross(int n) {
  int r = 0;
  if (n > 100)
    goto b;
a:
  r += 1;
  if (r > 20)
    return r;
b:
  r += 3;
  if (r > 60)
    return -r;
  goto a;
}

int cases(int n) {
  int r = 0;
  for (int i = 0; i < 4; ++i)
    switch (n + i) {
    case 5: r += 1; continue;
    case 6: r += 2;
    case 7: if (i == 2) break; r += 4; break;
    default: goto out;
    }
out:
  return r;
}

int until(int n) {
  int i = 0;
  do {
    if (i == 3)
      continue;
    if (i > n)
      break;
  } while (++i < 10);
  return i;
}

kernel void loops(global int *out, int n) {
  out[0] = early(n) - 9;
  out[1] = shared(n, 3);
  out[2] = cases(n);
  out[3] = until(3);
  out[4] = cross(n);
  out[5] = jumps(1) - 1;
  out[6] = until(n);
  int sum = 0;
  for (int i = 0;; ++i) {
    if (i > 10) break;
    sum += i;
  }
  out[7] = sum;
}
