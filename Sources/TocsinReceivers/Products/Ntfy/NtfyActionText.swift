/// The short form of ntfy's actions: fields between commas, actions between semicolons, texts with
/// either in quotes.
struct NtfyActionText {
    /// A field, with its name where it has one: `clear=true`.
    struct Field {
        var name: String?
        var value: String
    }

    private var rest: ArraySlice<Unicode.Scalar>

    /// The fields of each action.
    static func actions(in text: String) throws(NtfyMessage.Refusal) -> [[Field]] {
        guard text.utf8.count <= 16_384 else { throw NtfyAction.refusal("the text is too long") }
        var reader = NtfyActionText(rest: Array(text.unicodeScalars)[...])
        var (actions, fields): ([[Field]], [Field]) = ([], [])
        while true {
            fields.append(try reader.field())
            let mark = reader.rest.popFirst()
            if mark != "," {
                if fields.count > 1 || !fields[0].value.isEmpty { actions.append(fields) }
                fields = []
            }
            if mark == nil { return actions }
        }
    }

    private mutating func field() throws(NtfyMessage.Refusal) -> Field {
        skipSpace()
        let name = readName()
        skipSpace()
        guard let quote = rest.first, quote == "\"" || quote == "'" else {
            let plain = rest.prefix { $0 != "," && $0 != ";" }
            rest = rest[plain.endIndex...]
            return Field(name: name, value: String(String.UnicodeScalarView(plain)).trimmed)
        }
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != quote {
            if scalar == "\\", let next = rest.first, next == quote || next == "\\" {
                value.append(next)
                rest.removeFirst()
            } else {
                value.append(scalar)
            }
        }
        skipSpace()
        guard rest.first == nil || rest.first == "," || rest.first == ";" else {
            throw NtfyAction.refusal("a comma or a semicolon must follow a text in quotes")
        }
        return Field(name: name, value: String(value))
    }

    /// `name =`, if that comes next.
    private mutating func readName() -> String? {
        let word = rest.prefix {
            $0 == "-" || $0 == "." || $0 == "_" || ($0.isASCII && $0.properties.isAlphabetic)
                || ("0"..."9").contains($0)
        }
        let after = rest[word.endIndex...].drop { $0 == " " }
        guard !word.isEmpty, after.first == "=" else { return nil }
        rest = after.dropFirst()
        return String(String.UnicodeScalarView(word))
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" }
    }
}
