import GraphQL
import TocsinCore

/// The arguments of `@model`: names of root fields, null for what is not wanted,
/// defaults for what is not named.
extension ModelReader {
    mutating func operationNames(_ directive: Directive, of model: String, plural: String) -> OperationNames {
        var names = OperationNames(model: model, plural: plural)
        if ["Topic", "Message"].contains(model), let argument = directive.arguments.first {
            note(
                directive.location,
                "@model(\(argument.name):) on \(model) would take away what Tocsin rests on; write @model alone, and say "
                    + "in @auth(rules: [{ operations: […] }]) who may do what."
            )
            return names
        }
        for argument in directive.arguments {
            switch argument.name {
            case "queries":
                set(argument, ["get": \.get, "list": \.list, "sync": \.sync], in: &names, at: directive.location)
            case "mutations":
                set(
                    argument,
                    ["create": \.create, "update": \.update, "delete": \.delete],
                    in: &names,
                    at: directive.location
                )
            case "timestamps":
                set(
                    argument,
                    ["createdAt": \.createdAt, "updatedAt": \.updatedAt],
                    in: &names,
                    at: directive.location
                )
            case "subscriptions": setSubscriptions(argument, in: &names, at: directive.location)
            default:
                note(
                    directive.location,
                    "@model(\(argument.name):) is not supported; use queries, mutations, subscriptions, timestamps."
                )
            }
        }
        // What is never written is never told.
        if names.create == nil { names.onCreate = [] }
        if names.update == nil { names.onUpdate = [] }
        if names.delete == nil { names.onDelete = [] }
        return names
    }

    /// Sets the names that an argument gives; null for the whole switches all of them off.
    private mutating func set(
        _ argument: ArgumentNode,
        _ paths: [String: WritableKeyPath<OperationNames, String?>],
        in names: inout OperationNames,
        at location: SourceLocation
    ) {
        if argument.value.isNull {
            for path in paths.values { names[keyPath: path] = nil }
            return
        }
        guard let members = argument.value.objectValue else {
            let known = paths.keys.sorted().joined(separator: ", ")
            return note(location, "@model(\(argument.name):) is null or an object with \(known).")
        }
        for member in members {
            guard let path = paths[member.name], member.value.isNull || member.value.stringValue != nil else {
                let known = paths.keys.sorted().joined(separator: ", ")
                note(location, "@model(\(argument.name):) has names, or null, for \(known); not \(member.name).")
                continue
            }
            names[keyPath: path] = member.value.stringValue
        }
    }

    private mutating func setSubscriptions(
        _ argument: ArgumentNode,
        in names: inout OperationNames,
        at location: SourceLocation
    ) {
        let paths: [String: WritableKeyPath<OperationNames, [String]>] = [
            "onCreate": \.onCreate, "onUpdate": \.onUpdate, "onDelete": \.onDelete,
        ]
        var isOff = argument.value.isNull
        for member in argument.value.objectValue ?? [] {
            if member.name == "level" {
                switch member.value.text {
                case "on": continue
                case "off": isOff = true
                default:
                    note(
                        location,
                        "@model(subscriptions: { level: \(member.value.text ?? "null") }) is not supported: who may hear of "
                            + "records is what @auth says; write level: on or off."
                    )
                }
            } else if let path = paths[member.name] {
                names[keyPath: path] = member.value.isNull ? [] : member.value.texts
            } else {
                note(location, "@model(subscriptions:) has level, onCreate, onUpdate and onDelete; not \(member.name).")
            }
        }
        if isOff { for path in paths.values { names[keyPath: path] = [] } }
    }
}
