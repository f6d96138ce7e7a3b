// A place in the paged cache: divides only where a page ends.
#ifndef PAGEDRT_SHADERS_CURSOR_H
#define PAGEDRT_SHADERS_CURSOR_H

struct Cursor {
  uint page; // index into the page table
  uint slot;
  uint page_size;

  Cursor(uint token, uint size) : page(token / size), slot(token % size), page_size(size) {}

  void advance(uint tokens) {
    slot += tokens;
    if (slot >= page_size) {
      page += slot / page_size;
      slot %= page_size;
    }
  }

  // The row's number within one KV head's pages; 64 bits, since an arena may hold over 2^32 elements.
  ulong row(device const uint *page_table) const { return ulong(page_table[page]) * page_size + slot; }
};

#endif
