/* Correct kernels whose threads share a block's memory. */
#include "../planted.h"

/* Two buffers: one barrier a round is enough.
 * launch: grid 1, block 64, n 256
 * result: reverse_64 */
KERNEL(double_buffer)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x;
    tile[0][t] = in[t];
    for (int k = 0; k < n; k += 64) {
        int now = k / 64 % 2;
        __syncthreads();
        if (k + 64 < n)
            tile[!now][t] = in[k + 64 + t];
        out[k + t] = tile[now][63 - t];
    }
}

/* launch: grid 2, block 128
 * result: block_sum */
KERNEL(tree_reduction)
{
    __shared__ int sum[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sum[t] = in[i];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d)
            sum[t] += sum[t + d];
        __syncthreads();
    }
    out[i] = sum[0];
}

/* Writing and reading in turn, in one buffer.
 * launch: grid 2, block 128
 * result: block_scan */
KERNEL(scan_in_place)
{
    __shared__ int sum[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sum[t] = in[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int left = t >= d ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += left;
        __syncthreads();
    }
    out[i] = sum[t];
}

/* A tile with a column of padding that nobody writes or reads; 2-D blocks and grid.
 * launch: grid 4x4, block 16x16
 * result: transpose_64 */
KERNEL(padded_transpose)
{
    __shared__ int tile[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 16 + ty) * 64 + blockIdx.x * 16 + tx];
    __syncthreads();
    out[(blockIdx.x * 16 + ty) * 64 + blockIdx.y * 16 + tx] = tile[tx][ty];
}

/* In place: each thread above the diagonal swaps its own pair.
 * launch: grid 4x4, block 16x16
 * result: transpose_64 */
KERNEL(transpose_in_place)
{
    __shared__ int tile[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 16 + ty) * 64 + blockIdx.x * 16 + tx];
    __syncthreads();
    if (ty < tx) {
        int kept = tile[ty][tx];
        tile[ty][tx] = tile[tx][ty];
        tile[tx][ty] = kept;
    }
    __syncthreads();
    out[(blockIdx.x * 16 + ty) * 64 + blockIdx.y * 16 + tx] = tile[ty][tx];
}

/* Shared atomics in each block, then global ones for what it found.
 * launch: grid 4, block 64
 * result: histogram_8 */
KERNEL(histogram)
{
    __shared__ int bins[8];
    int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * 64 + t] % 8], 1);
    __syncthreads();
    if (t < 8)
        atomicAdd(&work[t], bins[t]);
    __threadfence();
    __syncthreads();
    if (t == 0 && atomicAdd(&work[8], 1) == 3) {
        __threadfence();
        for (int i = 0; i < n; i++)
            out[i] = atomicAdd(&work[i % 8], 0);
    }
}

/* Neighbours in one word do not race: each byte is a place of its own.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(bytes_side_by_side)
{
    __shared__ unsigned char bytes[64];
    int t = threadIdx.x;
    bytes[t] = (unsigned char)in[t];
    __syncthreads();
    out[t] = bytes[63 - t];
}

/* Padding between the members is copied along, and means nothing.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(struct_with_padding)
{
    struct item {
        char tag;
        int value;
    };
    __shared__ struct item items[64];
    int t = threadIdx.x;
    struct item mine;
    mine.tag = (char)t;
    mine.value = in[t];
    items[t] = mine;
    __syncthreads();
    struct item other = items[63 - t];
    out[t] = other.tag == 63 - t ? other.value : -1;
}

static __device__ __noinline__ int sum_of(const int *from, int count)
{
    if (count == 1)
        return from[0];
    int half = count / 2;
    return sum_of(from, half) + sum_of(from + half, count - half);
}

/* launch: grid 2, block 32
 * result: block_sum */
KERNEL(recursion)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sum_of(in + blockIdx.x * blockDim.x, (int)blockDim.x);
}

/* launch: grid 2x3x2, block 4x2x4
 * result: copy */
KERNEL(three_dimensions)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * 32 + t] = in[block * 32 + t];
}

/* Dynamic shared memory, cut into two arrays by hand.
 * launch: grid 1, block 64, shared 384
 * result: reverse_64 */
KERNEL(dynamic_shared)
{
    extern __shared__ int numbers[];
    short *places = (short *)(numbers + 64);
    int t = threadIdx.x;
    numbers[t] = in[t];
    places[t] = (short)(63 - t);
    __syncthreads();
    out[places[t]] = numbers[t];
}

/* Whole warps leave before the barrier, which then is one of the others.
 * launch: grid 1, block 128, n 64
 * result: reverse_64 */
KERNEL(warps_leave_early)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t >= n)
        return;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[63 - t];
}

/* One value for all, round after round.
 * launch: grid 1, block 64
 * result: block_sum */
KERNEL(broadcast)
{
    __shared__ int value;
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 64; k++) {
        if (t == k)
            value = in[t];
        __syncthreads();
        sum += value;
        __syncthreads();
    }
    out[t] = sum;
}

/* A private array that is filled and read by an index.
 * launch: grid 1, block 64
 * result: copy */
KERNEL(filled_private_array)
{
    int list[8], t = threadIdx.x;
    for (int i = 0; i <= t % 8; i++)
        list[(i + t) % 8] = in[t] + i;
    out[t] = list[(t % 8 + t) % 8] - t % 8;
}

/* One room, used as numbers, then as bytes, then as numbers.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(room_of_many_uses)
{
    __shared__ int room[64];
    int t = threadIdx.x;
    room[t] = in[t];
    __syncthreads();
    int mine = room[63 - t];
    __syncthreads();
    ((unsigned char *)room)[t] = (unsigned char)mine;
    __syncthreads();
    mine = ((unsigned char *)room)[63 - t];
    __syncthreads();
    room[t] = mine;
    __syncthreads();
    out[t] = room[63 - t];
}

/* All who find something write the same into one flag.
 * launch: grid 1, block 64
 * result: copy */
KERNEL(same_value_by_all)
{
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0)
        found = 0;
    __syncthreads();
    if (in[t] > 50)
        found = 1;
    __syncthreads();
    out[t] = found ? in[t] : -1;
}

/* Structures with padding to global memory and back.
 * launch: grid 1, block 32, n 64
 * result: copy */
KERNEL(padding_to_global)
{
    struct item {
        short tag;
        int value;
    };
    struct item mine, *items = (struct item *)work;
    int t = threadIdx.x;
    mine.tag = (short)in[t];
    mine.value = in[t + 32];
    items[t] = mine;
    __syncthreads();
    out[t] = items[t].tag;
    out[t + 32] = items[t].value;
}

/* The smallest value and where it is: both go through shuffles and memory.
 * launch: grid 1, block 128
 * result: least */
KERNEL(argument_of_least)
{
    __shared__ int values[4], places[4];
    int t = threadIdx.x, value = in[t], place = t;
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_down_sync(0xffffffff, value, d);
        int there = __shfl_down_sync(0xffffffff, place, d);
        if (other < value) {
            value = other;
            place = there;
        }
    }
    if (t % 32 == 0) {
        values[t / 32] = value;
        places[t / 32] = place;
    }
    __syncthreads();
    if (t < 4) {
        value = values[t];
        place = places[t];
        for (int d = 2; d > 0; d /= 2) {
            int other = __shfl_down_sync(0x0000000f, value, d);
            int there = __shfl_down_sync(0x0000000f, place, d);
            if (other < value) {
                value = other;
                place = there;
            }
        }
        if (t == 0)
            places[0] = place;
    }
    __syncthreads();
    out[t] = in[places[0]];
}

/* Warps wait for one another by an atomic counter instead of a barrier.
 * launch: grid 1, block 64
 * result: reverse_64 */
KERNEL(counter_instead_of_barrier)
{
    __shared__ int tile[64], arrived;
    int t = threadIdx.x;
    if (t == 0)
        arrived = 0;
    __syncthreads();
    tile[t] = in[t];
    __threadfence_block();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < 64)
        ;
    __threadfence_block();
    out[t] = tile[63 - t];
}

/* A grid-stride loop of 16-byte vectors and a tail.
 * launch: grid 2, block 32, n 1022
 * result: copy */
KERNEL(vectors_and_tail)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = i; k < n / 4; k += 64)
        ((float4 *)out)[k] = ((const float4 *)in)[k];
    for (int k = n / 4 * 4 + i; k < n; k += 64)
        out[k] = in[k];
}
