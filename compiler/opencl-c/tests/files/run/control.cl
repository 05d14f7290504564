// RUN: execute
// Loops, switches and jumps of every shape (C99 6.8).
// run:
// arg: buffer i32 zero 12
// arg: value i32 5
// expect: 0 i32 [12 10 3 2 11 7 120 6 9 4 45 0]

int fall(int n) {
    int r = 0;
    switch (n) {
    case 0:
        r += 1;
    case 1 ... 3:
        r += 2;
        break;
    default:
        r += 4;
    case 9:
        r += 7;
    }
    return r;
}

int duff(int n) {
    int count = 0, left = (n + 3) / 4;
    switch (n % 4) {
    case 0:
        do {
            count++;
    case 3:
            count++;
    case 2:
            count++;
    case 1:
            count++;
        } while (--left > 0);
    }
    return count;
}

// The label that control reaches first stands last.
int backwards(int n) {
    int r = 1;
    goto last;
middle:
    r *= n;
    n--;
    goto last;
last:
    if (n > 1)
        goto middle;
    return r;
}

int skips_initialiser(int n) {
    int r = 0;
    goto inside;
    {
        int x;
    inside:
        x = n;
        r += x + 1;
    }
    return r;
}

kernel void k(global int *o, int n) {
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        if (i == 2)
            continue;
        if (i == n)
            break;
        sum += i + 1;
    }
    o[0] = sum;
    int j = 0;
    while (1) {
        if (++j >= 10)
            break;
    }
    o[1] = j;
    o[2] = fall(0);
    o[3] = fall(2);
    o[4] = fall(n);
    o[5] = fall(9);
    o[6] = backwards(n);
    o[7] = skips_initialiser(n);
    o[8] = duff(9);
    int d = 0;
    do
        d++;
    while (d < 4);
    o[9] = d;
    int t = 0;
    for (int a = 0, b = 9; a <= b; a++, b--) {
        for (;;) {
            t += a + b;
            goto next;
        }
    next:;
    }
    o[10] = t;
    return;
    o[11] = 2;
}
