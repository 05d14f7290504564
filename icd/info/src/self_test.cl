kernel void hash(global uint *results)
{
    uint item = get_global_id(0);
    uint hash = item;
    for (uint round = item % 13; round > 0; round--)
        hash = (hash ^ (hash >> 15)) * 0x2c1b3c6du;
    results[item] = hash;
}

kernel void reduce(global uint *sums, local uint *part)
{
    uint item = get_local_id(0);
    part[item] = get_global_id(0);
    for (uint rest = get_local_size(0) / 2; rest > 0; rest /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < rest)
            part[item] += part[item + rest];
    }
    if (item == 0)
        sums[get_group_id(0)] = part[0];
}

kernel void count(global uint *counters)
{
    atomic_inc(&counters[get_global_id(0) % 16]);
}

kernel void functions(global float *results)
{
    size_t item = get_global_id(0);
    float x = (float)item / (float)get_global_size(0);
    results[item] = sin(x) + (float)exp((double)x) + sqrt(1.0f + x) + log(1.0f + x);
}
