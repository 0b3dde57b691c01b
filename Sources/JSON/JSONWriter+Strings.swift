extension JSONWriter {
    /// Writes text in quotes, escaping only what RFC 8259 §7 asks for.
    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string(UnsafeRawBufferPointer($0)) }
    }

    private mutating func string(_ text: UnsafeRawBufferPointer) {
        byte(UInt8(ascii: "\""))
        var start = 0
        while let base = text.baseAddress, start < text.count {
            let (rest, count) = (base + start, text.count - start)
            start += append(upTo: count) { JSONMemory.copyPlain(rest, count, to: $0) }
            guard start < text.count else { break }
            append(upTo: JSONMemory.maximumEscapeLength) { JSONMemory.escape(text[start], to: $0) }
            start += 1
        }
        byte(UInt8(ascii: "\""))
    }
}
