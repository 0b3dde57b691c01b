#pragma once

#include <string.h>
#include <zlib.h>

// The most bytes that so many can take as gzip, with its head and end.
static inline size_t tocsin_gzip_bound(size_t count) { return compressBound(count) + 32; }

// Writes the bytes as gzip (RFC 1952) into a target of at least tocsin_gzip_bound bytes; answers how many they are, or 0
// where there was no memory. deflateInit2 is a macro, which Swift cannot call.
static inline size_t tocsin_gzip(const unsigned char *bytes, size_t count, int level, unsigned char *target, size_t room) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = target;
    stream.avail_out = (uInt)room;
    int outcome = deflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    deflateEnd(&stream);
    return outcome == Z_STREAM_END ? written : 0;
}

// Reads gzip (RFC 1952) into a target; answers how many bytes it has, or (size_t)-1 where it is broken or has more than
// there is room for. inflateInit2 is a macro, which Swift cannot call.
static inline size_t tocsin_gunzip(const unsigned char *bytes, size_t count, unsigned char *target, size_t room) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, 15 + 16) != Z_OK) return (size_t)-1;
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = target;
    stream.avail_out = (uInt)room;
    int outcome = inflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    inflateEnd(&stream);
    if (outcome == Z_BUF_ERROR && written == room) return room;
    return outcome == Z_STREAM_END ? written : (size_t)-1;
}
