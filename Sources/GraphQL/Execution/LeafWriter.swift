public import JSON

/// Takes the value of one leaf from its resolver, and writes it straight into the response where it fits its type.
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
        /// It gave a value the executor must complete, because it is a list or needs a check: `pending`.
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
