#ifndef TOCSIN_BUILD_H
#define TOCSIN_BUILD_H

/// The commit that this program was built from; `unknown` where the build was not told.
const char *_Nonnull tocsin_build_commit(void);

#endif
