/* placeholder.h -- symbols that models learn to keep in place: ⟨1⟩ to ⟨9⟩, for what must not be translated. */
#ifndef HD_TEXT_PLACEHOLDER_H
#define HD_TEXT_PLACEHOLDER_H

enum { HD_N_PLACEHOLDERS = 9, HD_PLACEHOLDER_SIZE = 7 };

/* The text of placeholder i, 0 to HD_N_PLACEHOLDERS - 1: "⟨1⟩", HD_PLACEHOLDER_SIZE bytes. */
const char *hd_placeholder(int i);

#endif
