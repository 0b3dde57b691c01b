package import TocsinCore

/// The zone of this name; nil: nobody knows it.
package typealias ZoneLookup = @Sendable (_ name: String) -> ZoneRules?

/// Takes a text with placeholders apart.
///
///     text        = *( words / "{{" / "}}" / "{" placeholder "}" )
struct TemplateTextReader {
    private let text: String
    private let characters: [Character]
    private let dialect: TemplateDialect
    private let zones: ZoneLookup
    private var index = 0

    init(_ text: String, _ dialect: TemplateDialect, zones: @escaping ZoneLookup) {
        (self.text, characters, self.dialect, self.zones) = (text, Array(text), dialect, zones)
    }

    /// Words and placeholders in their order, no two words beside each other.
    mutating func parts() throws(TemplateProblem) -> [Template.Part] {
        var parts: [Template.Part] = []
        var words = ""
        while index < characters.count {
            let character = characters[index]
            guard character == "{" || character == "}" else {
                words.append(character)
                index += 1
                continue
            }
            if index + 1 < characters.count, characters[index + 1] == character {
                words.append(character)
                index += 2
                continue
            }
            guard character == "{" else { throw unbalanced() }
            if !words.isEmpty { parts.append(.words(words)) }
            words = ""
            parts.append(.placeholder(try placeholder()))
        }
        if !words.isEmpty { parts.append(.words(words)) }
        return parts
    }

    private mutating func placeholder() throws(TemplateProblem) -> TemplatePlaceholder {
        let start = index + 1
        var isQuoted = false
        index = start
        while index < characters.count, isQuoted || characters[index] != "}" {
            if !isQuoted, characters[index] == "{" { throw unbalanced() }
            if isQuoted, characters[index] == "\\" {
                index += 1
            } else if characters[index] == "\"" {
                isQuoted.toggle()
            }
            index += 1
        }
        guard index < characters.count else {
            throw isQuoted
                ? TemplateProblem("\"\(text)\" has a quote without its other half. Write texts as {a ?? \"text\"}")
                : unbalanced()
        }
        var reader = PlaceholderReader(characters[start..<index], dialect, zones: zones)
        index += 1
        return try reader.placeholder()
    }

    private func unbalanced() -> TemplateProblem {
        TemplateProblem(
            "\"\(text)\" has a brace without its other half at character \(min(index, characters.count - 1) + 1). Write "
                + "placeholders as {field.field}, and braces as {{ and }}"
        )
    }
}
