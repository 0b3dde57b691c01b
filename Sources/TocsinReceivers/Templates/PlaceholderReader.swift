import JSON
import TocsinCore

/// Reads what stands between the braces of one placeholder.
///
///     placeholder = term *( "??" term ) *( "|" filter )
///     term        = quoted / pointer / [ "." ] path / "." pointer / "." / "$" name
///     filter      = name *( quoted / word / word "=" ( quoted / word ) )
struct PlaceholderReader {
    private let characters: ArraySlice<Character>
    private let dialect: TemplateDialect
    private let zones: ZoneLookup
    private var index: Int

    init(_ characters: ArraySlice<Character>, _ dialect: TemplateDialect, zones: @escaping ZoneLookup) {
        (self.characters, self.dialect, self.zones) = (characters, dialect, zones)
        index = characters.startIndex
    }

    private var source: String { "{\(String(characters))}" }
    private var next: Character? { index < characters.endIndex ? characters[index] : nil }
    private var isAtBorder: Bool {
        next == nil || next == "|" || (next == "?" && index + 1 < characters.endIndex && characters[index + 1] == "?")
    }

    mutating func placeholder() throws(TemplateProblem) -> TemplatePlaceholder {
        var terms = [try term()]
        var joints: [TemplatePlaceholder.Joint] = []
        var filters: [TemplateFilter] = []
        skipSpace()
        while next != nil {
            if skip("??") {
                guard filters.isEmpty else {
                    throw problem("has ?? behind a filter. Write what ?? joins first, or | default \"text\"")
                }
                joints.append(.ifEmpty)
                terms.append(try term())
            } else if skip("|") {
                skipSpace()
                if dialect.isBarAlternative, filters.isEmpty, !namesFilter {
                    joints.append(.ifNull)
                    terms.append(try term())
                } else {
                    filters.append(try filter())
                }
            } else {
                throw noPlaceholder()
            }
            skipSpace()
        }
        return TemplatePlaceholder(source: source, terms: terms, joints: joints, filters: filters)
    }

    // MARK: Terms

    private mutating func term() throws(TemplateProblem) -> TemplatePlaceholder.Term {
        skipSpace()
        switch next {
        case "\""?: return .literal(.string(try quoted()))
        case "/"?: return .place(TemplatePlace(root: .document, steps: try pointer()))
        case "$"?:
            index += 1
            return .place(TemplatePlace(root: .variable(try variable()), steps: []))
        case "."?:
            index += 1
            if next == "/" { return .place(TemplatePlace(root: .item, steps: try pointer())) }
            skipSpace()
            // The item itself; in routes every item has fields.
            if isAtBorder, dialect.hasChoices { return .place(TemplatePlace(root: .item, steps: [])) }
            return .place(TemplatePlace(root: .item, steps: try path().map(TemplatePlace.Step.init)))
        default: return .place(try named(try path()))
        }
    }

    private mutating func variable() throws(TemplateProblem) -> String {
        let name = word()
        if let known = dialect.variables, !known.contains(name) {
            throw problem("names no variable. Write {$\(known.joined(separator: "} or {$"))}")
        }
        return name
    }

    /// Names between dots.
    private mutating func path() throws(TemplateProblem) -> [String] {
        var path = [word()]
        while skip(".") { path.append(word()) }
        guard path.allSatisfy({ !$0.isEmpty }) else { throw noPlaceholder() }
        return path
    }

    private func named(_ path: [String]) throws(TemplateProblem) -> TemplatePlace {
        let steps = path.map(TemplatePlace.Step.init)
        if dialect.hasBody, path[0] == "body" {
            guard path.count == 1 else {
                throw problem("goes into the request's text. For a member of this name write {/body/…}")
            }
            return TemplatePlace(root: .body, steps: [])
        }
        guard let names = dialect.groups[path[0]] else { return TemplatePlace(root: .document, steps: steps) }
        guard path.count > 1 else {
            throw problem(
                "needs a name behind it, like {\(path[0]).name}. For a member of this name write {/\(path[0])}"
            )
        }
        var name = path[1]
        switch names {
        case .any: break
        case .anyCase: name = name.lowercased()
        case .positions:
            guard let position = Int(name), position > 0 else {
                throw problem("counts the path's segments behind the key from 1. Write {\(path[0]).1}")
            }
        case .only(let known):
            guard path.count == 2, known.contains(name) else {
                let known = known.map { "{\(path[0]).\($0)}" }.joined(separator: " or ")
                throw problem("is not known of \(path[0])s. Write \(known)")
            }
        }
        return TemplatePlace(root: .group(path[0], name: name), steps: Array(steps.dropFirst(2)))
    }

    /// RFC 6901, up to a bar, `??` or the end.
    private mutating func pointer() throws(TemplateProblem) -> [TemplatePlace.Step] {
        var text = ""
        while !isAtBorder, let character = next {
            text.append(character)
            index += 1
        }
        while text.last == " " { text.removeLast() }
        var steps: [TemplatePlace.Step] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let isEscaped = part.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
                .allSatisfy { $0.first == "0" || $0.first == "1" }
            guard isEscaped else { throw problem("has a ~ that means nothing. Write ~0 for ~, and ~1 for /") }
            steps.append(
                TemplatePlace.Step(String(part.replacing("~1", with: "/").replacing("~0", with: "~")))
            )
        }
        return steps
    }

    // MARK: Filters

    /// Whether the word that follows is a filter's name and no path.
    private var namesFilter: Bool {
        var ahead = self
        let name = ahead.word()
        return TemplateFilter.names.contains(name) && ahead.next != "."
    }

    private mutating func filter() throws(TemplateProblem) -> TemplateFilter {
        let name = word()
        var arguments: [FilterArgument] = []
        skipSpace()
        while !isAtBorder {
            arguments.append(try argument())
            skipSpace()
        }
        do throws(TemplateProblem) {
            return try TemplateFilter(name, arguments, zones: zones)
        } catch {
            throw TemplateProblem("\(source): \(error.text)")
        }
    }

    private mutating func argument() throws(TemplateProblem) -> FilterArgument {
        let first = try argumentText()
        guard skip("=") else { return FilterArgument(key: nil, text: first) }
        return FilterArgument(key: first, text: try argumentText())
    }

    private mutating func argumentText() throws(TemplateProblem) -> String {
        if next == "\"" { return try quoted() }
        var text = ""
        while let character = next, character != " ", character != "|", character != "=", character != "\"" {
            text.append(character)
            index += 1
        }
        guard !text.isEmpty else { throw noPlaceholder() }
        return text
    }

    // MARK: Pieces

    private mutating func quoted() throws(TemplateProblem) -> String {
        var text = ""
        index += 1
        while let character = next, character != "\"" {
            index += 1
            guard character == "\\" else {
                text.append(character)
                continue
            }
            switch next {
            case "n"?: text.append("\n")
            case "t"?: text.append("\t")
            case "\""?, "\\"?: text.append(next ?? "\\")
            default:
                throw problem("has a \\ that means nothing. Write \\\" for a quote, \\\\ for \\, \\n for a new line")
            }
            index += 1
        }
        guard skip("\"") else { throw problem("has a quote without its other half") }
        return text
    }

    /// Letters, digits, `_`, `-` and `@`; empty where none follows.
    private mutating func word() -> String {
        let start = index
        while let character = next, character.isLetter || character.isNumber || "_-@".contains(character) { index += 1 }
        return String(characters[start..<index])
    }

    private mutating func skipSpace() {
        while next == " " { index += 1 }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard characters[index...].starts(with: text) else { return false }
        index += text.count
        return true
    }

    private func noPlaceholder() -> TemplateProblem {
        problem("is no placeholder at character \(index - characters.startIndex + 2). Write \(dialect.advice)")
    }

    private func problem(_ text: String) -> TemplateProblem { TemplateProblem("\(source) \(text)") }
}

/// What stands behind a filter's name.
struct FilterArgument: Sendable {
    /// What stands before `=`.
    let key: String?
    let text: String
}
