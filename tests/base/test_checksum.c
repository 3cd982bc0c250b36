/* test_checksum.c -- the published answers, parts like the whole, and every flipped bit found. */
#include "test.h"

#include "base/checksum.h"

static void texts_have_their_published_checksums(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t sum;
    } known[] = {{"", UINT64_C(0xef46db3751d8e999)},
                 {"a", UINT64_C(0xd24ec4f1a98c6e5b)},
                 {"abc", UINT64_C(0x44bc2cf5ad770999)},
                 {"Nobody inspects the spammish repetition", UINT64_C(0xfbcea83c8a378bf1)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_that(hd_checksum_of(known[i].text, strlen(known[i].text)) == known[i].sum,
                    "'%s' has %016llx", known[i].text,
                    (unsigned long long)hd_checksum_of(known[i].text, strlen(known[i].text)));
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t n = 0; n <= sizeof bytes; n++)
        for (size_t cut = 0; cut <= n; cut += 7) {
            struct hd_checksum s = hd_checksum_begin();
            hd_checksum_add(&s, bytes, cut);
            hd_checksum_add(&s, bytes + cut, (n - cut) / 2);
            hd_checksum_add(&s, bytes + cut + (n - cut) / 2, n - cut - (n - cut) / 2);
            assert_that(hd_checksum_end(&s) == hd_checksum_of(bytes, n), "%zu bytes cut at %zu", n,
                        cut);
        }
}

static void every_flipped_bit_is_found(void **state)
{
    (void)state;
    unsigned char bytes[131] = {0};
    const uint64_t sum = hd_checksum_of(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_that(hd_checksum_of(bytes, sizeof bytes) != sum, "bit %zu", bit);
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_published_checksums),
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(every_flipped_bit_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
