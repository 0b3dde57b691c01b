/// The ending `Did you mean "a", "b", or "c"?` of messages about unknown names,
/// as the reference words it.
struct Suggestions {
    /// Whether anything is suggested; names of the schema are not for everybody.
    let isOn: Bool
    /// How many names a message suggests.
    private static let maximumNames = 5

    /// Suggests names that could be a slip of the pen.
    func similar<Names: Sequence<String>>(
        to name: String,
        among names: @autoclosure () -> Names,
        as kind: String? = nil
    ) -> String {
        isOn ? ending(Self.similarNames(to: name, among: names()), kind) : ""
    }

    /// Suggests values of an enum type.
    func values(like text: String, of type: Schema.NamedType) -> String {
        similar(to: text, among: type.enumValues.map(\.name), as: "the enum value")
    }

    /// Suggests types that have a field their abstract type lacks.
    func types(with field: String, insteadOf type: Schema.NamedType, _ schema: Schema) -> String {
        isOn ? ending(Self.typeNames(with: field, insteadOf: type, schema), "to use an inline fragment on") : ""
    }

    private func ending(_ names: [String], _ kind: String?) -> String {
        let quoted = names.prefix(Self.maximumNames).map { "\"\($0)\"" }
        guard let last = quoted.last else { return "" }
        let others = quoted.dropLast().joined(separator: ", ")
        let list = quoted.count == 1 ? last : others + (quoted.count == 2 ? " or " : ", or ") + last
        return " Did you mean \(kind.map { $0 + " " } ?? "")\(list)?"
    }

    /// The names at most so many edits away as two fifths of the name's length, the nearest first.
    private static func similarNames(to name: String, among names: some Sequence<String>) -> [String] {
        let distance = LexicalDistance(from: name)
        var found: [String: Int] = [:]
        for candidate in names where found[candidate] == nil {
            found[candidate] = distance.measure(candidate)
        }
        return found.sorted { left, right in
            left.value == right.value ? precedesNaturally(left.key, right.key) : left.value < right.value
        }.map(\.key)
    }

    /// The possible types and their interfaces that have the field, those most types share first.
    private static func typeNames(
        with field: String,
        insteadOf type: Schema.NamedType,
        _ schema: Schema
    ) -> [String] {
        guard type.isAbstract else { return [] }
        var uses: [String: Int] = [:]
        for object in schema.possibleTypes(of: type) where object.field(named: field) != nil {
            uses[object.name] = 1
            for interface in object.interfaces where schema.type(named: interface)?.field(named: field) != nil {
                uses[interface, default: 0] += 1
            }
        }
        func implements(_ name: String, _ interface: String) -> Bool {
            schema.type(named: name)?.interfaces.contains(interface) ?? false
        }
        return uses.sorted { left, right in
            if left.value != right.value { return left.value > right.value }
            if implements(right.key, left.key) { return true }
            if implements(left.key, right.key) { return false }
            return precedesNaturally(left.key, right.key)
        }.map(\.key)
    }
}

/// Whether a name comes first where runs of digits count as numbers: `a2` before `a10`.
private func precedesNaturally(_ left: String, _ right: String) -> Bool {
    var (left, right) = (Substring(left).utf8, Substring(right).utf8)
    while let first = left.first, let second = right.first {
        if Lexer.isDigit(first), Lexer.isDigit(second) {
            let (one, other) = (number(&left), number(&right))
            if one.count != other.count { return one.count < other.count }
            if !one.elementsEqual(other) { return one.lexicographicallyPrecedes(other) }
        } else if first != second {
            return first < second
        } else {
            left.removeFirst()
            right.removeFirst()
        }
    }
    return left.count < right.count
}

/// Takes the digits a text begins with, without leading zeros.
private func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
    let digits = text.prefix(while: Lexer.isDigit)
    text = text.dropFirst(digits.count)
    return digits.drop { $0 == UInt8(ascii: "0") }
}

/// How many letters must be added, removed, exchanged or swapped with their neighbour to turn one
/// name into another.
///
/// A change of case alone counts as one.
private struct LexicalDistance {
    private let name: String
    private let lowercased: [Unicode.Scalar]
    private let threshold: Int

    init(from name: String) {
        self.name = name
        lowercased = Array(name.lowercased().unicodeScalars)
        threshold = name.unicodeScalars.count * 2 / 5 + 1
    }

    /// The distance, or `nil` where it is too long to be a slip.
    func measure(_ candidate: String) -> Int? {
        if candidate == name { return 0 }
        let other = Array(candidate.lowercased().unicodeScalars)
        if other == lowercased { return 1 }
        guard abs(other.count - lowercased.count) <= threshold else { return nil }
        // Three rows of the table of distances between all beginnings of both.
        var (before, above) = ([Int](), Array(0...lowercased.count))
        for row in other.indices {
            let current = nextRow(row, other, above, before)
            guard let nearest = current.min(), nearest <= threshold else { return nil }
            (before, above) = (above, current)
        }
        return above.last.flatMap { $0 <= threshold ? $0 : nil }
    }

    private func nextRow(_ row: Int, _ other: [Unicode.Scalar], _ above: [Int], _ before: [Int]) -> [Int] {
        var current = [row + 1]
        current.reserveCapacity(lowercased.count + 1)
        for column in lowercased.indices {
            let cost = other[row] == lowercased[column] ? 0 : 1
            var cell = min(above[column + 1] + 1, current[column] + 1, above[column] + cost)
            if row > 0, column > 0, other[row] == lowercased[column - 1], other[row - 1] == lowercased[column] {
                cell = min(cell, before[column - 1] + 1)
            }
            current.append(cell)
        }
        return current
    }
}
