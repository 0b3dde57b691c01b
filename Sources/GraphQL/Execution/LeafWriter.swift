public import JSON

/// Takes the value of one leaf from its resolver, and writes it straight into the
/// response where it fits its type.
///
/// A resolver calls one of its functions once; what it writes after that is ignored.
public struct LeafWriter: ~Copyable {
    var buffer: ResponseBuffer
    private(set) var outcome = Outcome.nothing
    private var form = DirectForm.none
    private(set) var pending = JSONValue.null
    private(set) var failure: GraphQLError?

    /// What the resolver has done.
    ///
    /// Without payloads, so that the usual outcome is one byte.
    enum Outcome {
        case nothing
        case written
        case null
        /// It gave a value the executor must complete, because it is a list or
        /// needs a check: `pending`.
        case pending
        /// It gave an error: `failure`.
        case failed
    }

    init(_ buffer: consuming ResponseBuffer) {
        self.buffer = buffer
    }

    /// What may be written without being looked at again.
    enum DirectForm {
        case none
        case text
        case int
        case number
        case bool
        case anything

        init(_ kind: LeafKind) {
            switch kind {
            case .builtIn(.string), .builtIn(.id): self = .text
            case .builtIn(.int): self = .int
            case .builtIn(.float): self = .number
            case .builtIn(.boolean): self = .bool
            case .custom: self = .anything
            case .enumeration: self = .none
            }
        }
    }

    /// Makes ready for the value of a field.
    @inline(__always)
    mutating func begin(_ form: DirectForm) {
        outcome = .nothing
        self.form = form
    }

    /// Nothing.
    public mutating func null() {
        if outcome == .nothing { outcome = .null }
    }

    /// Text, or `null` for `nil`.
    public mutating func string(_ text: String?) {
        guard outcome == .nothing else { return }
        guard let text else { return null() }
        guard form == .text || form == .anything else { return json(.string(text)) }
        buffer.string(text)
        outcome = .written
    }

    /// A whole number, or `null` for `nil`.
    public mutating func int(_ number: Int64?) {
        guard outcome == .nothing else { return }
        guard let number else { return null() }
        guard takes(number) else { return json(.int(number)) }
        buffer.int(number)
        outcome = .written
    }

    /// A whole number, or `null` for `nil`.
    public mutating func int(_ number: Int?) {
        int(number.map(Int64.init))
    }

    /// A number, or `null` for `nil`.
    public mutating func double(_ number: Double?) {
        guard outcome == .nothing else { return }
        guard let number else { return null() }
        guard form == .number || form == .anything, number.isFinite else { return json(.double(number)) }
        buffer.double(number)
        outcome = .written
    }

    /// A truth value, or `null` for `nil`.
    public mutating func bool(_ flag: Bool?) {
        guard outcome == .nothing else { return }
        guard let flag else { return null() }
        guard form == .bool || form == .anything else { return json(.bool(flag)) }
        buffer.raw(flag ? "true" : "false")
        outcome = .written
    }

    /// Any value: a scalar's own JSON, or lists of leaves.
    public mutating func json(_ value: JSONValue?) {
        guard outcome == .nothing else { return }
        guard let value, !value.isNull else { return null() }
        pending = value
        outcome = .pending
    }

    /// An error in the value's place; the engine adds locations and path.
    public mutating func fail(_ message: String, extensions: JSONObject = [:]) {
        fail(GraphQLError(message, extensions: extensions))
    }

    /// An error in the value's place; the engine adds locations and path.
    public mutating func fail(_ error: GraphQLError) {
        guard outcome == .nothing else { return }
        failure = error
        outcome = .failed
    }

    private func takes(_ number: Int64) -> Bool {
        switch form {
        case .int: Int32(exactly: number) != nil
        case .number, .anything: true
        case .none, .text, .bool: false
        }
    }
}

/// The bytes of a response being written: memory lent by the array that will hold them, or memory
/// of its own once they have outgrown it.
///
/// Noncopyable, so that writing needs no look at who else holds it.
struct ResponseBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var end: UnsafeMutableRawPointer
    private var cursor: UnsafeMutableRawPointer
    private var isOwned = false
    private let limit: Int
    /// Whether more was written than the limit allows: then what is here is worthless.
    private(set) var isOverflown = false

    /// How many bytes are kept free behind the cursor, so that short things
    /// are written without asking.
    static let slack = 32

    /// A buffer over memory that must outlive its use and is longer than the slack.
    ///
    /// It grows to about `limit` bytes; what is written beyond is lost.
    init(lending memory: UnsafeMutableRawBufferPointer, limit: Int) {
        guard let base = memory.baseAddress, memory.count > Self.slack else {
            preconditionFailure("A response buffer begins with more memory than its slack of \(Self.slack) bytes.")
        }
        self.limit = limit
        start = base
        cursor = base
        end = base + memory.count
    }

    deinit { if isOwned { start.deallocate() } }

    /// How many bytes have been written.
    var count: Int { cursor - start }

    /// What has been written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Whether what was written has outgrown the memory that was lent.
    var hasMoved: Bool { isOwned }

    /// Makes room for bytes and the slack behind them.
    @inline(__always)
    mutating func reserve(_ bytes: Int) {
        if end - cursor < bytes &+ Self.slack { grow(bytes) }
    }

    @inline(never)
    private mutating func grow(_ bytes: Int) {
        if count + bytes > limit {
            isOverflown = true
            cursor = start
            if end - cursor >= bytes &+ Self.slack { return }
        }
        let count = count
        let capacity = max((end - start) * 2, count + bytes + Self.slack)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        memory.copyMemory(from: start, byteCount: count)
        if isOwned { start.deallocate() }
        start = memory
        cursor = memory + count
        end = memory + capacity
        isOwned = true
    }

    /// Writes one byte.
    @inline(__always)
    mutating func byte(_ byte: UInt8) {
        reserve(1)
        cursor.storeBytes(of: byte, as: UInt8.self)
        cursor += 1
    }

    /// Writes bytes.
    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        cursor.copyMemory(from: base, byteCount: bytes.count)
        cursor += bytes.count
    }

    /// Writes bytes whose memory can be read in steps of sixteen.
    @inline(__always)
    mutating func padded(_ bytes: UnsafeRawPointer, _ count: Int) {
        reserve(count)
        var offset = 0
        repeat {
            let (low, high) = (
                bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
            )
            cursor.storeBytes(of: low, toByteOffset: offset, as: UInt64.self)
            cursor.storeBytes(of: high, toByteOffset: offset &+ 8, as: UInt64.self)
            offset &+= 16
        } while offset < count
        cursor += count
    }

    /// Writes text known when this was compiled.
    mutating func raw(_ text: StaticString) {
        raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes text in quotes, escaped.
    @inline(__always)
    mutating func string(_ text: String) {
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { string(UnsafeRawBufferPointer($0)) }
        if isWritten == nil {
            var copy = text
            copy.withUTF8 { string(UnsafeRawBufferPointer($0)) }
        }
    }

    private mutating func string(_ text: UnsafeRawBufferPointer) {
        byte(UInt8(ascii: "\""))
        if let base = text.baseAddress {
            reserve(text.count)
            let plain = JSONMemory.copyPlain(base, text.count, to: cursor)
            cursor += plain
            if plain < text.count { escape(base + plain, text.count - plain) }
        }
        byte(UInt8(ascii: "\""))
    }

    @inline(never)
    private mutating func escape(_ text: UnsafeRawPointer, _ count: Int) {
        var position = 0
        while position < count {
            reserve(JSONMemory.maximumEscapeLength + count - position)
            cursor += JSONMemory.escape(text.load(fromByteOffset: position, as: UInt8.self), to: cursor)
            position += 1
            let plain = JSONMemory.copyPlain(text + position, count - position, to: cursor)
            cursor += plain
            position += plain
        }
    }

    /// Writes a whole number.
    @inline(__always)
    mutating func int(_ number: Int64) {
        reserve(JSONMemory.maximumIntLength)
        cursor += JSONMemory.int(number, to: cursor)
    }

    /// Writes a finite number with the fewest digits that read back as the same.
    mutating func double(_ number: Double) {
        var text = number.description
        text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
    }

    /// Forgets everything after the first `count` bytes.
    mutating func truncate(to count: Int) {
        if !isOverflown { cursor = start + count }
    }
}
