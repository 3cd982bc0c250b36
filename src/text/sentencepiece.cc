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
#include <sentencepiece_trainer.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

struct hd_spm {
    sentencepiece::SentencePieceProcessor processor;
};

/* The library logs to stderr unless it is switched off, for which it has no public header. */
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

/* A copy for C, with a NUL after it. */
static char *copy_of(const std::string &bytes, heed_error *err)
{
    char *copy = static_cast<char *>(hd_alloc(bytes.size() + 1, 1, err));
    return copy ? static_cast<char *>(std::memcpy(copy, bytes.c_str(), bytes.size() + 1)) : nullptr;
}

static bool fail_to_cut(const sentencepiece::util::Status &status, heed_error *err)
{
    return hd_fail(err, HEED_BAD_TEXT, "SentencePiece cannot cut this text: %s", status.message());
}

int *hd_spm_encode(const struct hd_spm *spm, const char *text, size_t n, size_t *n_ids,
                   heed_error *err)
{
    return guarded(static_cast<int *>(nullptr), err, [&]() -> int * {
        std::vector<int> ids;
        const auto status = spm->processor.Encode(std::string_view(text, n), &ids);
        if (!status.ok()) {
            fail_to_cut(status, err);
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
        return copy_of(text, err);
    });
}

/* The library has no function for it, but its pieces, one after the other, are that text; only the
 * bytes of an unknown character are spelled, "<0xE7>". */
char *hd_spm_normalise(const struct hd_spm *spm, const char *text, size_t n, size_t *n_out,
                       heed_error *err)
{
    return guarded(static_cast<char *>(nullptr), err, [&]() -> char * {
        sentencepiece::ImmutableSentencePieceText cut;
        const auto status = spm->processor.Encode(std::string_view(text, n), cut.mutable_proto());
        if (!status.ok()) {
            fail_to_cut(status, err);
            return nullptr;
        }
        std::string normal;
        normal.reserve(n + n / 4 + 8);
        const size_t n_pieces = cut.pieces_size();
        for (size_t i = 0; i < n_pieces; i++) {
            const auto piece = cut.pieces(static_cast<int>(i));
            unsigned byte;
            if (spm->processor.IsByte(static_cast<int>(piece.id())) &&
                std::sscanf(piece.piece().c_str(), "<0x%2X>", &byte) == 1)
                normal += static_cast<char>(byte);
            else
                normal += piece.piece();
        }
        *n_out = normal.size();
        return copy_of(normal, err);
    });
}

/* ---- learning -------------------------------------------------------------------------------- */

namespace
{

/* Lines of "word TAB count". Where a piece is to begin and end, the library looks for text that is
 * there twice at least, and counts lines for that; so a word that is there more often comes in two. */
class Words : public sentencepiece::SentenceIterator
{
  public:
    Words(const struct hd_counted_word *words, size_t n) : words_(words), n_lines_(2 * n), i_(0)
    {
        write_line();
    }
    bool done() const override
    {
        return i_ == n_lines_;
    }
    void Next() override
    {
        i_++;
        write_line();
    }
    const std::string &value() const override
    {
        return line_;
    }
    sentencepiece::util::Status status() const override
    {
        return {};
    }

  private:
    /* A word that is there once has nothing for its second line. */
    void write_line()
    {
        for (; i_ < n_lines_; i_++) {
            const struct hd_counted_word &word = words_[i_ / 2];
            const uint64_t count = (word.count + 1 - i_ % 2) / 2;
            if (count == 0)
                continue;
            line_ = word.text;
            line_ += '\t';
            line_ += std::to_string(count);
            return;
        }
    }

    const struct hd_counted_word *words_;
    size_t n_lines_, i_;
    std::string line_;
};

} // namespace

/* A share as the library reads it, whatever the decimal point of the place is. */
static std::string share_text(float share)
{
    char text[16];
    const int millionths = static_cast<int>(std::lround(share * 1e6));
    std::snprintf(text, sizeof text, "%d.%06d", millionths / 1000000, millionths % 1000000);
    return text;
}

/* The library's own words are about its own options; the failures that users meet get ours. */
static bool fail_to_learn(const struct hd_spm_plan *plan, const std::string &reason,
                          heed_error *err)
{
    static const char few[] = "smaller than required_chars. ";
    const size_t at = reason.find(few);
    int wanted, needed;
    if (at != std::string::npos &&
        std::sscanf(reason.c_str() + at + sizeof few - 1, "%d vs %d", &wanted, &needed) == 2)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a vocabulary of %d has no room for the text's characters and the special "
                       "symbols, which are %d; make it larger",
                       plan->size, needed);
    if (reason.find("!sentences_.empty()") != std::string::npos)
        return hd_fail(
            err, HEED_BAD_TEXT,
            "there is no word to learn a vocabulary from; SentencePiece passes over those "
            "with a \u2585, which it keeps for itself");
    return hd_fail(err, HEED_BAD_TEXT, "SentencePiece cannot learn a vocabulary from this text: %s",
                   reason.c_str());
}

char *hd_spm_learn(const struct hd_spm_plan *plan, const struct hd_counted_word *words,
                   size_t n_words, size_t *n_out, heed_error *err)
{
    be_silent();
    return guarded(static_cast<char *>(nullptr), err, [&]() -> char * {
        /* One thread, since their number decides the order of sums, and with it the model; no
         * files, whose names would be remembered in the model; no choosing of sentences, which is
         * done already. */
        std::unordered_map<std::string, std::string> options = {
            {"model_type", plan->is_bpe ? "bpe" : "unigram"},
            {"vocab_size", std::to_string(plan->size)},
            {"hard_vocab_limit", "false"},
            {"character_coverage", share_text(plan->character_coverage)},
            {"normalization_rule_name", plan->normalise},
            {"eos_id", "0"},
            {"unk_id", "1"},
            {"bos_id", "-1"},
            {"pad_id", "-1"},
            {"num_threads", "1"},
            {"input_format", "tsv"},
            {"shuffle_input_sentence", "false"},
            {"input_sentence_size", "0"},
        };
        if (plan->has_bytes)
            options["byte_fallback"] = "true";
        if (plan->controls)
            options["control_symbols"] = plan->controls;
        if (plan->symbols)
            options["user_defined_symbols"] = plan->symbols;
        Words iterator(words, n_words);
        std::string model;
        const auto status = sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model);
        if (!status.ok()) {
            fail_to_learn(plan, status.message(), err);
            return nullptr;
        }
        *n_out = model.size();
        return copy_of(model, err);
    });
}

/* ---- with places ------------------------------------------------------------------------------ */

bool hd_spm_encode_spans(const struct hd_spm *spm, const char *text, size_t n, int **ids,
                         size_t **spans, size_t *n_ids, heed_error *err)
{
    *ids = nullptr;
    *spans = nullptr;
    const bool ok = guarded(false, err, [&] {
        sentencepiece::ImmutableSentencePieceText cut;
        const auto status = spm->processor.Encode(std::string_view(text, n), cut.mutable_proto());
        if (!status.ok())
            return fail_to_cut(status, err);
        *n_ids = cut.pieces_size();
        *ids = static_cast<int *>(hd_alloc(*n_ids, sizeof(int), err));
        *spans = static_cast<size_t *>(hd_alloc(2 * *n_ids, sizeof(size_t), err));
        for (size_t i = 0; *ids && *spans && i < *n_ids; i++) {
            const auto piece = cut.pieces(static_cast<int>(i));
            (*ids)[i] = static_cast<int>(piece.id());
            (*spans)[2 * i] = piece.begin();
            (*spans)[2 * i + 1] = piece.end();
        }
        return *ids && *spans;
    });
    if (!ok) {
        hd_free(*ids);
        hd_free(*spans);
        *ids = nullptr;
        *spans = nullptr;
    }
    return ok;
}

/* Ids, or pieces by their spelling. */
template <typename Piece>
static char *join(const struct hd_spm *spm, const std::vector<Piece> &pieces, size_t *spans,
                  heed_error *err)
{
    return guarded(static_cast<char *>(nullptr), err, [&]() -> char * {
        sentencepiece::ImmutableSentencePieceText joined;
        const auto status = spm->processor.Decode(pieces, joined.mutable_proto());
        if (!status.ok() || joined.pieces_size() != pieces.size()) {
            hd_fail(err, HEED_BAD_TEXT, "SentencePiece cannot join these ids: %s",
                    status.message());
            return nullptr;
        }
        for (size_t i = 0; spans && i < pieces.size(); i++) {
            const auto piece = joined.pieces(static_cast<int>(i));
            spans[2 * i] = piece.begin();
            spans[2 * i + 1] = piece.end();
        }
        return copy_of(joined.text(), err);
    });
}

char *hd_spm_decode_spans(const struct hd_spm *spm, const int *ids, size_t n, size_t *spans,
                          heed_error *err)
{
    return guarded(static_cast<char *>(nullptr), err,
                   [&] { return join(spm, std::vector<int>(ids, ids + n), spans, err); });
}

char *hd_spm_join(const struct hd_spm *spm, const char *const *pieces, size_t n, size_t *spans,
                  heed_error *err)
{
    return guarded(static_cast<char *>(nullptr), err, [&] {
        return join(spm, std::vector<std::string>(pieces, pieces + n), spans, err);
    });
}

bool hd_spm_cut(const struct hd_spm *spm, const char *text, size_t n,
                bool (*take)(void *context, const struct hd_spm_piece *piece), void *context,
                heed_error *err)
{
    return guarded(false, err, [&] {
        sentencepiece::ImmutableSentencePieceText cut;
        const auto status = spm->processor.Encode(std::string_view(text, n), cut.mutable_proto());
        if (!status.ok())
            return fail_to_cut(status, err);
        const size_t n_pieces = cut.pieces_size();
        bool ok = true;
        for (size_t i = 0; ok && i < n_pieces; i++) {
            const auto piece = cut.pieces(static_cast<int>(i));
            const struct hd_spm_piece one = {piece.piece().c_str(), piece.piece().size(),
                                             piece.begin(), piece.end()};
            ok = take(context, &one);
        }
        return ok;
    });
}
