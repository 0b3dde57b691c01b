import GraphQL
import JSON
import TocsinCore
import TocsinReceivers

/// How one variable of a route's document gets its value.
struct RouteVariable: Sendable {
    let name: String
    let type: TypeReference
    /// Whether the document works without it.
    let isOptional: Bool
    /// The names it has in bodies and queries, the first one told when it is missing.
    let names: [String]
    /// What it is when the client names nothing.
    let fallback: JSONValue?
    /// What clients write, and what it means; other words are passed on as they are.
    let words: WordTable<JSONValue>
    /// In place of the client's word: a value of the route's own.
    let value: Template?
    /// How the client's word becomes what the document takes.
    let search: RouteSearch?
    /// Which of two kinds of values it takes, the other counting as absent; nil: both.
    let only: Kind?

    /// What a member may hold that is a number for some and a word for others.
    enum Kind: String, Sendable {
        /// Numbers, also written as texts.
        case numbers
        /// Texts that are no whole number.
        case words
    }

    /// The value that a request gives; nil when it gives none and none is needed.
    func value(in given: RouteInput, caller: Identity, run: Route.Run) async throws(RouteFault) -> JSONValue? {
        var found: (name: String, value: JSONValue)?
        for name in names {
            guard let raw = given.members[name], !raw.isNull, takes(raw) else { continue }
            // One that says the same again needs no second search.
            if let found, given.members[found.name] == raw { continue }
            let value = try await value(of: raw, called: name, isText: given.isText, caller: caller, run: run)
            if let found, found.value != value {
                throw .badInput("\"\(found.name)\" and \"\(name)\" disagree. Send one of them.")
            }
            found = found ?? (name, value)
        }
        if found == nil, fallback == nil, !isOptional { throw .badInput(missing) }
        return found?.value ?? fallback
    }

    private func takes(_ value: JSONValue) -> Bool {
        guard let only, case .string(let text) = value else { return only != .words || value.intValue == nil }
        return (Int64(text) != nil) == (only == .numbers)
    }

    private func value(
        of raw: JSONValue,
        called name: String,
        isText: Bool,
        caller: Identity,
        run: Route.Run
    ) async throws(RouteFault) -> JSONValue {
        // A word may mean what is no text, such as true.
        if let word = raw.stringValue ?? raw.intValue.map(String.init), let meant = words[word] {
            return meant
        }
        let value = try converted(raw, of: name, isText: isText)
        guard case .string(let word) = value, let search else { return value }
        return try await search.result(for: word, called: name, caller: caller, run: run) ?? value
    }

    private var missing: String {
        let others = names.dropFirst().map { "\"\($0)\"" }.joined(separator: ", ")
        return "\"\(names.first ?? name)\" is missing. Send it\(others.isEmpty ? "" : ", or one of \(others)")."
    }

    private func converted(_ value: JSONValue, of name: String, isText: Bool) throws(RouteFault) -> JSONValue {
        guard !type.isList else { return value }
        let expected: String
        switch (type.namedType, value) {
        case ("Boolean", .bool), ("Float", .int), ("Float", .double), ("String", .string), ("ID", .string):
            return value
        case ("ID", .int(let number)): return .string(String(number))
        case ("Int", _):
            let number =
                isText || only == .numbers && value.stringValue != nil
                ? value.stringValue.flatMap { Int64($0) } : value.intValue
            // A number that is written in another way, such as +2 or 02, may have been meant as a
            // word.
            let isPlain = isText || value.stringValue == nil || number.map(String.init) == value.stringValue
            if let number, Int32(exactly: number) != nil, isPlain { return .int(number) }
            expected = "a whole number of 32 bits" + (isPlain ? "" : ", without + and leading zeros")
        case ("Boolean", .string(let text)) where isText && (text == "true" || text == "false"):
            return .bool(text == "true")
        case ("Float", .string(let text)) where isText && Double(text)?.isFinite == true:
            return .double(Double(text) ?? 0)
        case ("AWSJSON", .object), ("AWSJSON", .array): return .string(value.serializedString())
        case ("Boolean", _): expected = "true or false"
        case ("Float", _): expected = "a number"
        case ("String", _), ("ID", _): expected = "a text"
        // Other scalars, enums and inputs are for the schema to judge.
        default: return value
        }
        throw .badInput("\"\(name)\" must be \(expected).")
    }
}
