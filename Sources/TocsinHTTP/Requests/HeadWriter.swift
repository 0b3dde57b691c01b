import JSON

/// Writes the parts of a response one after the other into memory that has room for all of them.
struct HeadWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    mutating func bytes(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    mutating func text(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func number(_ number: Int) {
        withUnsafeTemporaryAllocation(byteCount: JSONMemory.maximumIntLength, alignment: 1) { digits in
            guard let start = digits.baseAddress else { return }
            append(UnsafeRawBufferPointer(start: start, count: JSONMemory.int(Int64(number), to: start)))
        }
    }

    mutating func field(_ name: String, _ value: String) {
        string(name)
        text(": ")
        string(value)
        text("\r\n")
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let start = memory.baseAddress else { return }
        precondition(memory.count - count >= bytes.count, "The memory for a response must have room for all its parts.")
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }
}
