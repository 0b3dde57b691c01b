public import JSON

/// Takes the value of one leaf from its resolver, and writes it straight into the response where it fits its type.
///
/// A resolver calls one of its functions once; what it writes after that is ignored.
public struct LeafWriter {
    var json: JSONWriter
    var outcome = Outcome.nothing
    private var form = DirectForm.none

    /// What the resolver has done.
    enum Outcome {
        case nothing
        case written
        case null
        /// A value the executor must complete, because it is a list or needs a check.
        case pending(JSONValue)
        case failed(GraphQLError)
    }

    init(capacity: Int) {
        json = JSONWriter(capacity: capacity)
    }

    /// What may be written without being looked at again.
    enum DirectForm {
        case none
        case text
        case int
        case number
        case anything

        init(_ kind: LeafKind) {
            switch kind {
            case .builtIn(.string), .builtIn(.id): self = .text
            case .builtIn(.int): self = .int
            case .builtIn(.float): self = .number
            case .custom: self = .anything
            case .builtIn(.boolean), .enumeration: self = .none
            }
        }
    }

    /// Makes ready for the value of a field.
    mutating func begin(_ form: DirectForm) {
        outcome = .nothing
        self.form = form
    }

    /// Nothing.
    public mutating func null() {
        if isOpen { outcome = .null }
    }

    /// Text, or `null` for `nil`.
    public mutating func string(_ text: String?) {
        guard isOpen else { return }
        guard let text else { return null() }
        guard form == .text || form == .anything else { return json(.string(text)) }
        json.string(text)
        outcome = .written
    }

    /// A whole number, or `null` for `nil`.
    public mutating func int(_ number: Int64?) {
        guard isOpen else { return }
        guard let number else { return null() }
        guard takes(number) else { return json(.int(number)) }
        json.int(number)
        outcome = .written
    }

    /// A whole number, or `null` for `nil`.
    public mutating func int(_ number: Int?) {
        int(number.map(Int64.init))
    }

    /// A number, or `null` for `nil`.
    public mutating func double(_ number: Double?) {
        guard let number else { return null() }
        json(.double(number))
    }

    /// A truth value, or `null` for `nil`.
    public mutating func bool(_ flag: Bool?) {
        guard let flag else { return null() }
        json(.bool(flag))
    }

    /// Any value: a scalar's own JSON, or lists of leaves.
    public mutating func json(_ value: JSONValue?) {
        guard isOpen else { return }
        outcome = value.map { $0.isNull ? .null : .pending($0) } ?? .null
    }

    /// An error in the value's place; the engine adds locations and path.
    public mutating func fail(_ message: String, extensions: JSONObject = [:]) {
        if isOpen { outcome = .failed(GraphQLError(message, extensions: extensions)) }
    }

    /// An error in the value's place; the engine adds locations and path.
    public mutating func fail(_ error: GraphQLError) {
        if isOpen { outcome = .failed(error) }
    }

    private var isOpen: Bool {
        if case .nothing = outcome { true } else { false }
    }

    private func takes(_ number: Int64) -> Bool {
        switch form {
        case .int: Int32(exactly: number) != nil
        case .number, .anything: true
        case .none, .text: false
        }
    }
}
