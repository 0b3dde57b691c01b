import GraphQL
import GraphQLTransport
import JSON
import TocsinCore

/// Where an error arises, for messages that name the field.
struct FieldCoordinate {
    var parentType: String
    var fieldName: String
}

extension GraphQLError {
    /// A public error with its code and AppSync's error type.
    ///
    /// - Parameters:
    ///   - data: the current item of a refused mutation, for who may read it.
    ///   - appSyncMessage: what AppSync's clients are told in place of the message.
    init(
        _ code: ErrorCode,
        _ message: String,
        errorType: String? = nil,
        errorInfo: JSONValue = .null,
        data: JSONValue = .null,
        appSyncMessage: String? = nil
    ) {
        self.init(
            message,
            extensions: [
                "code": .string(code.rawValue), "errorType": .string(errorType ?? code.errorType),
                "errorInfo": errorInfo,
            ]
        )
        if !data.isNull { extensions["data"] = data }
        self.appSyncMessage = appSyncMessage
    }

    /// The words for clients that speak `application/json`, where they differ.
    var appSyncMessage: String? {
        get { extensions[Self.wording]?.stringValue }
        set { extensions[Self.wording] = newValue.map(JSONValue.string) }
    }

    /// A member of `extensions` that is never sent.
    static let wording = "appSyncMessage"

    /// The public form of a service's refusal.
    ///
    /// - Parameter data: a record as the mutation selected it.
    init(
        _ error: ServiceError,
        at coordinate: FieldCoordinate,
        report: (String) -> String,
        data: (Record) -> JSONValue = { _ in .null }
    ) {
        switch error {
        case .unauthorized:
            self.init(
                .unauthorized,
                "Not Authorized to access \(coordinate.fieldName) on type \(coordinate.parentType)"
            )
        case .badInput(let text): self.init(.badUserInput, text)
        case .badRequest(let text, let kind): self.init(badRequest: text, kind)
        case .conflict(let stored):
            self.init(
                .conflict,
                "The conditional request failed: the id or key is taken by other content. Use another one.",
                errorInfo: stored.map { ["id": .string($0.id)] } ?? .null,
                data: stored.map(data) ?? .null,
                appSyncMessage: Self.conditionalRequestFailed
            )
        case .nameTaken(let name, let stored):
            self.init(nameTaken: name, by: stored, data: stored.map(data) ?? .null)
        case .conflicting(let text): self.init(.conflict, text)
        case .conditionFailed(let stored):
            self.init(
                .conditionFailed,
                "The conditional request failed: the condition does not hold.",
                data: stored.map(data) ?? .null,
                appSyncMessage: Self.conditionalRequestFailed
            )
        case .versionConflict(let stored, let expected, let actual):
            self.init(
                .versionConflict,
                "Conflict resolver rejects mutation.",
                errorInfo: ["expectedVersion": .int(expected), "actualVersion": .int(actual)],
                data: stored.map(data) ?? .null
            )
        case .badCursor(let text, let oldest): self.init(.badCursor, text, oldestCursor: oldest)
        case .cursorExpired(let text, let oldest): self.init(.cursorExpired, text, oldestCursor: oldest)
        case .badPageToken:
            self.init(
                .badRequest,
                "InvalidPaginationTokenException: Invalid pagination token given. A nextToken is good for the same field, "
                    + "arguments and user only; start again without it.",
                errorType: "DynamoDB:UserIllegalArgumentException"
            )
        case .limit(let text): self.init(.limit, text)
        case .proofRefused(let text): self.init(.proofRefused, text)
        case .unauthenticated(let text): self.init(.unauthenticated, text)
        case .reauthenticate:
            self.init(
                .reauthenticate,
                "Prove again who you are (POST /auth/elevate), then send this within 15 minutes."
            )
        case .tooManyTries(let text, _): self.init(.limit, text)
        case .uncertain(let reason): self.init(.unavailable, "The outcome is unknown: \(reason).")
        case .unavailable(let reason):
            self.init(.unavailable, "The server cannot do this just now (\(reason)). Nothing was changed; try again.")
        case .internal(let text):
            self.init(.internal, "Something went wrong inside the server. Its log has it under \(report(text)).")
            if let id = RequestOrigin.current?.requestID { extensions["requestId"] = .string(id) }
        }
    }

    /// An error about a cursor, with the oldest one that can be honoured.
    init(_ code: ErrorCode, _ message: String, oldestCursor: String?) {
        self.init(code, message)
        if let oldestCursor { extensions["oldestCursor"] = .string(oldestCursor) }
    }

    /// Names the topic that has the name; no other field of it, so that a client can go on with it.
    private init(nameTaken name: String, by stored: Record?, data: JSONValue) {
        let shown = name.prefix(64)
        self.init(
            .conflict,
            stored.map { "There is a topic named \"\(shown)\" already: \($0.id). Use that one, or another name." }
                ?? "There is a topic named \"\(shown)\" already. Use another name.",
            errorInfo: stored.map { ["id": .string($0.id)] } ?? .null,
            data: data
        )
        if let stored { extensions["topicId"] = .string(stored.id) }
    }

    private init(badRequest text: String, _ kind: ServiceError.BadRequestKind) {
        switch kind {
        case .filter:
            self.init(
                .badRequest,
                text,
                errorType: "Unrecognized Filter",
                appSyncMessage: "Unable to process the filter expression"
            )
        case .arguments: self.init(.badRequest, text, errorType: "InvalidArgumentsError")
        case .pageSize: self.init(.badRequest, text, errorType: "DynamoDB:DynamoDbException")
        case .other: self.init(.badRequest, text)
        }
    }

    /// Clients look for the words in the middle; the rest is AWS's.
    private static let conditionalRequestFailed =
        "The conditional request failed (Service: DynamoDb, Status Code: 400, Request ID: 0)"
}
