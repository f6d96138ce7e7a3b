// A place in the paged cache. Divisions happen once, when a stride is made.
#ifndef PAGEDRT_SHADERS_CURSOR_H
#define PAGEDRT_SHADERS_CURSOR_H

#include "arguments.h"
#include "dialect.h"

struct Pages {
  device const uint *table;
  uint size;     // tokens
  uint capacity; // ids are less than it
};

// A number of tokens, as pages and slots.
struct Stride {
  uint pages;
  uint slots;

  Stride(uint tokens, uint page_size) : pages(tokens / page_size), slots(tokens % page_size) {}
};

struct Cursor {
  uint page; // index into the page table
  uint slot;
  uint read_page; // the index whose page id is `id`
  uint id;
  uint bad; // the smallest index read whose id is illegal

  Cursor(uint token, uint page_size)
      : page(token / page_size), slot(token % page_size), read_page(PAGEDRT_UNSET), id(0), bad(PAGEDRT_UNSET) {}

  void advance(Stride stride, uint page_size) {
    page += stride.pages;
    slot += stride.slots;
    if (slot >= page_size) {
      slot -= page_size;
      page += 1;
    }
  }

  // True where the page may be read.
  bool read(Pages pages) {
    if (page != read_page) {
      read_page = page;
      id = pages.table[page];
      if (id >= pages.capacity) {
        bad = min(bad, page);
      }
    }
    return id < pages.capacity;
  }

  // The row's number within one KV head's pages; 64 bits, since an arena may hold over 2^32 elements.
  ulong row(Pages pages) const { return ulong(id) * pages.size + slot; }
};

#endif
