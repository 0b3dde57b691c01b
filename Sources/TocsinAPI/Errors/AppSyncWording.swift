import GraphQL

/// AppSync's words for requests that are refused before any resolver runs (`docs/appsync.md`).
///
/// Amplify's clients tell errors apart by these words.
enum AppSyncWording {
    /// The errors with AppSync's words beside the engine's.
    static func worded(_ errors: RequestErrors, query: String) -> RequestErrors {
        switch errors.kind {
        case .syntax, .operation, .size: return errors
        case .variables: return RequestErrors(kind: errors.kind, errors: errors.errors.map(variable))
        case .validation:
            let paths = DocumentPaths(query)
            return RequestErrors(kind: errors.kind, errors: errors.errors.map { validation($0, paths) })
        }
    }

    private static func validation(_ error: GraphQLError, _ paths: DocumentPaths) -> GraphQLError {
        // Limits and what only this server says keep their own words.
        guard let (kind, text) = validation(error.message) else { return error }
        let at = error.locations.first.flatMap(paths.path).map { " @ '\($0)'" } ?? ""
        var error = error
        error.appSyncMessage = "Validation error of type \(kind): \(text)\(at)"
        return error
    }

    private static func validation(_ message: String) -> (kind: String, text: String)? {
        if let words = EngineWords(message, "Cannot query field \"", "\" on type \"", "\"") {
            return ("FieldUndefined", "Field '\(words.values[0])' in type '\(words.values[1])' is undefined")
        }
        if let words = EngineWords(message, "Unknown argument \"", "\" on field \"", "\"") {
            return ("UnknownArgument", "Unknown field argument \(words.values[0])")
        }
        if let words = EngineWords(message, "Field \"", "\" argument \"", "\" of type \"", "\" is required") {
            return ("MissingFieldArgument", "Missing field argument \(words.values[1])")
        }
        if let words = EngineWords(message, "Field \"", "\" must not have a selection since type \"", "\"") {
            return (
                "SubSelectionNotAllowed",
                "Sub selection not allowed on leaf type \(words.values[1]) of field \(words.values[0])"
            )
        }
        if let words = EngineWords(message, "Field \"", "\" of type \"", "\" must have a selection") {
            return (
                "SubSelectionRequired", "Sub selection required for type \(words.values[1]) of field \(words.values[0])"
            )
        }
        if let words = EngineWords(message, "Field \"", ".", "\" of required type \"", "\" was not provided.") {
            let missing = "is missing required fields '[\(words.values[1])]'"
            return ("WrongType", "argument 'input' with value of type '\(words.values[0])' \(missing)")
        }
        if let words = EngineWords(message, "Field \"", "\" is not defined by type \"", "\"") {
            let unknown = "contains a field not in '\(words.values[1])': '\(words.values[0])'"
            return ("WrongType", "argument 'input' with value 'ObjectValue' \(unknown)")
        }
        return other(message)
    }

    private static func other(_ message: String) -> (kind: String, text: String)? {
        if let words = EngineWords(message, "Variable \"$", "\" is not defined") {
            return ("UndefinedVariable", "Undefined variable \(words.values[0])")
        }
        if let words = EngineWords(message, "Variable \"$", "\" is never used") {
            return ("UnusedVariable", "Unused variable \(words.values[0])")
        }
        if let words = EngineWords(
            message,
            "Variable \"$",
            "\" of type \"",
            "\" used in position expecting type \"",
            "\""
        ) {
            let types = "'\(words.values[1])' doesn't match expected type '\(words.values[2])'"
            return ("VariableTypeMismatch", "Variable type \(types)")
        }
        if let words = EngineWords(message, "Unknown type \"", "\"") {
            return ("UnknownType", "Unknown type \(words.values[0])")
        }
        if let words = EngineWords(message, "Unknown fragment \"", "\"") {
            return ("UndefinedFragment", "Undefined fragment \(words.values[0])")
        }
        if let words = EngineWords(message, "Fragment \"", "\" is never used.") {
            return ("UnusedFragment", "Unused fragment \(words.values[0])")
        }
        if let words = EngineWords(message, "Unknown directive \"@", "\"") {
            return ("UnknownDirective", "Unknown directive \(words.values[0])")
        }
        if message.hasPrefix("Fields \""), message.contains("conflict") { return ("FieldsConflict", message) }
        return isValue(message) ? ("WrongType", message) : nil
    }

    private static func isValue(_ message: String) -> Bool {
        ["cannot represent", "Expected value of type", "does not exist in", "must be non-null", "Expected "]
            .contains { message.contains($0) }
    }

    private static func variable(_ error: GraphQLError) -> GraphQLError {
        var error = error
        error.appSyncMessage = variable(error.message)
        return error
    }

    /// A null where none may be comes first: clients drop the record instead
    /// of trying again for ever.
    private static func variable(_ message: String) -> String {
        let null = "has coerced Null value for NonNull type"
        guard let subject = EngineWords(message, "Variable \"$", "\" got invalid value ") else {
            return undefined(message, null)
        }
        if let range = tail(message, "; Field \""),
            let words = EngineWords(range, "; Field \"", "\" of required type \"", "\" was not provided")
        {
            return "Variable '\(words.values[0])' \(null) '\(words.values[1])'"
        }
        if let range = tail(message, "; Expected non-nullable type \""),
            let words = EngineWords(range, "; Expected non-nullable type \"", "\" not to be null")
        {
            let name = tail(message, " at \"").flatMap { EngineWords($0, " at \"", "\"") }?.values[0]
            let field = name?.split(separator: ".").last.map(String.init)
            return "Variable '\(field ?? subject.values[0])' \(null) '\(words.values[0])'"
        }
        if let range = tail(message, "; Field \""),
            let words = EngineWords(range, "; Field \"", "\" is not defined by type \"", "\"")
        {
            return
                "The variables input contains a field that is not defined for input object type '\(words.values[1])' "
        }
        return "Variable '\(subject.values[0])' has an invalid value."
            + (tail(message, "; ").map { " " + $0.dropFirst(2) } ?? "")
    }

    /// A variable that is missing or null as a whole.
    private static func undefined(_ message: String, _ null: String) -> String {
        for (type, end) in [("of required type", "was not provided"), ("of non-null type", "must not be null")] {
            if let words = EngineWords(message, "Variable \"$", "\" \(type) \"", "\" \(end)") {
                return "Variable '\(words.values[0])' \(null) '\(words.values[1])'"
            }
        }
        return message
    }

    /// What begins with the last occurrence of a text: values of clients stand before it.
    private static func tail(_ whole: String, _ text: String) -> String? {
        let message = String(decoding: whole.utf8.suffix(EngineWords.maximumBytes), as: UTF8.self)
        var end = message.endIndex
        while end > message.startIndex {
            end = message.index(before: end)
            if message[end...].hasPrefix(text) { return String(message[end...]) }
        }
        return nil
    }
}
