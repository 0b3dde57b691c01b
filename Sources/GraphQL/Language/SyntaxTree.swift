import JSON

/// The document as JSON in the shape of graphql-js's tree: every node with its `kind` and its `loc`, whose `start` and
/// `end` count UTF-16 code units.
///
/// For tools that compare or show documents. An optional member that was not written is left out; a list is there even
/// when it is empty; numbers are text, as written.
public func syntaxTree(of source: [UInt8], limits: ParseLimits = .standard) throws(SyntaxError) -> [UInt8] {
    try Parser.checkEncoding(of: source, limits: limits)
    let outcome = source.withUnsafeBufferPointer { bytes in
        Result { () throws(SyntaxError) in try Parser.parseWithSpans(bytes, limits: limits) }
    }
    let (document, spans) = try outcome.get()
    var writer = TreeWriter(spans: spans, offsets: UTF16Offsets(source))
    writer.document(document)
    return writer.json.bytes
}

/// Where each byte of a text stands when UTF-16 code units are counted.
struct UTF16Offsets {
    /// By byte; empty when the text is ASCII and each byte is one unit.
    private var units: [UInt32] = []

    init(_ source: [UInt8]) {
        guard source.contains(where: { $0 >= 0x80 }) else { return }
        units.reserveCapacity(source.count + 1)
        var count: UInt32 = 0
        for byte in source {
            units.append(count)
            if byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
        }
        units.append(count)
    }

    subscript(byte: Int) -> Int64 {
        units.isEmpty ? Int64(byte) : Int64(units[min(byte, units.count - 1)])
    }
}
