/// Appends JSON to a growing buffer.
///
/// It writes no separators of its own, except inside `value`.
public struct JSONWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer with room for `capacity` bytes.
    public init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// How many bytes have been written.
    public var count: Int { bytes.count }

    /// Writes a whole value, compact, members in order.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): int(number)
        case .double(let number): double(number)
        case .string(let text): string(text)
        case .array(let values): array(values)
        case .object(let object): self.object(object)
        }
    }

    /// Writes a number.
    public mutating func int(_ number: Int64) {
        append(upTo: JSONMemory.maximumIntLength) { JSONMemory.int(number, to: $0) }
    }

    /// Writes a number with the fewest digits that read back as the same; JSON knows no
    /// infinities, they become null.
    public mutating func double(_ number: Double) {
        guard number.isFinite else { return null() }
        var text = number.description
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ flag: Bool) { flag ? raw("true") : raw("false") }

    /// Writes `null`.
    public mutating func null() { raw("null") }

    /// Writes text that is JSON already.
    public mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes bytes that are JSON already.
    public mutating func raw(bytes other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    /// Writes bytes that are JSON already.
    ///
    /// Beside the generic one, because other modules call that one unspecialised, byte by byte.
    public mutating func raw(bytes other: [UInt8]) { bytes.append(contentsOf: other) }

    /// Writes one byte that is JSON already.
    public mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    /// Forgets everything after the first `count` bytes.
    public mutating func truncate(to count: Int) { bytes.removeLast(max(0, bytes.count - count)) }

    /// Lets a function write into memory for so many bytes; it returns how many it has written.
    @discardableResult
    mutating func append(upTo capacity: Int, _ write: (UnsafeMutableRawPointer) -> Int) -> Int {
        var written = 0
        bytes.append(addingCapacity: capacity) { span in
            span.withUnsafeMutableBufferPointer { memory, count in
                guard let base = memory.baseAddress else { return }
                written = write(UnsafeMutableRawPointer(base + count))
                count += written
            }
        }
        return written
    }

    private mutating func array(_ values: [JSONValue]) {
        byte(UInt8(ascii: "["))
        var isFirst = true
        for value in values {
            if !isFirst { byte(UInt8(ascii: ",")) }
            isFirst = false
            self.value(value)
        }
        byte(UInt8(ascii: "]"))
    }

    private mutating func object(_ object: JSONObject) {
        byte(UInt8(ascii: "{"))
        var isFirst = true
        for member in object {
            if !isFirst { byte(UInt8(ascii: ",")) }
            isFirst = false
            string(member.key)
            byte(UInt8(ascii: ":"))
            value(member.value)
        }
        byte(UInt8(ascii: "}"))
    }
}

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
