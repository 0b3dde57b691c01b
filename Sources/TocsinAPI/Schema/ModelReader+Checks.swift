import GraphQL
import TocsinCore

/// What would otherwise be read past in silence: things said twice, values of the wrong kind,
/// names that cannot stand.
extension ModelReader {
    /// A directive stands once, but `@index`; so does an argument in it.
    mutating func checkRepeats(_ directives: [Directive], on name: String) {
        var seen: Set<String> = []
        for directive in directives {
            if !seen.insert(directive.name).inserted, directive.name != "index" {
                note(directive.location, "@\(directive.name) stands twice on \(name); keep one.")
            }
            var arguments: Set<String> = []
            for argument in directive.arguments where !arguments.insert(argument.name).inserted {
                note(directive.location, "@\(directive.name)(\(argument.name):) is given twice; keep one.")
            }
        }
    }

    /// A text that is not empty; anything else is a problem, never a default.
    mutating func word(_ value: Value, of name: String, at location: SourceLocation) -> String? {
        if let text = value.text, !text.isEmpty { return text }
        note(location, "\(name) must be a text; write \(name): \"…\".")
        return nil
    }

    /// Texts that are not empty, one of them at least.
    mutating func words(_ value: Value, of name: String, at location: SourceLocation) -> [String] {
        let values = value.listValue ?? [value]
        let words = value.texts
        if words.isEmpty || words.count != values.count || words.contains("") {
            note(location, "\(name) must be a list of texts; write \(name): [\"…\"], or leave it out.")
        }
        return words
    }

    /// Whether GraphQL can have it (GraphQL §2.1.9), and clients may.
    static func isName(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        guard let first = text.utf8.first, isLetter(first), !text.hasPrefix("__") else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Names of declared types meet neither each other, nor GraphQL's, nor those
    /// that are made of models.
    mutating func checkTypeNames(_ declared: [(name: String, location: SourceLocation)]) {
        var made = Set(embeddedNames.map { "\($0)Input" })
        for name in modelNames.map(\.capitalizedFirst) {
            made.formUnion(["Model\(name)Connection", "Create\(name)Input", "Update\(name)Input", "Delete\(name)Input"])
        }
        var seen: Set<String> = []
        for (name, location) in declared {
            if !Self.isName(name) {
                note(location, "The name \(name) begins with two underscores, which are GraphQL's own; choose another.")
            } else if made.contains(name) {
                note(location, "The name \(name) is that of a type made for another one; choose another.")
            } else if !seen.insert(name).inserted, !modelNames.contains(name) {
                note(location, "\(name) is declared twice; keep one.")
            }
        }
    }

    /// Enums have values and nothing else.
    mutating func checkDirectives(of type: EnumTypeDefinition) {
        for directive in type.directives {
            note(directive.location, "@\(directive.name) means nothing on the enum \(type.name); leave it out.")
        }
    }

    /// The server writes these fields as times, under the names that they were given.
    mutating func checkTimestamps(of model: ModelDeclaration) {
        let names = model.operations.timestamps
        if Set(names).count < names.count {
            note(model.line, "@model(timestamps:) of \(model.name) calls both times \(names[0]); name each apart.")
        }
        for name in names {
            guard let field = model.field(name) else {
                if !Self.isName(name) || name.hasPrefix("_") || name == "id" || model.implicitOwners.contains(name) {
                    note(model.line, "@model(timestamps:) of \(model.name) cannot call a time \(name); rename it.")
                }
                continue
            }
            guard !["AWSDateTime", "String"].contains(field.namedType) || field.isList else { continue }
            note(field.line, "\(name) of \(model.name) is written by the server as a time: make it AWSDateTime.")
        }
    }

    /// Who may not read a field must not find records by it either, nor see them in its order.
    mutating func checkSecrets(of model: ModelDeclaration) {
        for name in Set(model.indexes.map(\.partitionField)).sorted() {
            guard let field = model.field(name), field.rules != nil else { continue }
            note(field.line, "@index on \(name) needs a single value that has no @auth of its own.")
        }
        for index in model.indexes {
            for name in index.sortFields {
                guard let field = model.field(name), field.rules != nil else { continue }
                note(
                    field.line,
                    "\(model.name).\(name) has an @auth of its own, but the order of @index \(index.name) would tell what is "
                        + "in it: take \(name) out of its sortKeyFields, or the @auth off the field."
                )
            }
        }
        for name in model.keyFields {
            guard let field = model.field(name), field.rules != nil else { continue }
            note(
                field.line,
                "\(model.name).\(name) has an @auth of its own, but names the record, which tells what is in it: take it out of "
                    + "the key, or the @auth off the field."
            )
        }
    }

    /// An object that must hold one of its own type never ends.
    mutating func checkEndlessness(of types: [EmbeddedType]) {
        let needs = Dictionary(
            types.map { type in
                (type.name, type.fields.filter { $0.isEmbedded && $0.isRequired && !$0.isList }.map(\.namedType))
            },
            uniquingKeysWith: { first, _ in first }
        )
        for type in types {
            var reached: Set<String> = []
            var open = needs[type.name] ?? []
            while let next = open.popLast() {
                if reached.insert(next).inserted { open += needs[next] ?? [] }
            }
            guard reached.contains(type.name) else { continue }
            note(type.line, "Every \(type.name) would need another one inside it; make that field nullable or a list.")
        }
    }
}
