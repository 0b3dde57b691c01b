import JSON
import TocsinCore

/// Where a value of an answer, or of a variable, comes from: what stands between
/// braces in a route's texts.
indirect enum RoutePlaceholder: Sendable, Hashable {
    /// `{createTopic.id}`: of the document's data.
    case data([String])
    /// `{.id}`: of the list's item at hand.
    case item([String])
    /// `{$token}`: a variable's value.
    case variable(String)
    /// `{caller.userId}`, `{caller.username}`.
    case caller(CallerField)
    /// `{a.b|a.c}`: the first that is not null.
    case first(RoutePlaceholder, RoutePlaceholder)

    enum CallerField: String, Sendable, CaseIterable {
        case userId
        case username
    }

    /// Reads what stands between the braces.
    init(_ text: some StringProtocol) throws(RouteProblem) {
        if let bar = text.firstIndex(of: "|") {
            self = .first(try Self(text[..<bar]), try Self(text[text.index(after: bar)...]))
            return
        }
        if text.first == "$" {
            self = .variable(String(text.dropFirst()))
            return
        }
        let isOfItem = text.first == "."
        let path = String(text).dropFirst(isOfItem ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
        guard path.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } }) else {
            throw RouteProblem(
                "{\(text)} is no placeholder. Write {field.field} of the data, {.field} of a list's item, {$variable}, or "
                    + "{caller.userId}"
            )
        }
        guard path[0] == "caller", !isOfItem else {
            self = isOfItem ? .item(path) : .data(path)
            return
        }
        guard path.count == 2, let field = CallerField(rawValue: path[1]) else {
            let known = CallerField.allCases.map { "{caller.\($0.rawValue)}" }.joined(separator: " or ")
            throw RouteProblem("{\(text)} is not known of callers. Write \(known)")
        }
        self = .caller(field)
    }
}

/// What placeholders are looked up in while one request is answered.
struct RouteScope {
    var data: JSONValue = .null
    var item: JSONValue = .null
    var variables: JSONObject = [:]
    let caller: Identity

    subscript(_ placeholder: RoutePlaceholder) -> JSONValue {
        switch placeholder {
        case .data(let path): Self.value(at: path, in: data)
        case .item(let path): Self.value(at: path, in: item)
        case .variable(let name): variables[name] ?? .null
        case .caller(.userId): .string(caller.userID.text)
        case .caller(.username): .string(caller.username)
        case .first(let wanted, let other): self[wanted].isNull ? self[other] : self[wanted]
        }
    }

    private static func value(at path: [String], in value: JSONValue) -> JSONValue {
        path.reduce(value) { ($0[$1] ?? .null) }
    }
}
