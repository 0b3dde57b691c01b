import CNGHTTP2

/// Header lines in the form libnghttp2 takes; it copies them.
enum HeaderLines {
    static func withNativeLines(
        _ lines: [(name: String, value: String)],
        _ use: (UnsafePointer<nghttp2_nv>?, Int) -> Void
    ) {
        var text: [UInt8] = []
        var lengths: [(name: Int, value: Int)] = []
        for line in lines {
            let start = text.count
            text.append(contentsOf: line.name.utf8)
            let middle = text.count
            text.append(contentsOf: line.value.utf8)
            lengths.append((middle - start, text.count - middle))
        }
        text.withUnsafeMutableBufferPointer { text in
            guard var cursor = text.baseAddress else { return use(nil, 0) }
            let native = lengths.map { length in
                defer { cursor += length.name + length.value }
                return nghttp2_nv(
                    name: cursor,
                    value: cursor + length.name,
                    namelen: length.name,
                    valuelen: length.value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)
                )
            }
            native.withUnsafeBufferPointer { use($0.baseAddress, $0.count) }
        }
    }
}
