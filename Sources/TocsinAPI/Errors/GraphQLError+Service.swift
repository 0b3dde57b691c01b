import GraphQL
import GraphQLTransport
import JSON
import TocsinCore

/// Where an error arises, for messages that name the field.
struct FieldPlace {
    var parentType: String
    var fieldName: String
}

extension GraphQLError {
    /// A public error with its code and AppSync's error type.
    init(_ code: ErrorCode, _ message: String, errorType: String? = nil, errorInfo: JSONValue = .null) {
        self.init(
            message,
            extensions: [
                "code": .string(code.rawValue), "errorType": .string(errorType ?? code.errorType),
                "errorInfo": errorInfo,
            ]
        )
    }

    /// The public form of a service's refusal (appsync.md 2.3).
    init(_ error: ServiceError, at place: FieldPlace, report: (String) -> String) {
        switch error {
        case .unauthorized:
            self.init(.unauthorized, "Not Authorized to access \(place.fieldName) on type \(place.parentType)")
        case .badInput(let text): self.init(.badUserInput, text)
        case .badRequest(let text, let kind):
            let errorType: String? =
                switch kind {
                case .filter: "Unrecognized Filter"
                case .arguments: "InvalidArgumentsError"
                case .other: nil
                }
            self.init(.badRequest, text, errorType: errorType)
        case .conflict(let stored):
            self.init(
                .conflict,
                "The conditional request failed: the id or key is taken by other content. Use another one.",
                errorInfo: stored.map { ["id": .string($0.id)] } ?? .null
            )
        case .conditionFailed:
            self.init(.conditionFailed, "The conditional request failed: the condition does not hold.")
        case .versionConflict(let stored, let expected):
            self.init(
                .versionConflict,
                "Conflict resolver rejects mutation.",
                errorInfo: ["expectedVersion": .int(expected), "actualVersion": .int(stored.version)]
            )
        case .badCursor(let text): self.init(.badCursor, text)
        case .badPageToken:
            self.init(
                .badRequest,
                "InvalidPaginationTokenException: Invalid pagination token given. A nextToken is good for the same field, "
                    + "arguments and user only; start again without it.",
                errorType: "DynamoDB:UserIllegalArgumentException"
            )
        case .limit(let text): self.init(.limit, text)
        case .unavailable(let reason):
            self.init(.unavailable, "The server cannot do this just now (\(reason)). Nothing was changed; try again.")
        case .internal(let text):
            self.init(.internal, "Something went wrong inside the server. Its log has it under \(report(text)).")
        }
    }
}
