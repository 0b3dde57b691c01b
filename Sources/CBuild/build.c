#include "build.h"

// Package.swift takes it from the variable TOCSIN_COMMIT. It stands in a file of C of its own, so that another commit
// compiles this file and nothing else.
#ifndef TOCSIN_COMMIT
#define TOCSIN_COMMIT unknown
#endif
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

const char *tocsin_build_commit(void) { return TEXT(TOCSIN_COMMIT); }
