/* placeholder.c -- the symbols themselves. */
#include "text/placeholder.h"

const char *hd_placeholder(int i)
{
    static const char *const names[HD_N_PLACEHOLDERS] = {"⟨1⟩", "⟨2⟩", "⟨3⟩", "⟨4⟩", "⟨5⟩",
                                                         "⟨6⟩", "⟨7⟩", "⟨8⟩", "⟨9⟩"};
    return names[i];
}
