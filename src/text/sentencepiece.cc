/* sentencepiece.cc -- SentencePiece for C: the only file in C++.
 *
 * Invariant: every function catches what is thrown; what leaves here is a value or a sentence. */
#include "text/sentencepiece.h"

extern "C" {
#include "base/error.h"
#include "base/memory.h"
#include "text/spm_check.h"
}

#include <sentencepiece_processor.h>

#include <climits>
#include <cstring>
#include <new>
#include <string>
#include <vector>

struct hd_spm {
    sentencepiece::SentencePieceProcessor processor;
};

/* The library speaks to stderr unless told not to, and has no header for telling it. */
namespace sentencepiece::logging
{
__attribute__((weak)) void SetMinLogLevel(int level);
}

static void be_silent()
{
    enum { FATAL = 4 };
    if (sentencepiece::logging::SetMinLogLevel)
        sentencepiece::logging::SetMinLogLevel(FATAL);
}

/* Run `body`; what it throws becomes a sentence and the answer `otherwise`. */
template <typename Result, typename Body>
static Result guarded(Result otherwise, heed_error *err, Body body)
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        hd_fail(err, HEED_NO_MEMORY, "there is no memory for SentencePiece; close other programs");
    } catch (const std::exception &e) {
        hd_fail(err, HEED_BAD_MODEL, "SentencePiece failed: %s", e.what());
    } catch (...) {
        hd_fail(err, HEED_BAD_MODEL, "SentencePiece failed and did not say why");
    }
    return otherwise;
}

struct hd_spm *hd_spm_from_memory(const void *data, size_t size, heed_error *err)
{
    if (!hd_spm_check(data, size, err))
        return nullptr;
    be_silent();
    struct hd_spm *spm = nullptr;
    const bool ok = guarded(false, err, [&] {
        spm = new hd_spm;
        const std::string_view bytes(static_cast<const char *>(data), size);
        const auto status = spm->processor.LoadFromSerializedProto(bytes);
        if (!status.ok() || spm->processor.GetPieceSize() <= 0)
            return hd_fail(err, HEED_BAD_MODEL,
                           "the vocabulary is no SentencePiece model, or is damaged; copy or "
                           "download the file again");
        return true;
    });
    if (!ok) {
        delete spm;
        return nullptr;
    }
    return spm;
}

void hd_spm_free(struct hd_spm *spm)
{
    delete spm;
}

int hd_spm_size(const struct hd_spm *spm)
{
    return spm->processor.GetPieceSize();
}

int hd_spm_unknown(const struct hd_spm *spm)
{
    return spm->processor.unk_id();
}

int hd_spm_begin(const struct hd_spm *spm)
{
    return spm->processor.bos_id();
}

int hd_spm_end(const struct hd_spm *spm)
{
    return spm->processor.eos_id();
}

int hd_spm_padding(const struct hd_spm *spm)
{
    return spm->processor.pad_id();
}

const char *hd_spm_piece(const struct hd_spm *spm, int id)
{
    return spm->processor.IdToPiece(id).c_str();
}

int hd_spm_find(const struct hd_spm *spm, const char *piece)
{
    return guarded(-1, nullptr, [&] {
        const int id = spm->processor.PieceToId(piece); /* that of <unk> for what is not there */
        return id >= 0 && id < hd_spm_size(spm) && spm->processor.IdToPiece(id) == piece ? id : -1;
    });
}

int *hd_spm_encode(const struct hd_spm *spm, const char *text, size_t n, size_t *n_ids,
                   heed_error *err)
{
    return guarded(static_cast<int *>(nullptr), err, [&]() -> int * {
        std::vector<int> ids;
        const auto status = spm->processor.Encode(std::string_view(text, n), &ids);
        if (!status.ok()) {
            hd_fail(err, HEED_BAD_TEXT, "SentencePiece cannot cut this text: %s", status.message());
            return nullptr;
        }
        int *copy = static_cast<int *>(hd_alloc(ids.size(), sizeof(int), err));
        if (copy && !ids.empty())
            std::memcpy(copy, ids.data(), ids.size() * sizeof(int));
        *n_ids = ids.size();
        return copy;
    });
}

char *hd_spm_decode(const struct hd_spm *spm, const int *ids, size_t n, heed_error *err)
{
    return guarded(static_cast<char *>(nullptr), err, [&]() -> char * {
        std::string text;
        const auto status = spm->processor.Decode(std::vector<int>(ids, ids + n), &text);
        if (!status.ok()) {
            hd_fail(err, HEED_BAD_TEXT, "SentencePiece cannot join these ids: %s",
                    status.message());
            return nullptr;
        }
        char *copy = static_cast<char *>(hd_alloc(text.size() + 1, 1, err));
        return copy ? static_cast<char *>(std::memcpy(copy, text.c_str(), text.size() + 1))
                    : nullptr;
    });
}
