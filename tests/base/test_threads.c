/* test_threads.c -- the pool: every task once, the same result for any number of threads; and
 * counting cores. */
#define _GNU_SOURCE /* CPU_SET */
#include "test.h"

#include "base/memory.h"
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TASKS = 1000, MOST_WORKERS = 9 };

struct count {
    int n_calls[MOST_TASKS]; /* each written by the one thread that has the index */
    int worker_of[MOST_TASKS];
    atomic_int is_working[MOST_WORKERS];
    atomic_int n_clashes; /* one worker number used by two threads at once */
    int n_threads;
};

static void count_calls(void *context, int index, int worker)
{
    struct count *c = context;
    if (worker < 0 || worker >= c->n_threads || atomic_exchange(&c->is_working[worker], 1))
        atomic_fetch_add(&c->n_clashes, 1);
    c->n_calls[index]++;
    c->worker_of[index] = worker;
    if (index % 7 == 0)
        sched_yield();
    atomic_store(&c->is_working[worker], 0);
}

static void every_task_runs_once(void **state)
{
    (void)state;
    static const int n_tasks[] = {0, 1, 2, 3, 7, 64, MOST_TASKS};
    for (int n_threads = 1; n_threads <= MOST_WORKERS; n_threads += 2) {
        heed_error err = {0};
        struct hd_pool *pool = hd_pool_new(n_threads, &err);
        assert_non_null(pool);
        assert_int_equal(hd_pool_size(pool), n_threads);
        for (size_t k = 0; k < sizeof n_tasks / sizeof *n_tasks; k++) {
            static struct count c;
            c = (struct count){.n_threads = n_threads};
            hd_pool_run(pool, count_calls, &c, n_tasks[k]);
            for (int i = 0; i < MOST_TASKS; i++)
                assert_that(c.n_calls[i] == (i < n_tasks[k]),
                            "%d threads, task %d of %d ran %d times", n_threads, i, n_tasks[k],
                            c.n_calls[i]);
            assert_int_equal(atomic_load(&c.n_clashes), 0);
        }
        hd_pool_free(pool);
    }
}

/* Each result belongs to its index; adding them in this order gives the same bits for any number
 * of threads. */
static void part_of_sum(void *context, int index, int worker)
{
    (void)worker;
    float sum = 0;
    for (int i = 1; i <= 1000; i++)
        sum += 1.0F / (float)(index * 1000 + i);
    ((float *)context)[index] = sum;
}

static void the_result_does_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    float first = 0;
    for (int n_threads = 1; n_threads <= 5; n_threads++) {
        struct hd_pool *pool = hd_pool_new(n_threads, NULL);
        float parts[50], sum = 0;
        hd_pool_run(pool, part_of_sum, parts, 50);
        for (int i = 0; i < 50; i++)
            sum += parts[i];
        hd_pool_free(pool);
        if (n_threads == 1)
            first = sum;
        assert_that(memcmp(&sum, &first, sizeof sum) == 0, "%d threads: %.9g, one thread: %.9g",
                    n_threads, (double)sum, (double)first);
    }
}

static void add_one(void *context, int index, int worker)
{
    (void)worker;
    ((int *)context)[index]++;
}

static void many_short_runs_follow_each_other(void **state)
{
    (void)state;
    struct hd_pool *pool = hd_pool_new(4, NULL);
    int sums[5] = {0};
    for (int run = 0; run < 2000; run++)
        hd_pool_run(pool, add_one, sums, 5); /* plain ints: what one run wrote, the next one sees */
    for (int i = 0; i < 5; i++)
        assert_int_equal(sums[i], 2000);
    hd_pool_free(pool);
}

static void the_calling_thread_is_worker_zero(void *context, int index, int worker)
{
    (void)index;
    if (pthread_equal(pthread_self(), *(pthread_t *)context) != (worker == 0))
        abort();
}

static void the_caller_works_too(void **state)
{
    (void)state;
    pthread_t self = pthread_self();
    struct hd_pool *pool = hd_pool_new(3, NULL);
    hd_pool_run(pool, the_calling_thread_is_worker_zero, &self, 500);
    hd_pool_free(pool);
    pool = hd_pool_new(1, NULL);
    hd_pool_run(pool, the_calling_thread_is_worker_zero, &self, 5);
    hd_pool_free(pool);
}

static void silly_numbers_of_threads_are_refused(void **state)
{
    (void)state;
    const int silly[] = {0, -1, 4097, 2147483647};
    for (int i = 0; i < 4; i++) {
        heed_error err = {0};
        assert_null(hd_pool_new(silly[i], &err));
        assert_error(err, HEED_BAD_OPTION, "choose from 1 to 4096");
    }
    hd_pool_free(NULL);
}

static void without_memory_there_is_no_pool(void **state)
{
    (void)state;
    for (long n = 0; n < 2; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        assert_null(hd_pool_new(4, &err));
        assert_error(err, HEED_NO_MEMORY, "no memory");
    }
    hd_alloc_fail_after(-1);
}

static void there_is_at_least_one_core(void **state)
{
    (void)state;
    const int n = heed_cores();
    assert_that(n >= 1 && n <= sysconf(_SC_NPROCESSORS_CONF), "%d cores of %ld", n,
                sysconf(_SC_NPROCESSORS_CONF));
}

#ifdef __linux__
static void a_process_bound_to_one_cpu_has_one_core(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const int n = heed_cores();
    sched_setaffinity(0, sizeof before, &before);
    assert_int_equal(n, 1);
}
#endif

/* A small copy of the files in which Linux keeps the quota. */
static char root[] = "/tmp/heed-cgroup-XXXXXX";

static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0777);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_quota_of_a_container_counts(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    assert_int_equal(hd_cores_of_quota(root), 0); /* no such files at all */

    put("/proc/self/cgroup", "0::/user.slice/app\n");
    assert_int_equal(hd_cores_of_quota(root), 0);
    put("/sys/fs/cgroup/user.slice/app/cpu.max", "max 100000\n");
    assert_int_equal(hd_cores_of_quota(root), 0);
    put("/sys/fs/cgroup/user.slice/app/cpu.max", "400000 100000\n");
    assert_int_equal(hd_cores_of_quota(root), 4);
    put("/sys/fs/cgroup/user.slice/cpu.max",
        "250000 100000\n"); /* the parent allows less: 2.5, rounded up */
    assert_int_equal(hd_cores_of_quota(root), 3);
    put("/sys/fs/cgroup/cpu.max", "1000 100000\n");
    assert_int_equal(hd_cores_of_quota(root), 1);
    put("/sys/fs/cgroup/cpu.max", "nonsense\n");
    assert_int_equal(hd_cores_of_quota(root), 3);
    put("/proc/self/cgroup", "0::/a/name/of/the/host\n"); /* as seen from inside a container */
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_int_equal(hd_cores_of_quota(root), 2);

    put("/proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\nno colons\n");
    assert_int_equal(hd_cores_of_quota(root), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(hd_cores_of_quota(root), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "600000\n");
    assert_int_equal(hd_cores_of_quota(root), 6);
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "0\n");
    assert_int_equal(hd_cores_of_quota(root), 0);

    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
}

struct waiting {
    atomic_int n_idle, n_slow;
};

static void count_idle(void *context)
{
    struct waiting *w = context;
    atomic_fetch_add(&w->n_idle, 1);
}

/* All workers but the caller take their time. */
static void be_slow(void *context, int index, int worker)
{
    struct waiting *w = context;
    (void)index;
    if (worker == 0)
        while (atomic_load(&w->n_slow) == 0)
            usleep(1000); /* leave one for another */
    else {
        atomic_fetch_add(&w->n_slow, 1);
        usleep(500000);
    }
}

static void who_waits_for_others_is_asked_to_look_around(void **state)
{
    (void)state;
    struct waiting w = {0};
    struct hd_pool *pool = hd_pool_new(2, NULL);
    hd_pool_set_idle(pool, count_idle, &w);
    hd_pool_run(pool, be_slow, &w, 2);
    assert_that(atomic_load(&w.n_idle) >= 1, "idle %d times", atomic_load(&w.n_idle));
    hd_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(the_result_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(many_short_runs_follow_each_other),
        cmocka_unit_test(the_caller_works_too),
        cmocka_unit_test(who_waits_for_others_is_asked_to_look_around),
        cmocka_unit_test(silly_numbers_of_threads_are_refused),
        cmocka_unit_test(without_memory_there_is_no_pool),
        cmocka_unit_test(there_is_at_least_one_core),
#ifdef __linux__
        cmocka_unit_test(a_process_bound_to_one_cpu_has_one_core),
#endif
        cmocka_unit_test(a_quota_of_a_container_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
