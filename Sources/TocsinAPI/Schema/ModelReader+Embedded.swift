import GraphQL
import TocsinCore

/// A type without `@model`: its objects are kept inside the records whose fields have it.
package struct EmbeddedType: Sendable {
    /// The type's name.
    package var name: String
    /// The text above it in the file; nil: none.
    package var description: String?
    /// Its fields, none of which is a relation.
    package var fields: [ModelDeclaration.Field]
    /// Where it stands in the file, from 1.
    package var line: Int

    /// The name of its input type.
    package var inputName: String { name + "Input" }
}

extension ModelReader {
    mutating func embedded(_ type: ObjectTypeDefinition) -> EmbeddedType {
        for directive in type.directives {
            note(
                directive.location,
                "@\(directive.name) stands on \(type.name), which has no @model; add it, or leave it out."
            )
        }
        for interface in type.interfaces {
            note(type.location, "Type \(type.name) implements \(interface), which is not supported; leave it out.")
        }
        var names: Set<String> = []
        let fields = type.fields.map { definition in
            var field = field(definition)
            for directive in definition.directives {
                guard directive.name != "listSize" else {
                    field.assumedSize = assumedSize(directive, of: field)
                    continue
                }
                note(
                    directive.location,
                    "@\(directive.name) on \(field.name) needs a type with @model; objects of \(type.name) are kept inside "
                        + "records."
                )
            }
            if !definition.arguments.isEmpty {
                note(definition.location, "\(field.name) of \(type.name) has arguments, which it cannot have.")
            }
            if modelNames.contains(field.namedType) {
                note(
                    field.line,
                    "\(field.name) leads from \(type.name) to the model \(field.namedType); keep its id, or relate the model "
                        + "that has the field."
                )
            } else {
                check(field)
            }
            if !names.insert(field.name).inserted { note(field.line, "\(type.name) declares \(field.name) twice.") }
            return field
        }
        return EmbeddedType(
            name: type.name,
            description: type.description?.value,
            fields: fields,
            line: type.location.line
        )
    }

    /// Types that no model's records hold were meant to be models.
    mutating func checkUse(of types: [EmbeddedType], in models: [ModelDeclaration]) {
        var reached = Set(models.flatMap(\.fields).map(\.namedType))
        var news = reached
        while !news.isEmpty {
            let next = types.filter { news.contains($0.name) }.flatMap(\.fields).map(\.namedType)
            news = Set(next).subtracting(reached)
            reached.formUnion(news)
        }
        for type in types where !reached.contains(type.name) {
            note(
                type.line,
                "Type \(type.name) has no @model, and no model has a field of it; write @model @auth(rules: [{ allow: owner }])."
            )
        }
    }
}
